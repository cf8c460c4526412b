// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of arithmetic that there is, and data that shows differences between them.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
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

// Whether kernels meet that op in that dtype: complex numbers are only multiplied, and sums of them
// those of their parts; truth values are bytes but to min_loc and max_loc. log_sum_exp promises no
// bits and has a test of its own.
inline bool is_computed(ReduceOp op, DType dtype) {
  if (op == ReduceOp::log_sum_exp) return false;
  if (dtype == DType::boolean) return finds_rank(op);
  return is_complex(dtype) ? op == ReduceOp::prod : supports(op, dtype);
}

// All rules of a dtype but for numbers: group, factor and weights (see random_numbers).
inline std::vector<Arithmetic> all_rules(DType dtype) {
  std::vector<Accumulate> accumulates{Accumulate::storage};
  std::vector<NanBits> nan_bits{NanBits::one_pattern};
  std::vector<Fp8Mode> modes{Fp8Mode::saturate};
  const bool floating = is_floating(dtype);
  if (floating && size_bytes(dtype) <= 2) accumulates.push_back(Accumulate::f32);
  if (floating && size_bytes(dtype) < 8) accumulates.push_back(Accumulate::f64);
  if (dtype == DType::f64) nan_bits = {NanBits::one_pattern, NanBits::received, NanBits::own};
  if (is_float8(dtype)) modes.push_back(Fp8Mode::ieee);

  std::vector<Arithmetic> all;
  const auto add = [&](Arithmetic rules) {
    for (const Fp8Mode mode : modes) {
      rules.fp8 = mode;
      all.push_back(rules);
    }
  };
  for (const NanBits bits : nan_bits)
    for (const ReduceOpInfo& op : reduce_ops()) {
      // NCCL has no other ops.
      const bool keeps_nans = bits != NanBits::one_pattern;
      if (!is_computed(op.op, dtype) || (keeps_nans && op.op > ReduceOp::premul_sum)) continue;
      Arithmetic rules{.dtype = dtype, .op = op.op, .nan_bits = bits};
      rules.computes_alone = finds_rank(op.op);
      if (is_ordered(op.op)) {
        for (const NanPolicyInfo& policy : nan_policies()) {
          rules.nan = policy.policy;
          add(rules);
        }
        continue;
      }
      const bool exact = !floating && op.op == ReduceOp::mean;
      for (const Accumulate accumulate :
           exact ? std::vector{Accumulate::storage, Accumulate::exact} : accumulates) {
        rules.accumulate = accumulate;
        rules.mean = MeanMode::divide;
        rules.fuse = Fuse::never;
        if (op.op != ReduceOp::premul_sum) add(rules);
        if (op.op == ReduceOp::mean && floating && !keeps_nans) {
          rules.rescues = true;
          add(rules);
          rules.rescues = false;
        }
        if (op.op == ReduceOp::mean) rules.mean = MeanMode::premultiply;
        if (!rules.premultiplies()) continue;
        for (const Fuse fuse : {Fuse::never, Fuse::own, Fuse::ll128}) {
          if (!floating && (op.op == ReduceOp::mean || fuse != Fuse::never)) continue;
          rules.fuse = fuse;
          add(rules);
        }
      }
    }
  return all;
}

// A group, a factor that the dtype holds or rounds, and weights for that many rows, some of them
// negative or tiny.
inline void set_random_numbers(Arithmetic& rules, std::int32_t rows, Random& random) {
  const std::int64_t groups[] = {rows, rows, 1, 3, 6, 16, 128, 1000, 40000};
  rules.group = groups[random() % std::size(groups)];
  const bool is_signed =
      is_floating(rules.dtype) || info(rules.dtype).kind == DTypeKind::signed_integer;
  const double factors[] = {0, 1, 2, 3, 7, 100, is_signed ? -1.0 : 5.0};
  rules.factor = factors[random() % std::size(factors)];
  if (is_floating(rules.dtype)) {
    // Some lie a little beyond half-way between two numbers of 8 or 16 bits.
    const double broken[] = {1.0 / 3, 0x1.00200001p0, 0x1.0100001p0, -0x1.1000001p0, 1e-8, 240.5};
    if (chance(random, 50)) rules.factor = broken[random() % std::size(broken)];
  }
  rules.weights.clear();
  rules.total_weight = 1;
  if (rules.op != ReduceOp::weighted_mean) return;
  const bool in_f64 = rules.dtype == DType::f64 || rules.accumulate == Accumulate::f64;
  const double unit = std::array{1.0, 1.0, 1e-3, -1.0, 0x1p-140}[random() % 5];
  const bool is_whole = chance(random, 40);
  double total = 0;
  for (std::int32_t r = 0; r < rows || total == 0; ++r) {
    const double number = static_cast<double>(below(random, 1000) - (is_whole ? 0 : 300));
    const double weight = unit * (is_whole ? std::round(number / 200) : number / 700);
    const auto place = static_cast<std::size_t>(r % rows);
    rules.weights.resize(static_cast<std::size_t>(rows));
    rules.weights[place] = in_f64 ? weight : static_cast<double>(static_cast<float>(weight));
    total = std::accumulate(rules.weights.begin(), rules.weights.end(), 0.0);
  }
  rules.total_weight = total;
}

inline std::string describe(const Arithmetic& rules) {
  return fmt::format(
      "{} {} accumulate {} mean {} nan {} fuse {} NaN bits {} fp8 {} group {} factor {} weights {} "
      "of {} rescues {}",
      name(rules.dtype), name(rules.op), name(rules.accumulate), name(rules.mean), name(rules.nan),
      static_cast<int>(rules.fuse), static_cast<int>(rules.nan_bits), name(rules.fp8), rules.group,
      rules.factor, rules.weights.size(), rules.total_weight, rules.rescues);
}

// Any bits; numbers around 1 that round and cancel; and what is special about a type.
template <class T>
T real_element(Random& random) {
  const std::uint64_t bits = random();
  const std::int64_t kind = below(random, 10);
  T x;
  std::memcpy(&x, &bits, sizeof(T));
  if constexpr (!reference::is_float<T>) {
    if (kind > 7) return static_cast<T>(bits >> 32 & 1);  // ties, and what counts as false
    if (kind == 0) return std::numeric_limits<T>::min();
    if (kind == 1) return std::numeric_limits<T>::max();
    return x;
  } else {
    constexpr int mantissa = reference::Format<T>::digits - 1;
    // Patterns in the type's own width: one bit at the lowest place, and the exponent of infinity.
    const std::uint64_t infinity =
        ((std::uint64_t{1} << (8 * sizeof(T) - 1)) - 1) >> mantissa << mantissa;
    const std::uint64_t sign = bits & std::uint64_t{1} << (8 * sizeof(T) - 1);
    const std::uint64_t one = infinity >> 1 >> mantissa << mantissa;
    std::uint64_t pattern;
    if (kind < 4) return x;
    if (kind < 8) {                                      // a number with an exponent near that of 1
      constexpr int below_one = sizeof(T) == 1 ? 3 : 7;  // of the exponent
      const std::uint64_t steps = (bits >> 8 & (2 * below_one + 1)) << mantissa;
      pattern = sign | (one - (std::uint64_t{below_one} << mantissa) + steps) |
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
                                        infinity | std::uint64_t{1} << (mantissa - 1),
                                        (std::uint64_t{1} << (8 * sizeof(T) - 1)) - 1};
      pattern = sign | specials[(bits >> 8) % std::size(specials)];
    }
    std::memcpy(&x, &pattern, sizeof(T));
    return x;
  }
}

template <class T>
T element(Random& random) {
  if constexpr (std::is_same_v<T, Complex<float>>) {
    return {element<float>(random), element<float>(random)};
  } else if constexpr (std::is_same_v<T, Complex<double>>) {
    return {element<double>(random), element<double>(random)};
  } else if constexpr (std::is_same_v<T, Bool>) {
    return {element<std::uint8_t>(random)};
  } else {
    return real_element<T>(random);
  }
}

template <class T>
bool is_finite(T x) {
  if constexpr (std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>)
    return std::isfinite(x.re) && std::isfinite(x.im);
  else if constexpr (reference::is_float<T>)
    return std::isfinite(reference::value_of(x));
  else
    return true;
}

// How often NaN and infinity turn up matters: with many ranks nearly every fold would hold one.
template <class T>
std::vector<T> elements(std::int64_t count, bool finite, Random& random) {
  std::vector<T> x;
  x.reserve(static_cast<std::size_t>(count));
  while (static_cast<std::int64_t>(x.size()) < count) {
    const T next = element<T>(random);
    if (finite && !is_finite(next)) continue;
    x.push_back(next);
  }
  return x;
}

}  // namespace vranks
