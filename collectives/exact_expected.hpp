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

Terms terms_of(const Problem& problem, const ErrorBound& bound);

// The sum of |term| over a sum's terms of each sign; infinite where one is.
struct SignedTerms {
  double positive = 0, negative = 0;
};

// Between what numbers a sum lies whose partial sums saturate at +- largest. Such a sum grows with
// each term, and doesn't saturate from above where the positive terms are scaled down to no more
// than `largest`: that makes the lower limit, and the same of negative terms the upper one. (An
// infinity counts as the largest number or more, but two of opposite signs may meet.) `relative` is
// what roundings take.
void saturate_partials(Expected& expected, const SignedTerms& terms, double largest,
                       double relative);

// The same where partial results are carried in a type beyond whose range all is lost.
void saturate_anyhow(Expected& expected, double largest);

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

Expected expected_product(const Problem& problem, const ErrorBound& bound,
                          const ProductColumn& column);

// One part of a complex product: both are off by what the whole may be. One multiplication is off
// by sqrt(5) u of its result (R. Brent, C. Percival, P. Zimmermann, Error bounds on complex
// floating-point multiplication, Math. Comp. 76, 2007), but for underflow in its four products.
Expected expected_complex_product(const Problem& problem, const ErrorBound& bound,
                                  const ComplexProductColumn& column, bool is_imaginary);

Expected expected_extreme(const Problem& problem, const ExtremesColumn& column);

Expected expected_log_sum(const Problem& problem, const ErrorBound& bound,
                          const LogSumColumn& column);

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

std::uint64_t expected_bits(ReduceOp op, const BitsColumn& column);

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
void saturate(Expected& expected, const Problem& problem, const ErrorBound& bound);

}  // namespace vranks
