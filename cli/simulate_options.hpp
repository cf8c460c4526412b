// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of `vranks simulate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/algorithm_options.hpp"
#include "cli/bench_sizes.hpp"
#include "cli/options.hpp"
#include "collectives/problem.hpp"

namespace vranks::cli {

struct SimulateOptions {
  Collective collective = Collective::all_reduce;
  std::optional<ReduceOp> op;
  DType dtype = DType::f32;
  std::optional<std::int64_t> root;
  std::optional<std::int64_t> ranks;  // none: as many as a node of the machine holds
  std::vector<std::string> algorithms = {"all"};
  GivenParameters parameters;
  SizeRange sizes = {.begin = 1 << 10, .end = std::int64_t{1} << 30};
  std::optional<std::int64_t> step_factor;
  std::string topology = "nvswitch_h100";
  bool says_topology = false;                              // whether it was given
  std::vector<std::pair<std::string, std::string>> costs;  // name and value, as given
  std::string trace;     // a file for a trace of the only row; empty: none
  std::string measured;  // a file of published times to compare with; empty: none
  Format format = Format::table;
};

OptionsDescription simulate_options(SimulateOptions& options);

// Throws bad_argument for options that contradict each other.
void check_simulate_options(SimulateOptions& options);

}  // namespace vranks::cli
