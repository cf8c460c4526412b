// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What one process of nccl_bench measures: one setting of NCCL, in turns with vranks.
#pragma once

#include "tests/bench/nccl_bench_options.hpp"

namespace vranks::nccl_bench {

// Of the first setting, channels and ranks: a line of JSON for each dtype and size. Sets NCCL's
// environment, so at most once a process, before CUDA is used. Throws what CUDA, NCCL and vranks
// complain about.
void measure(const Options& options);

}  // namespace vranks::nccl_bench
