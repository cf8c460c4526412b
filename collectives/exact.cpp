// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/exact.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "collectives/exact_column.hpp"
#include "collectives/exact_expected.hpp"
#include "collectives/float_grid.hpp"

namespace vranks {

namespace {

template <class T>
constexpr bool is_complex_type =
    std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;

template <class T>
double to_double(T x) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(x);
  else if constexpr (std::is_same_v<T, Bool>)
    return x.byte != 0;
  else
    return to_float(x);
}

// The bits that an op on bits is about: truth values where it is about those.
template <class T>
std::uint64_t to_bits(T x, bool is_truth) {
  if constexpr (std::is_same_v<T, Bool>)
    return x.byte != 0;
  else
    return is_truth ? x != 0 : static_cast<std::uint64_t>(x);
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
           const Problem& problem, bool is_narrowed, bool is_saturating) {
  const FloatGrid& grid = grid_of(problem.dtype);
  const double exact = expected.value.hi;
  double reference = nearest(expected.value, expected.shift, grid);
  if (std::isinf(reference) && !grid.has_infinity) reference = NAN;
  const bool is_reference = std::isnan(y)
                                ? std::isnan(reference)
                                : y == reference && std::signbit(y) == std::signbit(reference);
  if (!is_reference) ++deviation.different;

  if (!std::isfinite(exact) || !std::isfinite(y)) {
    // To the other side where the tolerance reaches as far.
    const bool has_sign = std::signbit(y) == std::signbit(exact) ||
                          expected.tolerance - std::abs(exact) >= expected.scaled(grid.largest);
    const bool is_overflow = (expected.may_overflow || std::isinf(exact)) &&
                             (grid.has_infinity ? std::isinf(y) && has_sign : std::isnan(y));
    const bool is_right =
        expected.may_break || is_overflow || y == exact || (std::isnan(y) && std::isnan(exact));
    if (!is_right) note(deviation, i, y, exact, HUGE_VAL, HUGE_VAL, 0, HUGE_VAL);
    return;
  }
  // Partial results that saturate may be anything.
  if (expected.may_break && is_saturating) return;
  const double distance = std::abs(expected.scaled(y) - exact - expected.value.lo);
  double bound = expected.tolerance;
  if (is_narrowed) bound += expected.scaled(ulp_at(y, problem.dtype)) / 2;
  const int spacing = grid.spacing(exact == 0 ? grid.lowest : std::ilogb(exact) + expected.shift);
  // Below the smallest double nothing can be told, nor does it matter.
  if (expected.unscaled(distance) != 0)
    note(deviation, i, y, expected.unscaled(exact), expected.unscaled(distance),
         std::ldexp(distance, expected.shift - spacing), expected.unscaled(bound),
         bound > 0 ? distance / bound : HUGE_VAL);
  else if (!is_reference && is_ordered(problem.op))
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

// Reduces every column of `in` by add(column, x, rank) and calls judge_column(deviation, i,
// column).
template <class T, class Column, class Add, class Judge>
Deviation compare(const Rows& in, const Add& add_element, const Judge& judge_column) {
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
        for (std::int64_t c = 0; c < width(tile); ++c) add_element(mine[c], row[c], r);
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

// Ops on bits, of integers and truth values.
template <class T>
Deviation compare_bits(const Problem& problem, const Rows& in, const T* y) {
  constexpr bool is_bool = std::is_same_v<T, Bool>;
  const ReduceOp op = is_bool ? op_on_truths(problem.op) : problem.op;
  const bool is_truth =
      is_bool || op == ReduceOp::land || op == ReduceOp::lor || op == ReduceOp::lxor;
  return compare<T, BitsColumn>(
      in, [&](BitsColumn& column, T x, std::int64_t) { column.add_element(to_bits(x, is_truth)); },
      [&](Deviation& part, std::int64_t i, const BitsColumn& column) {
        // Whether a result is 0 or 1 counts, of truth values in a byte only whether it is 0.
        const std::uint64_t right = expected_bits(op, column);
        if constexpr (is_bool)
          judge_integer(part, i, int{y[i].byte != 0}, static_cast<int>(right & 1));
        else
          judge_integer<T>(part, i, y[i], static_cast<T>(is_truth ? right & 1 : right));
      });
}

template <class T>
Deviation compare_integers(const Problem& problem, const Rows& in, const T* y,
                           const ErrorBound& bound) {
  switch (problem.op) {
    case ReduceOp::band:
    case ReduceOp::bor:
    case ReduceOp::bxor:
    case ReduceOp::land:
    case ReduceOp::lor:
    case ReduceOp::lxor:
      return compare_bits(problem, in, y);
    default:
      return compare<T, IntegerColumn>(
          in, [](IntegerColumn& column, T x, std::int64_t) { column.add_element(x); },
          [&](Deviation& part, std::int64_t i, const IntegerColumn& column) {
            judge_integer(part, i, y[i], expected_integer<T>(problem, column, bound.wraps));
          });
  }
}

template <class T>
Deviation compare_sums(const Problem& problem, const Rows& in, const ErrorBound& bound,
                       const auto& judge_as) {
  const Terms terms = terms_of(problem, bound);
  const auto judge_column = [&](Deviation& part, std::int64_t i, const SumColumn& column) {
    const auto for_each_rank = [&](const auto& call) {
      for (std::int64_t r = 0; r < in.ranks; ++r)
        call(to_double(reinterpret_cast<const T*>(in.data + r * in.stride_bytes)[i]),
             terms.factor_of(r));
    };
    judge_as(part, i, expected_sum(problem, bound, terms, column, for_each_rank));
  };
  if (!terms.has_products())
    return compare<T, SumColumn>(
        in, [](SumColumn& column, T x, std::int64_t) { column.add_element(to_double(x)); },
        judge_column);
  return compare<T, SumColumn>(
      in,
      [&](SumColumn& column, T x, std::int64_t r) {
        column.add_element(to_double(x), terms.factor_of(r));
      },
      judge_column);
}

template <class T>
Deviation compare_floats(const Problem& problem, const Rows& in, const T* y,
                         const ErrorBound& bound) {
  const bool is_narrowed = bound.rounded_in != problem.dtype;
  const auto judge_as = [&](Deviation& part, std::int64_t i, Expected expected) {
    saturate(expected, problem, bound);
    judge(part, i, to_double(y[i]), expected, problem, is_narrowed, bound.saturates(problem));
  };
  const auto add_element = [](auto& column, T x, std::int64_t) {
    column.add_element(to_double(x));
  };
  switch (problem.op) {
    case ReduceOp::prod:
      return compare<T, ProductColumn>(
          in, add_element, [&](Deviation& part, std::int64_t i, const ProductColumn& column) {
            judge_as(part, i, expected_product(problem, bound, column));
          });
    case ReduceOp::log_sum_exp:
      return compare<T, LogSumColumn>(
          in, add_element, [&](Deviation& part, std::int64_t i, const LogSumColumn& column) {
            judge_as(part, i, expected_log_sum(problem, bound, column));
          });
    default:
      if (!is_ordered(problem.op)) return compare_sums<T>(problem, in, bound, judge_as);
      return compare<T, ExtremesColumn>(
          in, add_element, [&](Deviation& part, std::int64_t i, const ExtremesColumn& column) {
            judge_as(part, i, expected_extreme(problem, column));
          });
  }
}

// A product mixes the parts; every other op, and what one rank holds, is about each for itself.
template <class T>
Deviation compare_complex(const Problem& problem, const Rows& in, const T* y,
                          const ErrorBound& bound) {
  Problem parts = problem;
  parts.dtype = part_dtype(problem.dtype);
  if (problem.op == ReduceOp::prod && in.ranks > 1)
    return compare<T, ComplexProductColumn>(
        in,
        [](ComplexProductColumn& column, T z, std::int64_t) {
          column.add_element(to_double(z.re), to_double(z.im));
        },
        [&](Deviation& part, std::int64_t i, const ComplexProductColumn& column) {
          ++part.compared;
          for (const bool is_imaginary : {false, true})
            judge(part, i, to_double(is_imaginary ? y[i].im : y[i].re),
                  expected_complex_product(parts, bound, column, is_imaginary), parts, false,
                  false);
        });
  Rows rows = in;
  rows.elements *= 2;
  rows.element_bytes /= 2;
  using Part = decltype(T::re);
  Deviation found = compare_floats(parts, rows, reinterpret_cast<const Part*>(y), bound);
  if (found.worst >= 0) found.worst /= 2;
  return found;
}

}  // namespace

Deviation deviation_from_exact(const Problem& problem, const Rows& in, const std::byte* result,
                               ErrorBound bound) {
  if (in.elements == 0) return {};
  return visit(problem.dtype, [&]<class T>() -> Deviation {
    const T* const y = reinterpret_cast<const T*>(result);
    if constexpr (std::is_same_v<T, Bool>)
      return compare_bits(problem, in, y);
    else if constexpr (std::is_integral_v<T>)
      return compare_integers(problem, in, y, bound);
    else if constexpr (is_complex_type<T>)
      return compare_complex(problem, in, y, bound);
    else
      return compare_floats(problem, in, y, bound);
  });
}

double ulp_at(double a, DType dtype) {
  if (!is_floating(dtype) && !is_complex(dtype)) return 1;
  const FloatGrid& grid = grid_of(dtype);
  return std::ldexp(1, grid.spacing(a == 0 ? grid.lowest : std::ilogb(a)));
}

double element_as_double(const std::byte* data, std::int64_t i, DType dtype) {
  return visit(part_dtype(dtype), [&]<class T>() -> double {
    if constexpr (is_complex_type<T>)
      return NAN;  // no part is complex
    else
      return to_double(reinterpret_cast<const T*>(data)[i]);
  });
}

}  // namespace vranks
