// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/exact.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>
#include <vector>

#include "collectives/exact_column.hpp"
#include "collectives/exact_expected.hpp"
#include "collectives/exact_judge.hpp"
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

// What is compared: one result over all ranks, or of a scan one a row.
struct Question {
  Problem problem;  // over all ranks
  Rows in;
  std::span<const std::byte* const> results;  // of a scan: row k is over ranks 0 to k
  ErrorBound bound;                           // of a single result,
  const BoundOf* bound_of = nullptr;          // and of those of a scan

  bool is_scan() const { return bound_of != nullptr; }
};

// One result, and what it is to be.
template <class T>
struct Answer {
  const Problem& problem;  // over as many ranks as the result
  const ErrorBound& bound;
  const T* y;
  bool is_narrowed() const { return bound.rounded_in != problem.dtype; }
};

// Elements c of row r of a tile of columns.
template <class T>
const T* row_of(const Rows& in, std::int64_t r, std::int64_t column) {
  return reinterpret_cast<const T*>(in.data + r * in.stride_bytes) + column;
}

// Row after row, each judged against all up to it.
template <class T, class Column, class Add, class Judge>
Deviation compare_scan(const Question& question, const Add& add_element,
                       const Judge& judge_column) {
  const Rows& in = question.in;
  const std::int64_t tile = std::min<std::int64_t>(in.elements, Cut::tile);
  const std::int64_t tiles = (in.elements + tile - 1) / tile;
  std::vector<Deviation> parts(static_cast<std::size_t>(tiles));
  [[maybe_unused]] const bool is_large = in.ranks * in.elements > 1 << 16;
#pragma omp parallel for schedule(dynamic) if (is_large)
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t first = t * tile, width = std::min(tile, in.elements - first);
    std::vector<Column> columns(static_cast<std::size_t>(width));
    Deviation& part = parts[static_cast<std::size_t>(t)];
    Problem problem = question.problem;
    for (std::int64_t r = 0; r < in.ranks; ++r) {
      problem.ranks = r + 1;
      const ErrorBound bound = (*question.bound_of)(r + 1);
      const std::byte* const y = question.results[static_cast<std::size_t>(r)];
      const Answer<T> answer{problem, bound, reinterpret_cast<const T*>(y)};
      const T* const row = row_of<T>(in, r, first);
      for (std::int64_t c = 0; c < width; ++c) {
        Column& column = columns[static_cast<std::size_t>(c)];
        add_element(column, row[c], r);
        ++part.compared;
        judge_column(part, answer, first + c, column);
      }
    }
  }
  Deviation all;
  for (const Deviation& part : parts) add_part(all, part);
  return all;
}

// Reduces every column of the ranks by add_element(column, x, rank) and calls judge_column(
// deviation, answer, i, column).
template <class T, class Column, class Add, class Judge>
Deviation compare(const Question& question, const Add& add_element, const Judge& judge_column) {
  if (question.is_scan()) return compare_scan<T, Column>(question, add_element, judge_column);
  const Rows& in = question.in;
  const Answer<T> answer{question.problem, question.bound,
                         reinterpret_cast<const T*>(question.results[0])};
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
        const T* const row = row_of<T>(in, r, (first + tile) * cut.columns);
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
        judge_column(part, answer, (first + tile) * cut.columns + c, mine[c]);
      }
    }
    for (const Deviation& part : parts) add_part(all, part);
  }
  return all;
}

// Ops on bits, of integers and truth values.
template <class T>
Deviation compare_bits(const Question& question) {
  constexpr bool is_bool = std::is_same_v<T, Bool>;
  const ReduceOp op = is_bool ? op_on_truths(question.problem.op) : question.problem.op;
  const bool is_truth =
      is_bool || op == ReduceOp::land || op == ReduceOp::lor || op == ReduceOp::lxor;
  return compare<T, BitsColumn>(
      question,
      [&](BitsColumn& column, T x, std::int64_t) { column.add_element(to_bits(x, is_truth)); },
      [&](Deviation& part, const Answer<T>& answer, std::int64_t i, const BitsColumn& column) {
        // Whether a result is 0 or 1 counts, of truth values in a byte only whether it is 0.
        const std::uint64_t right = expected_bits(op, column);
        if constexpr (is_bool)
          judge_integer(part, i, int{answer.y[i].byte != 0}, static_cast<int>(right & 1));
        else
          judge_integer<T>(part, i, answer.y[i], static_cast<T>(is_truth ? right & 1 : right));
      });
}

template <class T>
Deviation compare_integers(const Question& question) {
  switch (question.problem.op) {
    case ReduceOp::band:
    case ReduceOp::bor:
    case ReduceOp::bxor:
    case ReduceOp::land:
    case ReduceOp::lor:
    case ReduceOp::lxor:
      return compare_bits<T>(question);
    default:
      return compare<T, IntegerColumn>(
          question, [](IntegerColumn& column, T x, std::int64_t) { column.add_element(x); },
          [](Deviation& part, const Answer<T>& answer, std::int64_t i,
             const IntegerColumn& column) {
            judge_integer(part, i, answer.y[i],
                          expected_integer<T>(answer.problem, column, answer.bound.wraps));
          });
  }
}

template <class T>
void judge_float(Deviation& part, const Answer<T>& answer, std::int64_t i, Expected expected) {
  saturate(expected, answer.problem, answer.bound);
  judge_element(part, i, to_double(answer.y[i]), expected, answer.problem, answer.is_narrowed());
}

// A running sum that is looked at after each rank, so that no look goes back to the first.
struct LookedSumColumn {
  SumColumn sum;
  SumLook look;

  void merge(const LookedSumColumn&) {}  // a scan's rows are not cut in blocks
};

template <class T>
Deviation compare_sums(const Question& question) {
  const Rows& in = question.in;
  const Terms terms = terms_of(question.problem, question.bound);
  const auto judge_sum = [&](Deviation& part, const Answer<T>& answer, std::int64_t i,
                             const SumColumn& column, const auto& second_look) {
    judge_float(part, answer, i,
                expected_sum(answer.problem, answer.bound, terms, column, second_look));
  };
  if (question.is_scan())
    return compare<T, LookedSumColumn>(
        question,
        [&](LookedSumColumn& column, T x, std::int64_t r) {
          const double factor = terms.factor_of(r);
          column.sum.add_element(to_double(x), factor);
          column.look.add_element(to_double(x), factor);
        },
        [&](Deviation& part, const Answer<T>& answer, std::int64_t i,
            const LookedSumColumn& column) {
          judge_sum(part, answer, i, column.sum, [&]() -> const SumLook& { return column.look; });
        });
  const auto judge_column = [&](Deviation& part, const Answer<T>& answer, std::int64_t i,
                                const SumColumn& column) {
    judge_sum(part, answer, i, column, [&] {
      SumLook look;
      for (std::int64_t r = 0; r < in.ranks; ++r)
        look.add_element(to_double(*row_of<T>(in, r, i)), terms.factor_of(r));
      return look;
    });
  };
  if (!terms.has_products())
    return compare<T, SumColumn>(
        question, [](SumColumn& column, T x, std::int64_t) { column.add_element(to_double(x)); },
        judge_column);
  return compare<T, SumColumn>(
      question,
      [&](SumColumn& column, T x, std::int64_t r) {
        column.add_element(to_double(x), terms.factor_of(r));
      },
      judge_column);
}

template <class T>
Deviation compare_floats(const Question& question) {
  const auto add_element = [](auto& column, T x, std::int64_t) {
    column.add_element(to_double(x));
  };
  switch (question.problem.op) {
    case ReduceOp::prod:
      return compare<T, ProductColumn>(
          question, add_element,
          [](Deviation& part, const Answer<T>& answer, std::int64_t i,
             const ProductColumn& column) {
            judge_float(part, answer, i, expected_product(answer.problem, answer.bound, column));
          });
    case ReduceOp::log_sum_exp:
      return compare<T, LogSumColumn>(
          question, add_element,
          [](Deviation& part, const Answer<T>& answer, std::int64_t i, const LogSumColumn& column) {
            judge_float(part, answer, i, expected_log_sum(answer.problem, answer.bound, column));
          });
    default:
      if (!is_ordered(question.problem.op)) return compare_sums<T>(question);
      return compare<T, ExtremesColumn>(question, add_element,
                                        [](Deviation& part, const Answer<T>& answer, std::int64_t i,
                                           const ExtremesColumn& column) {
                                          judge_float(part, answer, i,
                                                      expected_extreme(answer.problem, column));
                                        });
  }
}

// A product mixes the parts; every other op, and what one rank holds, is about each for itself.
template <class T>
Deviation compare_complex(const Question& question) {
  Question parts = question;
  parts.problem.dtype = part_dtype(question.problem.dtype);
  Deviation products;
  if (question.problem.op == ReduceOp::prod && question.in.ranks > 1) {
    products = compare<T, ComplexProductColumn>(
        parts,
        [](ComplexProductColumn& column, T z, std::int64_t) {
          column.add_element(to_double(z.re), to_double(z.im));
        },
        [](Deviation& part, const Answer<T>& answer, std::int64_t i,
           const ComplexProductColumn& column) {
          if (answer.problem.ranks == 1) {  // of a scan; see below
            --part.compared;
            return;
          }
          ++part.compared;
          for (const bool is_imaginary : {false, true})
            judge_element(
                part, i, to_double(is_imaginary ? answer.y[i].im : answer.y[i].re),
                expected_complex_product(answer.problem, answer.bound, column, is_imaginary),
                answer.problem, false);
        });
    if (!question.is_scan()) return products;
    parts.in.ranks = 1;
  }
  parts.in.elements *= 2;
  parts.in.element_bytes /= 2;
  Deviation found = compare_floats<decltype(T::re)>(parts);
  if (found.worst >= 0) found.worst /= 2;
  add_part(found, products);
  return found;
}

Deviation answered(const Question& question) {
  if (question.in.elements == 0 || question.in.ranks == 0) return {};
  return visit(question.problem.dtype, [&]<class T>() -> Deviation {
    if constexpr (std::is_same_v<T, Bool>)
      return compare_bits<T>(question);
    else if constexpr (std::is_integral_v<T>)
      return compare_integers<T>(question);
    else if constexpr (is_complex_type<T>)
      return compare_complex<T>(question);
    else
      return compare_floats<T>(question);
  });
}

}  // namespace

Deviation deviation_from_exact(const Problem& problem, const Rows& in, const std::byte* result,
                               ErrorBound bound) {
  return answered({.problem = problem, .in = in, .results = {&result, 1}, .bound = bound});
}

Deviation scan_deviation_from_exact(const Problem& problem, const Rows& in,
                                    std::span<const std::byte* const> results,
                                    const BoundOf& bound_of) {
  if (in.ranks == 0) return {};
  return answered({.problem = problem,
                   .in = in,
                   .results = results,
                   .bound = bound_of(in.ranks),
                   .bound_of = &bound_of});
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
