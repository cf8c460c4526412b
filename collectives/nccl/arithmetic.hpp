// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What NCCL's kernels do beside the order: where a mean's scaling is fused with the first addition,
// and which of two f64 NaNs survives. Measured with NCCL 2.30.7 on sm_90; another compiler or GPU
// may fuse elsewhere.
#pragma once

#include "collectives/algorithm.hpp"

namespace vranks::nccl {

// Rounds to the tensor's dtype at every hop; a mean's inputs are scaled first; a NaN loses.
inline constexpr ArithmeticDefaults defaults = {
    .accumulate = Accumulate::storage, .mean = MeanMode::premultiply, .nan = NanPolicy::ignore};

// For Algorithm::refine.
void refine(const Problem& problem, const Parameters& parameters, Arithmetic& arithmetic);

}  // namespace vranks::nccl
