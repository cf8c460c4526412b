// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "collectives/exact.hpp"
#include "collectives/float_grid.hpp"
#include "kernels/tree_fold.hpp"

namespace vranks {

namespace {

// Whether results are rounded at all.
bool rounds(const Problem& problem) {
  return (is_floating(problem.dtype) || is_complex(problem.dtype)) && !is_ordered(problem.op);
}

// What log_sum_exp carries always, and other ops in the `direct` order.
DType wide_dtype(const Problem& problem) {
  return part_dtype(problem.dtype) == DType::f64 ? DType::f64 : DType::f32;
}

// Whether a rank alone is computed with, not copied.
bool computes_alone(const Problem& problem) {
  return finds_rank(problem.op) || problem.op == ReduceOp::premul_sum ||
         is_prefix(problem.collective);
}

}  // namespace

ErrorBound direct_bound(const Problem& problem, Fp8Mode fp8) {
  ErrorBound bound{.rounded_in = part_dtype(problem.dtype),
                   .fp8 = fp8,
                   .computes_alone = computes_alone(problem)};
  if (!rounds(problem)) return bound;
  bound.rounded_in = bound.weights_in = wide_dtype(problem);
  // A running fold takes as many steps as it has ranks.
  const std::int64_t combines =
      is_prefix(problem.collective) ? problem.ranks - 1 : tree_levels(problem.ranks);
  switch (problem.op) {
    case ReduceOp::mean:
      bound.steps = combines + 2;
      break;
    case ReduceOp::prod:
      bound.steps = problem.ranks - 1;
      break;
    case ReduceOp::premul_sum:
      bound.steps = combines + 2;  // and the factor and the products
      bound.tiny_roundings = 2 * problem.ranks;
      break;
    case ReduceOp::weighted_mean:
      bound.steps = combines + 3;  // and the products, the divisor and the division
      bound.tiny_roundings = 2 * problem.ranks;
      break;
    default:
      bound.steps = combines;
  }
  return bound;
}

ErrorBound fold_bound(const Problem& problem, const Arithmetic& rules) {
  ErrorBound bound{.rounded_in = part_dtype(problem.dtype),
                   .wraps = rules.accumulate == Accumulate::storage && is_integer(problem.dtype),
                   .fp8 = rules.fp8,
                   .computes_alone = computes_alone(problem)};
  if (!rounds(problem)) return bound;
  const bool in_f64 = wide_dtype(problem) == DType::f64 || rules.accumulate == Accumulate::f64;
  bound.weights_in = in_f64 ? DType::f64 : DType::f32;
  bound.steps = problem.ranks - 1;
  if (problem.op == ReduceOp::log_sum_exp) {
    bound.rounded_in = wide_dtype(problem);
    return bound;
  }
  bound.compounds = true;
  // A scale is rounded to the dtype, however wide what follows is.
  if (!rules.premultiplies() && problem.op != ReduceOp::premul_sum) {
    if (rules.accumulate == Accumulate::f32) bound.rounded_in = DType::f32;
    if (rules.accumulate == Accumulate::f64) bound.rounded_in = DType::f64;
  }
  if (problem.op == ReduceOp::mean) {
    // The division; or the scale and each product.
    bound.steps += 2;
    bound.mean_may_overflow = true;
    if (rules.premultiplies()) {
      bound.premultiplies = true;
      const FloatGrid& grid = grid_of(problem.dtype);
      bound.tiny_roundings = problem.ranks;
      if (1.0 / static_cast<double>(problem.ranks) < grid.smallest_normal())
        bound.scale_error = std::ldexp(1, grid.lowest - 1);
    }
  }
  if (problem.op == ReduceOp::premul_sum || problem.op == ReduceOp::weighted_mean) {
    bound.steps += 3;
    bound.tiny_roundings = 2 * problem.ranks;
  }
  return bound;
}

}  // namespace vranks
