// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/exact.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "collectives/exact_column.hpp"
#include "collectives/float_grid.hpp"
#include "kernels/tree_fold.hpp"

namespace vranks {

namespace {

template <class T>
constexpr bool is_integer = std::is_integral_v<T>;

template <class T>
double to_double(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return to_float(x);
  else
    return static_cast<double>(x);
}

// --- what is right, and how far off a result may be ---------------------------------------------

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

// The sum once more, scaled: after an infinity, a NaN, or a sum beyond the largest double.
template <class T, class ForEachRank>
SumColumn scaled_sum(const ForEachRank& for_each_rank, int shift) {
  SumColumn column;
  double special = 0;
  for_each_rank([&](double x) {
    if (std::isfinite(x))
      column.add_element(std::ldexp(x, -shift));
    else
      special += x;
  });
  if (special != 0) column.sum = {special, 0};
  return column;
}

template <class T>
Expected expected_sum(const Problem& problem, ErrorBound bound, const Rows& in, std::int64_t i,
                      SumColumn column) {
  const auto for_each_rank = [&](const auto& call) {
    for (std::int64_t r = 0; r < in.ranks; ++r)
      call(to_double(reinterpret_cast<const T*>(in.data + r * in.stride_bytes)[i]));
  };
  Expected expected;
  if (!std::isfinite(column.magnitude)) {
    expected.shift = 256;
    column = scaled_sum<T>(for_each_rank, expected.shift);
  } else if (column.magnitude == 0) {
    // -0 only if all elements are.
    double zero = -0.0;
    for_each_rank([&](double x) { zero += x; });
    column.sum = {zero, 0};
  } else if (std::abs(column.sum.hi) < 0x1p-700 && column.magnitude < 0x1p700) {
    expected.shift = -256;
    column.sum = scale(column.sum, 256);
    column.magnitude = std::ldexp(column.magnitude, 256);
  }

  const FloatGrid& carried = grid_of(bound.rounded_in);
  const double linear = static_cast<double>(bound.steps) * carried.half_ulp_of_one();
  const double relative = bound.compounds ? std::expm1(linear) : linear;
  expected.value = column.sum;
  expected.tolerance = relative * column.magnitude;
  if (problem.op == ReduceOp::sum) {
    expected.may_break = column.magnitude * (1 + relative) >= expected.scaled(carried.largest);
    expected.may_overflow = expected.reaches_infinity_of(grid_of(problem.dtype));
    return expected;
  }
  const double divisor = static_cast<double>(problem.ranks);
  if (std::isfinite(column.sum.hi) && column.sum.hi != 0)
    expected.value = divide(column.sum, divisor);
  // A quotient among the subnormals is off by half their spacing at most.
  expected.tolerance =
      expected.tolerance / divisor + static_cast<double>(bound.tiny_roundings) *
                                         std::ldexp(1, carried.lowest - 1 - expected.shift);
  if (bound.mean_may_overflow) {
    // An infinite input, or partial sums (of scaled inputs too: the scale is rounded) that
    // overflow.
    expected.may_break = column.magnitude * (1 + relative) >= expected.scaled(carried.largest);
    expected.may_overflow = expected.reaches_infinity_of(grid_of(problem.dtype));
  }
  return expected;
}

// x * 2^exponent, with infinity and zero beyond the range of a double.
double to_double(const ScaledProduct& x, int exponent = 0) {
  const auto sum = std::clamp<std::int64_t>(x.exponent + exponent, -4000, 4000);
  return std::ldexp(x.value.hi, static_cast<int>(sum));
}

Expected expected_product(const Problem& problem, ErrorBound bound, const ProductColumn& column) {
  const FloatGrid& carried = grid_of(bound.rounded_in);
  const double steps = static_cast<double>(bound.steps);
  const double relative = std::expm1(steps * carried.half_ulp_of_one());
  // Partial products lie between these two.
  const double highest = to_double(column.large) * (1 + relative);
  const double least = to_double(column.small) / (1 + relative);
  const bool may_underflow = least < carried.smallest_normal();

  Expected expected;
  expected.may_break = highest >= carried.largest || (column.has_infinity && may_underflow);
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

Expected expected_extreme(const Problem& problem, const ExtremesColumn& column) {
  Expected expected;
  expected.value.hi = problem.op == ReduceOp::min ? column.smallest : column.largest;
  if (!column.has_number || (column.has_nan && problem.nan == NanPolicy::propagate))
    expected.value.hi = NAN;
  return expected;
}

template <class T>
T expected_integer(const Problem& problem, const IntegerColumn& column, bool wraps) {
  switch (problem.op) {
    case ReduceOp::sum:
      return static_cast<T>(column.sum);
    case ReduceOp::mean:
      if (wraps) return static_cast<T>(Int128{static_cast<T>(column.sum)} / problem.ranks);
      return static_cast<T>(column.sum / problem.ranks);
    case ReduceOp::prod:
      return static_cast<T>(column.product);
    case ReduceOp::min:
      return static_cast<T>(column.smallest);
    case ReduceOp::max:
      return static_cast<T>(column.largest);
  }
  __builtin_unreachable();
}

// --- comparing ----------------------------------------------------------------------------------

// Element i came out as `y`, which is off by more than nothing.
void note(Deviation& deviation, std::int64_t i, double y, double exact, double distance,
          double ulps, double bound, double bound_used) {
  if (bound_used > 1) ++deviation.over_bound;
  deviation.max_abs = std::max(deviation.max_abs, distance);
  deviation.max_ulp = std::max(deviation.max_ulp, ulps);
  if (deviation.worst >= 0 && bound_used <= deviation.max_bound_used) return;
  deviation.max_bound_used = bound_used;
  deviation.worst = i;
  deviation.worst_y = y;
  deviation.worst_exact = exact;
  deviation.worst_bound = bound;
}

void judge(Deviation& deviation, std::int64_t i, double y, const Expected& expected,
           const Problem& problem, bool is_narrowed) {
  const FloatGrid& grid = grid_of(problem.dtype);
  const double exact = expected.value.hi;
  const double reference = nearest(expected.value, expected.shift, grid);
  const bool is_reference = std::isnan(y)
                                ? std::isnan(reference)
                                : y == reference && std::signbit(y) == std::signbit(reference);
  if (!is_reference) ++deviation.different;

  if (!std::isfinite(exact) || !std::isfinite(y)) {
    const bool is_right = expected.may_break || y == exact ||
                          (std::isnan(y) && std::isnan(exact)) ||
                          (expected.may_overflow && y == std::copysign(HUGE_VAL, exact));
    if (!is_right) note(deviation, i, y, exact, HUGE_VAL, HUGE_VAL, 0, HUGE_VAL);
    return;
  }
  const double distance = std::abs(expected.scaled(y) - exact - expected.value.lo);
  double bound = expected.tolerance;
  if (is_narrowed) bound += expected.scaled(ulp_at(y, problem.dtype)) / 2;
  const int spacing = grid.spacing(exact == 0 ? grid.lowest : std::ilogb(exact) + expected.shift);
  // Below the smallest double nothing can be told, nor does it matter.
  if (expected.unscaled(distance) != 0)
    note(deviation, i, y, expected.unscaled(exact), expected.unscaled(distance),
         std::ldexp(distance, expected.shift - spacing), expected.unscaled(bound),
         bound > 0 ? distance / bound : HUGE_VAL);
  else if (!is_reference && (problem.op == ReduceOp::min || problem.op == ReduceOp::max))
    ++deviation.over_bound;  // -0 < +0 is a rule there
}

template <class T>
void judge_integer(Deviation& deviation, std::int64_t i, T y, T expected) {
  if (y == expected) return;
  ++deviation.different;
  const double distance =
      std::abs(static_cast<double>(static_cast<Int128>(y) - static_cast<Int128>(expected)));
  note(deviation, i, static_cast<double>(y), static_cast<double>(expected), distance, distance, 0,
       HUGE_VAL);
}

void merge(Deviation& all, const Deviation& part) {
  const Deviation before = all;
  const bool is_worse =
      part.worst >= 0 && (all.worst < 0 || part.max_bound_used > all.max_bound_used);
  if (is_worse) all = part;
  all.compared = before.compared + part.compared;
  all.different = before.different + part.different;
  all.over_bound = before.over_bound + part.over_bound;
  all.max_abs = std::max(before.max_abs, part.max_abs);
  all.max_ulp = std::max(before.max_ulp, part.max_ulp);
}

// Rows are read in memory's order, a tile of columns at a time, and in blocks of rows when there
// are many, so that all threads have work for any R and n. The cut doesn't depend on the threads.
struct Cut {
  static constexpr std::int64_t tile = 256;
  static constexpr std::int64_t tasks = 256;
  static constexpr std::int64_t task_elements = 1 << 20;

  std::int64_t columns;  // of a tile
  std::int64_t tiles;
  std::int64_t block_rows;
  std::int64_t blocks;
  std::int64_t tiles_together;  // as many as make `tasks` tasks

  explicit Cut(const Rows& in) {
    columns = std::min(in.elements, tile);
    tiles = (in.elements + columns - 1) / columns;
    block_rows = std::max((in.ranks + tasks - 1) / tasks, task_elements / columns);
    blocks = (in.ranks + block_rows - 1) / block_rows;
    tiles_together = std::max<std::int64_t>(1, tasks / blocks);
  }
};

// Reduces every column of `in` and calls judge_column(deviation, i, column).
template <class T, class Column, class Judge>
Deviation compare(const Rows& in, const Judge& judge_column) {
  const Cut cut(in);
  // Below, waking threads costs more than they gain.
  [[maybe_unused]] const bool is_large = in.ranks * in.elements > 1 << 16;
  Deviation all;
  for (std::int64_t first = 0; first < cut.tiles; first += cut.tiles_together) {
    const std::int64_t tiles = std::min(cut.tiles_together, cut.tiles - first);
    std::vector<Column> columns(static_cast<std::size_t>(tiles * cut.blocks * cut.columns));
    std::vector<Deviation> parts(static_cast<std::size_t>(tiles));
    const auto width = [&](std::int64_t tile) {
      return std::min(cut.columns, in.elements - (first + tile) * cut.columns);
    };
#pragma omp parallel for schedule(dynamic) if (is_large)
    for (std::int64_t task = 0; task < tiles * cut.blocks; ++task) {
      const std::int64_t tile = task / cut.blocks;
      const std::int64_t begin = task % cut.blocks * cut.block_rows;
      const std::int64_t end = std::min(in.ranks, begin + cut.block_rows);
      Column* const mine = columns.data() + task * cut.columns;
      for (std::int64_t r = begin; r < end; ++r) {
        const T* const row = reinterpret_cast<const T*>(in.data + r * in.stride_bytes) +
                             (first + tile) * cut.columns;
        for (std::int64_t c = 0; c < width(tile); ++c) {
          if constexpr (is_integer<T>)
            mine[c].add_element(row[c]);
          else
            mine[c].add_element(to_double(row[c]));
        }
      }
    }
#pragma omp parallel for schedule(dynamic) if (is_large)
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      Column* const mine = columns.data() + tile * cut.blocks * cut.columns;
      Deviation& part = parts[static_cast<std::size_t>(tile)];
      for (std::int64_t c = 0; c < width(tile); ++c) {
        for (std::int64_t block = 1; block < cut.blocks; ++block)
          mine[c].merge(mine[block * cut.columns + c]);
        ++part.compared;
        judge_column(part, (first + tile) * cut.columns + c, mine[c]);
      }
    }
    for (const Deviation& part : parts) merge(all, part);
  }
  return all;
}

}  // namespace

ErrorBound direct_bound(const Problem& problem) {
  const bool is_ordered = problem.op == ReduceOp::min || problem.op == ReduceOp::max;
  if (!is_floating(problem.dtype) || is_ordered) return {0, problem.dtype};
  const DType carried = problem.dtype == DType::f64 ? DType::f64 : DType::f32;
  switch (problem.op) {
    case ReduceOp::mean:
      return {tree_levels(problem.ranks) + 2, carried};
    case ReduceOp::prod:
      return {problem.ranks - 1, carried};
    default:
      return {tree_levels(problem.ranks), carried};
  }
}

ErrorBound fold_bound(const Problem& problem, const Arithmetic& rules) {
  const bool is_ordered = problem.op == ReduceOp::min || problem.op == ReduceOp::max;
  if (!is_floating(problem.dtype) || is_ordered)
    return {.rounded_in = problem.dtype,
            .wraps = rules.accumulate == Accumulate::storage && !is_floating(problem.dtype)};
  ErrorBound bound{.steps = problem.ranks - 1, .rounded_in = problem.dtype, .compounds = true};
  // A scale is rounded to the dtype, however wide what follows is.
  if (!rules.premultiplies()) {
    if (rules.accumulate == Accumulate::f32) bound.rounded_in = DType::f32;
    if (rules.accumulate == Accumulate::f64) bound.rounded_in = DType::f64;
  }
  if (problem.op == ReduceOp::mean) {
    // The division; or the scale and each product.
    bound.steps += 2;
    bound.mean_may_overflow = true;
    if (rules.premultiplies()) bound.tiny_roundings = problem.ranks;
  }
  return bound;
}

Deviation deviation_from_exact(const Problem& problem, const Rows& in, const std::byte* result,
                               ErrorBound bound) {
  if (in.elements == 0) return {};
  return visit(problem.dtype, [&]<class T>() -> Deviation {
    const T* const y = reinterpret_cast<const T*>(result);
    if constexpr (is_integer<T>) {
      return compare<T, IntegerColumn>(in, [&](Deviation& part, std::int64_t i, auto& column) {
        judge_integer(part, i, y[i], expected_integer<T>(problem, column, bound.wraps));
      });
    } else {
      const bool is_narrowed = bound.rounded_in != problem.dtype;
      const auto judge_as = [&](Deviation& part, std::int64_t i, const Expected& expected) {
        judge(part, i, to_double(y[i]), expected, problem, is_narrowed);
      };
      switch (problem.op) {
        case ReduceOp::sum:
        case ReduceOp::mean:
          return compare<T, SumColumn>(in, [&](Deviation& part, std::int64_t i, auto& column) {
            judge_as(part, i, expected_sum<T>(problem, bound, in, i, column));
          });
        case ReduceOp::prod:
          return compare<T, ProductColumn>(in, [&](Deviation& part, std::int64_t i, auto& column) {
            judge_as(part, i, expected_product(problem, bound, column));
          });
        default:
          return compare<T, ExtremesColumn>(in, [&](Deviation& part, std::int64_t i, auto& column) {
            judge_as(part, i, expected_extreme(problem, column));
          });
      }
    }
  });
}

double ulp_at(double a, DType dtype) {
  if (!is_floating(dtype)) return 1;
  const FloatGrid& grid = grid_of(dtype);
  return std::ldexp(1, grid.spacing(a == 0 ? grid.lowest : std::ilogb(a)));
}

double element_as_double(const std::byte* data, std::int64_t i, DType dtype) {
  return visit(dtype, [&]<class T>() { return to_double(reinterpret_cast<const T*>(data)[i]); });
}

}  // namespace vranks
