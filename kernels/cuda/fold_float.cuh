// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/launch.cuh"

namespace vranks::cuda {

template <class T>
void fold_float(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream) {
  using namespace arithmetic;
  switch (fold.op) {
    case ReduceOp::sum:
    case ReduceOp::mean:
      return launch_fold<FloatSum<T>, true>(fold, plan, workspace, stream);
    case ReduceOp::prod:
      return launch_fold<FloatProduct<T>, false>(fold, plan, workspace, stream);
    case ReduceOp::min:
    case ReduceOp::max:
      return launch_fold<MinMax<T>, true>(fold, plan, workspace, stream);
    default:
      break;  // no op of a TreeFold
  }
}

}  // namespace vranks::cuda
