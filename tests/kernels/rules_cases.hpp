// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of arithmetic that there is, and data that shows differences between them.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/arithmetic_rules.hpp"
#include "rules_reference.hpp"

namespace vranks {

using Random = std::mt19937_64;

inline std::int64_t below(Random& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}
inline bool chance(Random& random, int percent) { return below(random, 100) < percent; }

// All rules of a dtype but for the group.
inline std::vector<Arithmetic> all_rules(DType dtype) {
  std::vector<Accumulate> accumulates{Accumulate::storage};
  std::vector<NanBits> nan_bits{NanBits::one_pattern};
  const bool floating = is_floating(dtype);
  if (floating && size_bytes(dtype) == 2) accumulates.push_back(Accumulate::f32);
  if (floating && size_bytes(dtype) < 8) accumulates.push_back(Accumulate::f64);
  if (dtype == DType::f64) nan_bits = {NanBits::one_pattern, NanBits::received, NanBits::own};

  std::vector<Arithmetic> all;
  for (const NanBits bits : nan_bits)
    for (const ReduceOpInfo& op : reduce_ops()) {
      Arithmetic rules{.dtype = dtype, .op = op.op, .nan_bits = bits};
      if (op.op == ReduceOp::min || op.op == ReduceOp::max) {
        for (const NanPolicyInfo& policy : nan_policies()) {
          rules.nan = policy.policy;
          all.push_back(rules);
        }
        continue;
      }
      const bool exact = !floating && op.op == ReduceOp::mean;
      for (const Accumulate accumulate :
           exact ? std::vector{Accumulate::storage, Accumulate::exact} : accumulates) {
        rules.accumulate = accumulate;
        rules.mean = MeanMode::divide;
        rules.fuse = Fuse::never;
        all.push_back(rules);
        if (op.op != ReduceOp::mean || !floating) continue;
        rules.mean = MeanMode::premultiply;
        for (const Fuse fuse : {Fuse::never, Fuse::own, Fuse::ll128}) {
          rules.fuse = fuse;
          all.push_back(rules);
        }
      }
    }
  return all;
}

inline std::string describe(const Arithmetic& rules) {
  return fmt::format("{} {} accumulate {} mean {} nan {} fuse {} NaN bits {} group {}",
                     name(rules.dtype), name(rules.op), name(rules.accumulate), name(rules.mean),
                     name(rules.nan), static_cast<int>(rules.fuse),
                     static_cast<int>(rules.nan_bits), rules.group);
}

// Any bits; numbers around 1 that round and cancel; and what is special about a type.
template <class T>
T element(Random& random) {
  const std::uint64_t bits = random();
  const std::int64_t kind = below(random, 10);
  T x;
  std::memcpy(&x, &bits, sizeof(T));
  if constexpr (!reference::is_float<T>) {
    if (kind == 0) return std::numeric_limits<T>::min();
    if (kind == 1) return std::numeric_limits<T>::max();
    return x;
  } else {
    constexpr int mantissa = std::is_same_v<T, double>     ? 52
                             : std::is_same_v<T, float>    ? 23
                             : std::is_same_v<T, BFloat16> ? 7
                                                           : 10;
    // Patterns in the type's own width: one bit at the lowest place, and the exponent of infinity.
    const std::uint64_t infinity =
        ((std::uint64_t{1} << (8 * sizeof(T) - 1)) - 1) >> mantissa << mantissa;
    const std::uint64_t sign = bits & std::uint64_t{1} << (8 * sizeof(T) - 1);
    const std::uint64_t one = infinity >> 1 >> mantissa << mantissa;
    std::uint64_t pattern;
    if (kind < 4) return x;
    if (kind < 8) {  // a number with an exponent near that of 1
      const std::uint64_t steps = (bits >> 8 & 15) << mantissa;
      pattern = sign | (one - (std::uint64_t{7} << mantissa) + steps) |
                (bits >> 12 & ((std::uint64_t{1} << mantissa) - 1));
    } else {
      const std::uint64_t specials[] = {0,
                                        1,
                                        (std::uint64_t{1} << mantissa) - 1,
                                        std::uint64_t{1} << mantissa,
                                        one,
                                        one + 1,
                                        infinity - 1,
                                        infinity,
                                        infinity + 1,  // signalling
                                        infinity | std::uint64_t{3} << (mantissa - 2),
                                        infinity | std::uint64_t{1} << (mantissa - 1)};
      pattern = sign | specials[(bits >> 8) % std::size(specials)];
    }
    std::memcpy(&x, &pattern, sizeof(T));
    return x;
  }
}

// How often NaN and infinity turn up matters: with many ranks nearly every fold would hold one.
template <class T>
std::vector<T> elements(std::int64_t count, bool finite, Random& random) {
  std::vector<T> x;
  x.reserve(static_cast<std::size_t>(count));
  while (static_cast<std::int64_t>(x.size()) < count) {
    const T next = element<T>(random);
    if constexpr (reference::is_float<T>)
      if (finite && !std::isfinite(reference::value_of(next))) continue;
    x.push_back(next);
  }
  return x;
}

}  // namespace vranks
