// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/arithmetic.hpp"

#include <fmt/format.h>

#include "ranks/error.hpp"

namespace vranks {

namespace {

bool is_ordered(ReduceOp op) { return op == ReduceOp::min || op == ReduceOp::max; }

// What `direct` carries: wide enough that only the end rounds to the dtype.
Accumulate widest(const Problem& problem) {
  if (is_ordered(problem.op)) return Accumulate::storage;
  if (is_floating(problem.dtype))
    return size_bytes(problem.dtype) == 2 ? Accumulate::f32 : Accumulate::storage;
  return problem.op == ReduceOp::mean ? Accumulate::exact : Accumulate::storage;
}

Accumulate accumulate_of(const Problem& problem, const Algorithm& algorithm,
                         std::optional<Accumulate> wanted) {
  if (!wanted) return algorithm.arithmetic.accumulate.value_or(widest(problem));
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::bad_argument, fmt::format("accumulate {} is not for dtype {}: {}",
                                                     name(*wanted), name(problem.dtype), why));
  };
  const bool floating = is_floating(problem.dtype);
  if (*wanted == Accumulate::exact && floating) refuse("it carries integers");
  if (*wanted == Accumulate::exact && problem.op != ReduceOp::mean)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("accumulate exact is about means: the result of op {} wraps to {} anyhow",
                    name(problem.op), name(problem.dtype)));
  if ((*wanted == Accumulate::f32 || *wanted == Accumulate::f64) && !floating)
    refuse("integers are carried as storage or exact");
  if (*wanted == Accumulate::f32 && problem.dtype == DType::f64)
    refuse("partial results can't be narrower than the elements");
  // What changes nothing is what it is equal to, so that equal calls have equal rules.
  if (is_ordered(problem.op)) return Accumulate::storage;
  if (*wanted == Accumulate::f32 && problem.dtype == DType::f32) return Accumulate::storage;
  if (*wanted == Accumulate::f64 && problem.dtype == DType::f64) return Accumulate::storage;
  return *wanted;
}

MeanMode mean_of(const Problem& problem, const Algorithm& algorithm, Accumulate accumulate,
                 std::optional<MeanMode> wanted) {
  const bool floating = is_floating(problem.dtype);
  if (wanted) {
    if (problem.op != ReduceOp::mean)
      throw Error(ErrorKind::bad_argument, fmt::format("mean {} is about op mean, not op {}",
                                                       name(*wanted), name(problem.op)));
    if (*wanted == MeanMode::premultiply && !floating)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("mean premultiply is not for dtype {}: 1/{} is no integer",
                              name(problem.dtype), problem.ranks));
    return *wanted;
  }
  if (problem.op != ReduceOp::mean || !floating) return MeanMode::divide;
  if (algorithm.arithmetic.mean) return *algorithm.arithmetic.mean;
  return size_bytes(problem.dtype) == 2 && accumulate == Accumulate::storage ? MeanMode::premultiply
                                                                             : MeanMode::divide;
}

}  // namespace

Arithmetic resolve(const Problem& problem, const Selection& selection, const Policies& policies) {
  const Algorithm& algorithm = *selection.algorithm;
  Arithmetic rules{.dtype = problem.dtype, .op = problem.op, .group = problem.ranks};
  if (!reduces(problem.collective)) {
    if (policies.accumulate || policies.mean || policies.nan)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{} only copies; accumulate, mean and NaN policies are about ops",
                              name(problem.collective)));
    rules.op = ReduceOp::sum;
    return rules;
  }
  if (policies.nan && !is_ordered(problem.op) && *policies.nan == NanPolicy::ignore)
    throw Error(ErrorKind::bad_argument,
                fmt::format("NaN policy ignore is about min and max; with op {} a NaN gives NaN",
                            name(problem.op)));
  rules.accumulate = accumulate_of(problem, algorithm, policies.accumulate);
  rules.mean = mean_of(problem, algorithm, rules.accumulate, policies.mean);
  if (is_ordered(problem.op)) rules.nan = policies.nan.value_or(algorithm.arithmetic.nan);
  if (algorithm.refine != nullptr) algorithm.refine(problem, selection.parameters, rules);
  if (!rules.premultiplies()) rules.fuse = Fuse::never;
  // NCCL's choice among NaNs is about ignored ones; who asks for another policy gets one pattern.
  if (rules.dtype != DType::f64 || rules.accumulate != Accumulate::storage ||
      (is_ordered(problem.op) && rules.nan == NanPolicy::propagate))
    rules.nan_bits = NanBits::one_pattern;
  return rules;
}

bool is_tree_fold(const Algorithm& algorithm, const Arithmetic& rules) {
  if (!algorithm.is_tree_fold || rules.premultiplies()) return false;
  Problem problem;
  problem.dtype = rules.dtype;
  problem.op = rules.op;
  return rules.accumulate == widest(problem);
}

}  // namespace vranks
