// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How `vranks check --against nccl` shows what it compared: a line a number of ranks, dtype and op
// for people, a record a comparison for programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/nccl_check_options.hpp"
#include "cli/nccl_comparison.hpp"
#include "collectives/peers/nccl.hpp"

namespace vranks::cli {

struct NcclCheckRun {
  std::string version, path;                // of the library
  std::string rules;                        // the version whose rules were compared
  std::string device;                       // "cuda:0"
  std::map<std::int64_t, NcclLists> lists;  // of each number of ranks; where they were read
};

// Prints `all`, of which there is one at least.
void print_nccl_check(const NcclCheckOptions& options, const NcclCheckRun& run,
                      const std::vector<NcclComparison>& all);

}  // namespace vranks::cli
