// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What is right for one element, and how far off a result may be, from what a column of
// exact_column.hpp found out about the ranks' elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "collectives/exact.hpp"
#include "collectives/exact_column.hpp"
#include "collectives/float_grid.hpp"

namespace vranks {

// What is right for one floating element. Where doubles could over- or underflow on the way, all
// numbers are kept times 2^-shift.
struct Expected {
  DoubleDouble value;  // hi is NaN or infinite where the result is
  int shift = 0;
  double tolerance = 0;       // for the combining; narrowing comes on top
  bool may_overflow = false;  // to an infinity of its sign, in the last rounding
  bool may_break = false;     // partial results may leave the carried type: NaN, infinities

  double scaled(double x) const { return std::ldexp(x, -shift); }
  double unscaled(double x) const { return std::ldexp(x, shift); }

  bool reaches_infinity_of(const FloatGrid& grid) const {
    const double half_step = std::ldexp(1, grid.highest - grid.digits - shift);
    return std::abs(value.hi) + tolerance >= scaled(grid.largest) + half_step;
  }
};

// The factors of a sum's terms, as multiplied in, and what the sum is divided by. Powers of two are
// taken out of factors, so that products stay in the range of a double.
struct Terms {
  std::vector<double> weights = {};  // one a rank, times 2^-weight_shift; empty: `factor` for all
  int weight_shift = 0;
  double total_magnitude = 0;  // of the weights
  double factor = 1;           // times 2^-factor_shift
  int factor_shift = 0;
  DoubleDouble divisor = {1, 0};  // of weights: times 2^-weight_shift

  bool has_products() const { return !weights.empty() || factor != 1 || factor_shift != 0; }
  double factor_of(std::int64_t rank) const {
    return weights.empty() ? factor : weights[static_cast<std::size_t>(rank)];
  }
};

inline Terms terms_of(const Problem& problem, const ErrorBound& bound) {
  Terms terms;
  if (problem.op == ReduceOp::mean) terms.divisor = {static_cast<double>(problem.ranks), 0};
  if (problem.op == ReduceOp::premul_sum) {
    const double rounded = nearest({problem.factor, 0}, 0, grid_of(problem.dtype));
    terms.factor = std::frexp(rounded, &terms.factor_shift);
  }
  if (problem.op == ReduceOp::weighted_mean) {
    double largest = 0;
    for (const double weight : problem.weights)
      terms.weights.push_back(nearest({weight, 0}, 0, grid_of(bound.weights_in)));
    for (const double weight : terms.weights) largest = std::max(largest, std::abs(weight));
    std::frexp(largest, &terms.weight_shift);
    terms.divisor = {};
    for (double& weight : terms.weights) {
      weight = std::ldexp(weight, -terms.weight_shift);
      terms.divisor = add(terms.divisor, weight);
      terms.total_magnitude += std::abs(weight);
    }
  }
  return terms;
}

// `for_each_rank` calls its argument with each rank's element and factor, for a second look after
// an infinity, a NaN, or a sum beyond the largest or near the smallest double.
template <class ForEachRank>
Expected expected_sum(const Problem& problem, const ErrorBound& bound, const Terms& terms,
                      SumColumn column, const ForEachRank& for_each_rank) {
  Expected expected;
  bool has_infinity = false;
  if (!std::isfinite(column.magnitude)) {
    expected.shift = 256;
    column = {};
    double special = 0;
    for_each_rank([&](double x, double factor) {
      has_infinity |= std::isinf(x);
      if (std::isfinite(x))
        column.add_element(std::ldexp(x, -expected.shift), factor);
      else
        special += x * factor;
    });
    if (special != 0) column.sum = {special, 0};
  } else if (column.magnitude == 0) {
    // -0 only if all terms are.
    double zero = -0.0;
    for_each_rank([&](double x, double factor) { zero += x * factor; });
    column.sum = {zero, 0};
  } else if (std::abs(column.sum.hi) < 0x1p-700 && column.magnitude < 0x1p700) {
    expected.shift = -256;
    column = {};
    for_each_rank([&](double x, double factor) { column.add_element(std::ldexp(x, 256), factor); });
  }
  // The same for a quotient: a sum of weights can be small.
  if (std::abs(column.sum.hi / terms.divisor.hi) > 0x1p700 && std::isfinite(column.sum.hi)) {
    expected.shift += 256;
    column.sum = scale(column.sum, -256);
    column.magnitude = std::ldexp(column.magnitude, -256);
  }
  expected.shift += terms.factor_shift;

  const FloatGrid& carried = grid_of(bound.rounded_in);
  const double linear = static_cast<double>(bound.steps) * carried.half_ulp_of_one();
  const double relative = bound.compounds ? std::expm1(linear) : linear;
  // Half the spacing of subnormals: what a rounding among them is off by at most.
  const double tiny = std::ldexp(1, carried.lowest - 1 - expected.shift);
  expected.value = column.sum;
  expected.tolerance = relative * column.magnitude;
  if (terms.has_products())
    expected.tolerance +=
        std::ldexp(static_cast<double>(bound.tiny_roundings) * tiny, -terms.weight_shift);
  const auto note_overflow = [&] {
    const double partial = std::ldexp(column.magnitude * (1 + relative), terms.weight_shift);
    expected.may_break = partial >= expected.scaled(carried.largest) ||
                         (has_infinity && bound.saturates_inputs(problem));
    expected.may_overflow = expected.reaches_infinity_of(grid_of(problem.dtype));
  };
  if (problem.op == ReduceOp::sum || problem.op == ReduceOp::premul_sum) {
    note_overflow();
    expected.may_break |= !std::isfinite(terms.factor);
    return expected;
  }
  const double divisor = std::abs(terms.divisor.hi);
  double total_error = 0;
  if (std::isfinite(column.sum.hi) && column.sum.hi != 0)
    expected.value = divide(column.sum, terms.divisor);
  if (terms.weights.empty()) {
    expected.tolerance =
        (expected.tolerance + bound.scale_error * column.magnitude * divisor) / divisor +
        static_cast<double>(bound.tiny_roundings) * tiny;
  } else {
    if (std::signbit(terms.divisor.hi) && column.sum.hi == 0) expected.value.hi = -column.sum.hi;
    if (std::isinf(column.sum.hi)) expected.value.hi = column.sum.hi * terms.divisor.hi;
    // The weights are added in f64.
    total_error = static_cast<double>(problem.ranks) * 0x1p-53 * terms.total_magnitude / divisor;
    expected.tolerance = expected.tolerance / divisor + tiny;
    if (std::isfinite(expected.value.hi) && total_error < 1)
      expected.tolerance += std::abs(expected.value.hi) * total_error / (1 - total_error);
  }
  // An infinite input, or partial sums (of scaled inputs too: the scale is rounded) that overflow.
  if (bound.mean_may_overflow || !terms.weights.empty())
    note_overflow();
  else if (has_infinity && bound.saturates_inputs(problem))
    expected.may_break = true;
  if (total_error >= 1) {  // the weights cancel: nothing can be told
    expected.may_break = true;
    expected.tolerance = HUGE_VAL;
  }
  return expected;
}

// x * 2^exponent, with infinity and zero beyond the range of a double.
inline double to_double(const ScaledProduct& x, int exponent = 0) {
  const auto sum = std::clamp<std::int64_t>(x.exponent + exponent, -4000, 4000);
  return std::ldexp(x.value.hi, static_cast<int>(sum));
}

inline Expected expected_product(const Problem& problem, const ErrorBound& bound,
                                 const ProductColumn& column) {
  const FloatGrid& carried = grid_of(bound.rounded_in);
  const double steps = static_cast<double>(bound.steps);
  const double relative = std::expm1(steps * carried.half_ulp_of_one());
  // Partial products lie between these two.
  const double highest = to_double(column.large) * (1 + relative);
  const double least = to_double(column.small) / (1 + relative);
  const bool may_underflow = least < carried.smallest_normal();

  Expected expected;
  expected.may_break = highest >= carried.largest || (column.has_infinity && may_underflow) ||
                       (column.has_infinity && bound.saturates_inputs(problem));
  const double sign = column.is_negative ? -1 : 1;
  ScaledProduct product = column.large;
  product.multiply_by(column.small);
  const std::int64_t exponent = product.exponent + std::ilogb(product.value.hi);
  if (column.has_nan || (column.has_zero && column.has_infinity)) {
    expected.value.hi = NAN;
  } else if (column.has_zero) {
    expected.value.hi = sign * 0;
  } else if (column.has_infinity || exponent > 1200) {
    expected.value.hi = sign * HUGE_VAL;
  } else {
    expected.shift = exponent > 700 ? 256 : exponent < -700 ? -256 : 0;
    const auto up = std::max<std::int64_t>(product.exponent - expected.shift, -4000);
    expected.value = scale(multiply(product.value, sign), static_cast<int>(up));
    expected.tolerance = std::abs(expected.value.hi) * relative;
    // A rounding among the subnormals is off by half their spacing, times all large factors at
    // most.
    if (may_underflow)
      expected.tolerance +=
          steps * (1 + relative) * to_double(column.large, carried.lowest - 1 - expected.shift);
    expected.may_overflow = expected.reaches_infinity_of(grid_of(problem.dtype));
  }
  return expected;
}

// One part of a complex product: both are off by what the whole may be. One multiplication is off
// by sqrt(5) u of its result (R. Brent, C. Percival, P. Zimmermann, Error bounds on complex
// floating-point multiplication, Math. Comp. 76, 2007), but for underflow in its four products.
inline Expected expected_complex_product(const Problem& problem, const ErrorBound& bound,
                                         const ComplexProductColumn& column, bool is_imaginary) {
  const FloatGrid& carried = grid_of(bound.rounded_in);
  const double steps = static_cast<double>(bound.steps);
  const double relative = std::expm1(std::sqrt(5.0) * steps * carried.half_ulp_of_one());
  Expected expected;
  // Partial products have parts of that size at most, sums of two products twice that.
  expected.may_break =
      !column.is_finite || to_double(column.large) * (1 + relative) >= carried.largest / 2;
  if (column.has_zero || !column.is_finite) return expected;
  const double larger = std::max(std::abs(column.re.hi), std::abs(column.im.hi));
  const std::int64_t exponent = larger == 0 ? 0 : column.exponent + std::ilogb(larger);
  expected.shift = exponent > 700 ? 256 : exponent < -700 ? -256 : 0;
  const int up =
      static_cast<int>(std::clamp<std::int64_t>(column.exponent - expected.shift, -4000, 4000));
  expected.value = scale(is_imaginary ? column.im : column.re, up);
  const double re = std::ldexp(column.re.hi, up), im = std::ldexp(column.im.hi, up);
  expected.tolerance =
      (relative + static_cast<double>(problem.ranks) * 0x1p-100) * std::hypot(re, im) +
      4 * steps * (1 + relative) * to_double(column.large, carried.lowest - 1 - expected.shift);
  expected.may_overflow = expected.reaches_infinity_of(grid_of(problem.dtype));
  return expected;
}

inline Expected expected_extreme(const Problem& problem, const ExtremesColumn& column) {
  const bool is_min = problem.op == ReduceOp::min || problem.op == ReduceOp::min_loc;
  Expected expected;
  expected.value.hi = is_min ? column.smallest : column.largest;
  if (!column.has_number || (column.has_nan && problem.nan == NanPolicy::propagate))
    expected.value.hi = NAN;
  return expected;
}

inline Expected expected_log_sum(const Problem& problem, const ErrorBound& bound,
                                 const LogSumColumn& column) {
  const FloatGrid& carried = grid_of(bound.rounded_in);
  Expected expected;
  const long double exact = column.has_nan ? NAN : column.result();
  expected.value.hi = static_cast<double>(exact);
  if (!std::isfinite(expected.value.hi)) return expected;
  expected.value.lo = static_cast<double>(exact - static_cast<long double>(expected.value.hi));
  const double per_step = 8 + std::log(static_cast<double>(problem.ranks));
  expected.tolerance =
      carried.half_ulp_of_one() *
      (std::abs(expected.value.hi) + static_cast<double>(bound.steps + 1) * per_step);
  expected.may_overflow = expected.reaches_infinity_of(grid_of(problem.dtype));
  return expected;
}

template <class T>
T expected_integer(const Problem& problem, const IntegerColumn& column, bool wraps) {
  switch (problem.op) {
    case ReduceOp::sum:
      return static_cast<T>(column.sum);
    case ReduceOp::premul_sum:
      return static_cast<T>(static_cast<std::uint64_t>(column.sum) *
                            static_cast<std::uint64_t>(static_cast<T>(problem.factor)));
    case ReduceOp::mean:
      if (wraps) return static_cast<T>(Int128{static_cast<T>(column.sum)} / problem.ranks);
      return static_cast<T>(column.sum / problem.ranks);
    case ReduceOp::prod:
      return static_cast<T>(column.product);
    case ReduceOp::min:
    case ReduceOp::min_loc:
      return static_cast<T>(column.smallest);
    default:
      return static_cast<T>(column.largest);
  }
}

inline std::uint64_t expected_bits(ReduceOp op, const BitsColumn& column) {
  switch (op) {
    case ReduceOp::band:
    case ReduceOp::land:
      return column.all;
    case ReduceOp::bxor:
    case ReduceOp::lxor:
      return column.odd;
    default:
      return column.any;
  }
}

// The op on bits that does for truth values, 0 and 1, what `op` does.
constexpr ReduceOp op_on_truths(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
    case ReduceOp::min:
    case ReduceOp::min_loc:
    case ReduceOp::land:
      return ReduceOp::band;
    case ReduceOp::lxor:
      return ReduceOp::bxor;
    case ReduceOp::band:
    case ReduceOp::bxor:
      return op;
    default:
      return ReduceOp::bor;
  }
}

// 8-bit floats that saturate have no infinities behind an op, and nothing beyond the largest.
inline void saturate(Expected& expected, const Problem& problem, const ErrorBound& bound) {
  if (!bound.saturates(problem)) return;
  expected.may_overflow = false;
  const double limit = expected.scaled(grid_of(problem.dtype).largest);
  if (std::abs(expected.value.hi) <= limit || std::isnan(expected.value.hi)) return;
  // What one rank alone holds may be copied.
  if (problem.ranks == 1 && std::isinf(expected.value.hi)) {
    if (!bound.computes_alone) return;
    expected.may_overflow = true;
  }
  expected.value = {std::copysign(limit, expected.value.hi), 0};
}

}  // namespace vranks
