// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/fold.hpp"
#include "kernels/cuda/fold_float.cuh"

namespace vranks::cuda {

void fold_f8(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream) {
  if (fold.dtype == DType::f8e4m3)
    fold_float<Float8E4M3>(fold, plan, workspace, stream);
  else
    fold_float<Float8E5M2>(fold, plan, workspace, stream);
}

}  // namespace vranks::cuda
