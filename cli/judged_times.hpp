// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks simulate --measured`: predicted beside published times.
#pragma once

#include "cli/simulate_options.hpp"
#include "simulator/topology.hpp"

namespace vranks::cli {

// Changes costs as --set says, of every protocol. Throws bad_argument for what isn't one.
void apply_costs(const std::vector<std::pair<std::string, std::string>>& costs,
                 SoftwareCosts& software);

// Simulates every row of the file that a topology and an algorithm fit, and prints ratios by
// machine, algorithm and size band; the other rows with the reason. Returns an ExitCode.
int judge_times(const SimulateOptions& options);

}  // namespace vranks::cli
