// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The numeric contract of the `direct` order, written down a second time as plainly as possible:
// one element, recursion, no vectors. Kernels are compared with it bit for bit.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/tree_fold.hpp"
#include "ranks/error.hpp"

namespace vranks::reference {

template <class T>
inline constexpr bool is_float =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> ||
    std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>;
// Types and ops that TreeFold is for; of 8-bit floats not on every backend.
template <class T>
inline constexpr bool has_tree_fold = is_float<T> || std::is_integral_v<T>;
inline constexpr ReduceOp tree_fold_ops[] = {ReduceOp::sum, ReduceOp::mean, ReduceOp::prod,
                                             ReduceOp::min, ReduceOp::max};

inline double as_carried(double x) { return x; }
inline float as_carried(float x) { return x; }
inline float as_carried(Half x) { return to_float(x); }
inline float as_carried(BFloat16 x) { return to_float(x); }
inline float as_carried(Float8E4M3 x) { return to_float(x); }
inline float as_carried(Float8E5M2 x) { return to_float(x); }

template <class T, class C>
T from_carried(C x, Fp8Mode fp8 = Fp8Mode::saturate) {
  if constexpr (std::is_same_v<T, Float8E4M3>) return to_float8_e4m3(x, fp8 == Fp8Mode::saturate);
  if constexpr (std::is_same_v<T, Float8E5M2>) return to_float8_e5m2(x, fp8 == Fp8Mode::saturate);
  if constexpr (std::is_same_v<T, Half>) return to_half(x);
  if constexpr (std::is_same_v<T, BFloat16>) return to_bfloat16(x);
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isnan(x)) return x;
    const std::uint64_t wide = 0xfff8000000000000;
    const std::uint32_t narrow = 0x7fffffff;
    T nan;
    std::memcpy(&nan, sizeof(T) == 8 ? static_cast<const void*>(&wide) : &narrow, sizeof(T));
    return nan;
  }
}

// Split at the largest power of two below the length.
template <class C, class Combine>
C tree(const std::vector<C>& x, std::size_t first, std::size_t count, const Combine& combine) {
  if (count == 1) return x[first];
  std::size_t left = 1;
  while (2 * left < count) left *= 2;
  return combine(tree(x, first, left, combine), tree(x, first + left, count - left, combine));
}

template <class T>
T reduce_float(const std::vector<T>& x, ReduceOp op, NanPolicy nan, Fp8Mode fp8) {
  using C = decltype(as_carried(T{}));
  std::vector<C> carried;
  for (const T& value : x) carried.push_back(as_carried(value));
  const auto ranks = static_cast<double>(x.size());
  const auto add = [](C a, C b) { return static_cast<C>(a + b); };
  switch (op) {
    case ReduceOp::sum:
      return from_carried<T>(tree(carried, 0, x.size(), add), fp8);
    case ReduceOp::mean: {
      C sum = tree(carried, 0, x.size(), add);
      double divisor = ranks;
      if (!std::isfinite(sum)) {
        const double scale = std::ldexp(1.0, -static_cast<int>(std::ceil(std::log2(ranks))));
        for (C& value : carried) value = static_cast<C>(value * static_cast<C>(scale));
        sum = tree(carried, 0, x.size(), add);
        divisor *= scale;
      }
      // long double has 64 bits of mantissa: enough that a quotient of 24 or 53 bits rounds twice
      // without harm for the ranks that tests use (below 2^24).
      if constexpr (std::is_same_v<C, float>)
        return from_carried<T>(static_cast<float>(static_cast<double>(sum) / divisor), fp8);
      else
        return from_carried<T>(sum / divisor, fp8);
    }
    case ReduceOp::prod:
      return from_carried<T>(
          tree(carried, 0, x.size(), [](C a, C b) { return static_cast<C>(a * b); }), fp8);
    default:
      break;
  }
  // min and max: exact, so any order will do.
  const C not_a_number = std::numeric_limits<C>::quiet_NaN();
  bool seen = false;
  C best = not_a_number;
  for (const C value : carried) {
    if (std::isnan(value)) {
      if (nan == NanPolicy::propagate) return from_carried<T>(not_a_number, fp8);
      continue;
    }
    const bool below =
        value < best || (value == best && std::signbit(value) && !std::signbit(best));
    const bool above =
        value > best || (value == best && !std::signbit(value) && std::signbit(best));
    if (!seen || (op == ReduceOp::min ? below : above)) best = value;
    seen = true;
  }
  return from_carried<T>(best, fp8);
}

template <class T>
T reduce_integer(const std::vector<T>& x, ReduceOp op) {
  __extension__ using Wide = __int128;
  using Bits = std::make_unsigned_t<T>;
  Wide sum = 0;
  std::uint64_t product = 1;
  T least = x[0], most = x[0];
  for (const T value : x) {
    sum += static_cast<Wide>(value);
    product *= static_cast<std::uint64_t>(value);
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  switch (op) {
    case ReduceOp::sum:
      return static_cast<T>(static_cast<Bits>(sum));
    case ReduceOp::mean:
      return static_cast<T>(sum / static_cast<Wide>(x.size()));
    case ReduceOp::prod:
      return static_cast<T>(static_cast<Bits>(product));
    case ReduceOp::min:
      return least;
    case ReduceOp::max:
      return most;
    default:
      throw Error(ErrorKind::bad_argument, "TreeFold has no such op");
  }
}

// The reduction of one element over the ranks. R = 1 keeps bits.
template <class T>
T reduce(const std::vector<T>& x, ReduceOp op, NanPolicy nan, Fp8Mode fp8 = Fp8Mode::saturate) {
  if (x.size() == 1) return x[0];
  if constexpr (is_float<T>)
    return reduce_float(x, op, nan, fp8);
  else
    return reduce_integer(x, op);
}

}  // namespace vranks::reference
