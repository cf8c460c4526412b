// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/exact_expected.hpp"

#include <algorithm>
#include <cmath>

namespace vranks {

namespace {

// x * 2^exponent, with infinity and zero beyond the range of a double.
double to_double(const ScaledProduct& x, int exponent = 0) {
  const auto sum = std::clamp<std::int64_t>(x.exponent + exponent, -4000, 4000);
  return std::ldexp(x.value.hi, static_cast<int>(sum));
}

}  // namespace

Terms terms_of(const Problem& problem, const ErrorBound& bound) {
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

void saturate_partials(Expected& expected, const SignedTerms& terms, double largest,
                       double relative) {
  const auto clamped = [&](double x) { return std::clamp(x, -largest, largest); };
  const double plus = std::min(terms.positive, largest), minus = std::min(terms.negative, largest);
  expected.saturates = true;
  expected.may_be_nan = std::isinf(terms.positive) && std::isinf(terms.negative);
  expected.low = clamped(plus - terms.negative - relative * (plus + terms.negative));
  expected.high = clamped(terms.positive - minus + relative * (terms.positive + minus));
}

void saturate_anyhow(Expected& expected, double largest) {
  expected.saturates = expected.may_be_nan = true;
  expected.low = -largest;
  expected.high = largest;
}

Expected expected_product(const Problem& problem, const ErrorBound& bound,
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

Expected expected_complex_product(const Problem& problem, const ErrorBound& bound,
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

Expected expected_extreme(const Problem& problem, const ExtremesColumn& column) {
  const bool is_min = problem.op == ReduceOp::min || problem.op == ReduceOp::min_loc;
  Expected expected;
  expected.value.hi = is_min ? column.smallest : column.largest;
  if (!column.has_number || (column.has_nan && problem.nan == NanPolicy::propagate))
    expected.value.hi = NAN;
  return expected;
}

Expected expected_log_sum(const Problem& problem, const ErrorBound& bound,
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

std::uint64_t expected_bits(ReduceOp op, const BitsColumn& column) {
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

void saturate(Expected& expected, const Problem& problem, const ErrorBound& bound) {
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
