// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The bounds of exact.hpp against folds written here in plain f64, and rounded after each step: any
// that keeps to the rules is cleared, in a balanced tree or one after the other.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "tests/collectives/judged.hpp"
#include "tests/collectives/rational.hpp"

namespace vranks {
namespace {

// Leaves [first, last) in a balanced tree, or one after the other.
template <class C, class Combine>
C fold(const std::vector<C>& leaves, std::size_t first, std::size_t last, bool is_linear,
       const Combine& combine) {
  if (last - first == 1) return leaves[first];
  const std::size_t middle = is_linear ? last - 1 : first + std::bit_floor(last - first - 1);
  return combine(fold(leaves, first, middle, is_linear, combine),
                 fold(leaves, middle, last, is_linear, combine));
}

// One element of a fold that rounds to `carried` after every operation.
double folded(const Problem& problem, const Arithmetic& rules, const std::vector<double>& column,
              bool is_linear) {
  const DType carried = rules.accumulate == Accumulate::f64   ? DType::f64
                        : rules.accumulate == Accumulate::f32 ? DType::f32
                                                              : problem.dtype;
  const auto round = [&](double x) { return rounded(x, carried, rules.fp8); };
  if (column.size() == 1 && problem.op != ReduceOp::premul_sum) return column[0];
  const bool premultiplies = problem.op == ReduceOp::mean && rules.mean == MeanMode::premultiply;
  const double ranks = static_cast<double>(column.size());
  std::vector<double> leaves;
  for (std::size_t r = 0; r < column.size(); ++r) {
    double x = column[r];
    if (premultiplies) x = round(x * rounded(1 / ranks, problem.dtype, rules.fp8));
    if (problem.op == ReduceOp::premul_sum)
      x = round(x * rounded(problem.factor, problem.dtype, rules.fp8));
    if (problem.op == ReduceOp::weighted_mean) x = round(x * rules.weights[r]);
    leaves.push_back(x);
  }
  double y = fold(leaves, 0, leaves.size(), is_linear, [&](double a, double b) {
    return round(problem.op == ReduceOp::prod ? a * b : a + b);
  });
  if (problem.op == ReduceOp::mean && !premultiplies) y = round(y / ranks);
  if (problem.op == ReduceOp::weighted_mean) y = round(y / rules.total_weight);
  return rounded(y, problem.dtype, rules.fp8);
}

template <class Wide>
double folded_log_sum(const std::vector<double>& column, bool is_linear) {
  struct Pair {
    Wide largest, sum;
  };
  std::vector<Pair> leaves;
  for (const double x : column) leaves.push_back({static_cast<Wide>(x), 1});
  const Pair all = fold(leaves, 0, leaves.size(), is_linear, [](Pair a, Pair b) {
    if (std::isnan(a.largest) || std::isnan(b.largest)) return Pair{std::nan("") * Wide{1}, 1};
    const Wide most = std::max(a.largest, b.largest);
    if (std::isinf(most)) return Pair{most, 1};
    return Pair{most, a.sum * std::exp(a.largest - most) + b.sum * std::exp(b.largest - most)};
  });
  return static_cast<double>(all.largest + std::log(all.sum));
}

RC_GTEST_PROP(ExactFolds, AnyFoldOfFloatsIsCleared, ()) {
  const DType dtype = *rc::gen::element(DType::f64, DType::f32, DType::f16, DType::bf16,
                                        DType::f8e4m3, DType::f8e5m2);
  const auto op =
      *rc::gen::element(ReduceOp::sum, ReduceOp::mean, ReduceOp::prod, ReduceOp::premul_sum,
                        ReduceOp::weighted_mean, ReduceOp::log_sum_exp);
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 80);
  const auto values =
      *rc::gen::element(Values::uniform, Values::any_bits, Values::subnormal, Values::large);
  const bool is_linear = *rc::gen::arbitrary<bool>();
  const std::int64_t n = 20;
  const Tensor in = make_input(dtype, ranks, n, values, *rc::gen::arbitrary<std::uint64_t>());
  Problem problem = problem_for(in, op);
  Arithmetic rules{.dtype = dtype, .op = op, .group = ranks};
  rules.fp8 = *rc::gen::element(Fp8Mode::saturate, Fp8Mode::ieee);
  if (op != ReduceOp::log_sum_exp && dtype != DType::f64)
    rules.accumulate =
        *rc::gen::element(Accumulate::storage,
                          dtype == DType::f32 ? Accumulate::f64 : Accumulate::f32, Accumulate::f64);
  if (op == ReduceOp::mean) rules.mean = *rc::gen::element(MeanMode::divide, MeanMode::premultiply);
  if (op == ReduceOp::premul_sum)
    problem.factor = rules.factor = *rc::gen::element(0.0, 1.0, -0.3, 1.7, 12345.678, 1e-5, 1e300);
  if (op == ReduceOp::weighted_mean) {
    const double unit = *rc::gen::element(1.0, 1e-3, 1e6, 1e-40, 1e30);
    const bool in_f64 = dtype == DType::f64 || rules.accumulate == Accumulate::f64;
    rules.total_weight = 0;
    for (std::int64_t r = 0; r < ranks; ++r) {
      problem.weights.push_back(unit * (1 + *rc::gen::inRange(-100, 300)) / 7.0);
      rules.weights.push_back(in_f64 ? problem.weights.back()
                                     : static_cast<float>(problem.weights.back()));
      rules.total_weight += rules.weights.back();
    }
    RC_PRE(rules.total_weight != 0);
  }
  const Tensor out(dtype, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> column;
    for (std::int64_t r = 0; r < ranks; ++r) column.push_back(get(in, r * n + i));
    double y = 0;
    if (op != ReduceOp::log_sum_exp)
      y = folded(problem, rules, column, is_linear);
    else if (ranks == 1)
      y = column[0];
    else
      y = dtype == DType::f64 ? folded_log_sum<double>(column, is_linear)
                              : folded_log_sum<float>(column, is_linear);
    set(out, i, y, ranks == 1 && op != ReduceOp::premul_sum ? Fp8Mode::ieee : rules.fp8);
  }
  const Deviation found = judged(problem, in, out, fold_bound(problem, rules));
  RC_LOG() << name(dtype) << ' ' << name(op) << " R " << ranks << ' ' << name(rules.accumulate)
           << ' ' << name(rules.mean) << ' ' << name(rules.fp8) << ": " << found.worst_y
           << " where " << found.worst_exact << " +- " << found.worst_bound << '\n';
  for (std::int64_t r = 0; r < ranks && found.worst >= 0; ++r)
    RC_LOG() << "rank " << r << ": " << get(in, r * n + found.worst)
             << (rules.weights.empty() ? "" : " weighs ")
             << (rules.weights.empty() ? 0 : rules.weights[static_cast<std::size_t>(r)]) << '\n';
  RC_ASSERT(found.compared == n);
  RC_ASSERT(found.over_bound == 0);
}

RC_GTEST_PROP(ExactFolds, AnyFoldOfComplexProductsIsCleared, ()) {
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 40);
  const auto values = *rc::gen::element(Values::uniform, Values::any_bits, Values::subnormal);
  const bool is_linear = *rc::gen::arbitrary<bool>();
  const DType dtype = *rc::gen::element(DType::c64, DType::c128);
  const Tensor in = make_input(dtype, ranks, 5, values, *rc::gen::arbitrary<std::uint64_t>());
  const double growth = *rc::gen::element(1.0, 2.0, 1e3);
  if (values == Values::uniform)
    for (std::int64_t i = 0; i < 2 * in.elements(); ++i) set(in, i, growth * get(in, i));
  const Tensor out(dtype, {5});
  visit(part_dtype(dtype), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      for (std::int64_t i = 0; i < 5; ++i) {
        std::vector<Complex<T>> leaves;
        for (std::int64_t r = 0; r < ranks; ++r)
          leaves.push_back(reinterpret_cast<const Complex<T>*>(in.data())[r * 5 + i]);
        reinterpret_cast<Complex<T>*>(out.data())[i] =
            fold(leaves, 0, leaves.size(), is_linear, [](Complex<T> a, Complex<T> b) {
              return Complex<T>{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
            });
      }
  });
  const Problem problem = problem_for(in, ReduceOp::prod);
  for (const ErrorBound& bound :
       {direct_bound(problem), fold_bound(problem, {.dtype = dtype, .op = ReduceOp::prod})}) {
    const Deviation found = judged(problem, in, out, bound);
    RC_LOG() << name(dtype) << " R " << ranks << ": " << found.worst_y << " where "
             << found.worst_exact << " +- " << found.worst_bound << '\n';
    RC_ASSERT(found.over_bound == 0);
    RC_ASSERT(found.compared == 10);
  }
}

// --- against rational arithmetic ----------------------------------------------------------------

RC_GTEST_PROP(ExactFolds, FactorsAndWeightsAgreeWithRationals, ()) {
  const DType dtype = *rc::gen::element(DType::f64, DType::f32, DType::f16, DType::bf16,
                                        DType::f8e4m3, DType::f8e5m2);
  const bool is_weighted = *rc::gen::arbitrary<bool>();
  const auto ranks = *rc::gen::inRange<std::int64_t>(2, 30);
  const Tensor in =
      make_input(dtype, ranks, 1, Values::uniform, *rc::gen::arbitrary<std::uint64_t>());
  Problem problem = problem_for(in, is_weighted ? ReduceOp::weighted_mean : ReduceOp::premul_sum);
  problem.factor = *rc::gen::inRange(-1000, 1000) / 100.0;
  cpp_rational exact = 0, magnitude = 0, total = 0;
  for (std::int64_t r = 0; r < ranks; ++r) {
    cpp_rational factor(round_to(cpp_rational(problem.factor), dtype));
    if (is_weighted) {
      problem.weights.push_back(*rc::gen::inRange(1, 1000) / 8.0);
      factor = cpp_rational(problem.weights.back());
    }
    exact += factor * cpp_rational(get(in, r));
    magnitude += abs(factor * cpp_rational(get(in, r)));
    total += factor;
  }
  if (is_weighted) exact /= total, magnitude /= total;
  const Tensor out(dtype, {1});
  set(out, 0, to_double(exact));
  const ErrorBound bound = direct_bound(problem);
  const Deviation found = judged(problem, in, out, bound);
  const double y = get(out, 0);
  const double distance = to_double(abs(cpp_rational(y) - exact));
  const bool saturates = is_float8(dtype) && to_double(abs(exact)) > grid_of(dtype).largest;
  RC_PRE(!saturates && exact != 0);
  RC_LOG() << name(dtype) << " is " << y << " where " << to_double(exact) << " rounds to "
           << round_to(exact, dtype) << '\n';
  RC_ASSERT(found.different == (y != round_to(exact, dtype)));
  RC_ASSERT(std::abs(found.max_abs - distance) <=
            0x1p-95 * to_double(magnitude) + 0x1p-50 * distance);
  RC_ASSERT(found.over_bound == 0);
  // Twice as far as allowed is refused.
  const double most =
      (static_cast<double>(bound.steps) * grid_of(bound.rounded_in).half_ulp_of_one() +
       static_cast<double>(ranks) * 0x1p-53) *
          to_double(magnitude) +
      ulp_at(y, dtype);
  const double wrong = rounded(y + 2 * most + 2 * ulp_at(y, dtype), dtype, Fp8Mode::saturate);
  RC_PRE(std::abs(wrong) < grid_of(dtype).largest);
  set(out, 0, wrong);
  RC_LOG() << name(dtype) << " is " << wrong << " where " << to_double(exact) << " is right, " << y
           << " +- " << most << '\n';
  RC_ASSERT(judged(problem, in, out, bound).over_bound == 1);
}

}  // namespace
}  // namespace vranks
