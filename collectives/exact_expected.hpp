// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What is right for one element, and how far off a result may be, from what a column of
// exact_column.hpp found out about the ranks' elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
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
  bool may_break = false;     // partial results may leave the carried type: NaN, infinities,
  bool saturates = false;     // or, of 8-bit floats, numbers from `low` to `high`
  bool may_be_nan = false;    // and NaN
  double low = 0, high = 0;

  double scaled(double x) const { return std::ldexp(x, -shift); }
  double unscaled(double x) const { return std::ldexp(x, shift); }

  // Whether partial results that leave the carried type may make a result of y, times 2^-shift.
  bool may_become(double y) const {
    if (!may_break) return false;
    if (!saturates) return !std::isfinite(y) || !std::isfinite(value.hi);
    return std::isnan(y) ? may_be_nan : low <= y && y <= high;
  }

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

// The sum of |term| over a sum's terms of each sign; infinite where one is.
struct SignedTerms {
  double positive = 0, negative = 0;
};

// Between what numbers a sum lies whose partial sums saturate at +- largest. Such a sum grows with
// each term, and doesn't saturate from above where the positive terms are scaled down to no more
// than `largest`: that makes the lower limit, and the same of negative terms the upper one. (An
// infinity counts as the largest number or more, but two of opposite signs may meet.) `relative` is
// what roundings take.
inline void saturate_partials(Expected& expected, const SignedTerms& terms, double largest,
                              double relative) {
  const auto clamped = [&](double x) { return std::clamp(x, -largest, largest); };
  const double plus = std::min(terms.positive, largest), minus = std::min(terms.negative, largest);
  expected.saturates = true;
  expected.may_be_nan = std::isinf(terms.positive) && std::isinf(terms.negative);
  expected.low = clamped(plus - terms.negative - relative * (plus + terms.negative));
  expected.high = clamped(terms.positive - minus + relative * (terms.positive + minus));
}

// The same where partial results are carried in a type beyond whose range all is lost.
inline void saturate_anyhow(Expected& expected, double largest) {
  expected.saturates = expected.may_be_nan = true;
  expected.low = -largest;
  expected.high = largest;
}

// `second_look` gives the same sum as a SumLook; it is called only where `column` can't tell.
template <class SecondLook>
Expected expected_sum(const Problem& problem, const ErrorBound& bound, const Terms& terms,
                      SumColumn column, const SecondLook& second_look) {
  Expected expected;
  SignedTerms signs;
  bool has_nan = false;
  double special = 0;  // what the terms that aren't finite add up to
  if (!std::isfinite(column.magnitude)) {
    expected.shift = 256;
    const SumLook& look = second_look();
    column = look.down;
    has_nan = look.has_nan;
    signs.positive = look.has_infinity[0] ? HUGE_VAL : 0;
    signs.negative = look.has_infinity[1] ? HUGE_VAL : 0;
    special = look.special;
  } else if (column.magnitude == 0) {
    column.sum = {second_look().zero, 0};
  } else if (std::abs(column.sum.hi) < 0x1p-700 && column.magnitude < 0x1p700) {
    expected.shift = -256;
    column = second_look().up;
  }
  // The same for a quotient: a sum of weights can be small.
  if (std::abs(column.sum.hi / terms.divisor.hi) > 0x1p700) {
    expected.shift += 256;
    column.sum = scale(column.sum, -256);
    column.magnitude = std::ldexp(column.magnitude, -256);
  }
  expected.shift += terms.factor_shift;
  const bool has_infinity = signs.positive > 0 || signs.negative > 0;
  signs.positive += (column.magnitude + column.sum.hi) / 2;
  signs.negative += (column.magnitude - column.sum.hi) / 2;
  if (special != 0) column.sum = {special, 0};

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
  const double divisor = std::abs(terms.divisor.hi);
  const double first_scale = bound.premultiplies ? 1 / divisor + bound.scale_error : 1;
  const auto note_overflow = [&] {
    const double partial =
        std::ldexp(column.magnitude * first_scale * (1 + relative), terms.weight_shift);
    const bool saturates_partials = bound.saturates(problem) && bound.rounded_in == problem.dtype;
    expected.may_break = partial >= expected.scaled(carried.largest) ||
                         (has_infinity && saturates_partials && bound.saturates_inputs(problem));
    expected.may_overflow = expected.reaches_infinity_of(grid_of(problem.dtype));
    if (!bound.saturates(problem)) return;
    if (has_nan) expected.may_break = false;
    const double largest = expected.scaled(grid_of(problem.dtype).largest);
    if (!saturates_partials) return saturate_anyhow(expected, largest);
    // As partial results are: with weights times 2^-weight_shift.
    const double down = std::ldexp(first_scale, terms.weight_shift);
    const double last_scale =
        bound.premultiplies ? 1 : std::ldexp(1 / divisor, -terms.weight_shift);
    signs.positive *= down;
    signs.negative *= down;
    saturate_partials(expected, signs, largest, relative);
    if (std::signbit(terms.divisor.hi))
      std::tie(expected.low, expected.high) = std::pair(-expected.high, -expected.low);
    // What the tolerance has beside those roundings, and the rounding of what is divided last.
    double slack = std::max(0.0, expected.tolerance - relative * column.magnitude / divisor);
    if (last_scale != 1) slack += carried.half_ulp_of_one() * largest * last_scale;
    expected.low = expected.low * last_scale - slack;
    expected.high = expected.high * last_scale + slack;
  };
  if (problem.op == ReduceOp::sum || problem.op == ReduceOp::premul_sum) {
    note_overflow();
    if (std::isfinite(terms.factor)) return expected;
    // Beyond the dtype; a call refuses it.
    expected.may_break = true;
    if (expected.saturates) saturate_anyhow(expected, HUGE_VAL);
    return expected;
  }
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
  // Partial sums (of scaled inputs too: the scale is rounded) that overflow.
  if (bound.mean_may_overflow || !terms.weights.empty()) note_overflow();
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
  const bool saturates_partials = bound.saturates(problem) && bound.rounded_in == problem.dtype;

  Expected expected;
  expected.may_break =
      highest >= carried.largest || (column.has_infinity && may_underflow) ||
      (column.has_infinity && saturates_partials && bound.saturates_inputs(problem));
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
  if (!bound.saturates(problem)) return expected;
  if (column.has_nan) expected.may_break = false;
  const double largest = expected.scaled(grid_of(problem.dtype).largest);
  if (!saturates_partials) {
    saturate_anyhow(expected, largest);
    return expected;
  }
  // Clamping takes no more from a product than its factors above 1 exceed the largest number by.
  // An infinity is that number from its first multiplication on, unless a zero comes first.
  const double small = to_double(column.small), large = to_double(column.large);
  double low = small * std::min(large, carried.largest);
  double high = std::min(to_double(product), carried.largest);
  if (column.has_infinity) high = carried.largest, low = small * carried.largest;
  if (column.has_zero) high = low = 0;
  // Roundings, and what underflow loses.
  const double lost = std::max(0.0, expected.unscaled(expected.tolerance) -
                                        relative * std::abs(expected.unscaled(expected.value.hi)));
  low = column.has_infinity && may_underflow ? 0 : std::max(0.0, low * (1 - relative) - lost);
  high += relative * high + lost;
  expected.saturates = true;
  expected.may_be_nan = column.has_infinity && (may_underflow || column.has_zero);
  expected.low = expected.scaled(column.is_negative ? -high : low);
  expected.high = expected.scaled(column.is_negative ? -low : high);
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
  // Only what may come down below the limit is off.
  expected.tolerance = std::max(0.0, expected.tolerance - (std::abs(expected.value.hi) - limit));
  expected.value = {std::copysign(limit, expected.value.hi), 0};
}

}  // namespace vranks
