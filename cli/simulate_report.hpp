// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What `vranks simulate` found: rows in nccl-tests' columns, which algorithm is the fastest from
// which size on, and of a single call what its time is made of.
#pragma once

#include "cli/simulate_options.hpp"
#include "cli/simulated.hpp"

namespace vranks::cli {

// Writes --trace, too.
void print_simulated(const SimulateOptions& options, Simulated& simulated);

}  // namespace vranks::cli
