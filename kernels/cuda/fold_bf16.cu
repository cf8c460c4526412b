// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/fold.hpp"
#include "kernels/cuda/fold_float.cuh"

namespace vranks::cuda {

void fold_bf16(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream) {
  fold_float<BFloat16>(fold, plan, workspace, stream);
}

}  // namespace vranks::cuda
