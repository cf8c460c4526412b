// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/fold.hpp"
#include "kernels/cuda/launch.cuh"

namespace vranks::cuda {

namespace {

template <class T>
void fold_common(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream) {
  using namespace arithmetic;
  switch (fold.op) {
    case ReduceOp::sum:
      return launch_fold<IntegerSum<T>, true>(fold, plan, workspace, stream);
    case ReduceOp::mean:
      return launch_fold<IntegerMean<T>, true>(fold, plan, workspace, stream);
    case ReduceOp::min:
    case ReduceOp::max:
      return launch_fold<MinMax<T>, true>(fold, plan, workspace, stream);
    case ReduceOp::prod:
      return fold_any_integer(fold, plan, workspace, stream);
    default:
      break;  // no op of a TreeFold
  }
}

}  // namespace

void fold_integer(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream) {
  if (fold.dtype == DType::i32)
    fold_common<std::int32_t>(fold, plan, workspace, stream);
  else
    fold_common<std::int64_t>(fold, plan, workspace, stream);
}

}  // namespace vranks::cuda
