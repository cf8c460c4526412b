// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry points of the compiled kernels. Each takes the folds of some dtypes; several files, so that
// nvcc compiles them side by side.
#pragma once

#include "kernels/backend.hpp"
#include "kernels/cuda/plan.hpp"

namespace vranks::cuda {

void fold_f32(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream);
void fold_f64(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream);
void fold_f16(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream);
void fold_bf16(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream);
// f8e4m3 and f8e5m2.
void fold_f8(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream);
// i32 and i64: sum, mean, min, max.
void fold_integer(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream);
// Every integer type and op.
void fold_any_integer(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream);

// R = 1 keeps bits: the row is copied.
void copy_row(const TreeFold& fold, Stream stream);

}  // namespace vranks::cuda
