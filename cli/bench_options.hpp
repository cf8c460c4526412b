// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of `vranks bench`: those of `run` where they are about the same, sizes and repeats
// with nccl-tests' letters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/bench_case.hpp"
#include "cli/options.hpp"

namespace vranks::cli {

// What is to become of the numbers.
struct BenchRequest {
  Format format = Format::table;
  std::string output;  // a file for the JSON; empty: none
  bool all_algorithms = false;
  bool report = false;
  std::int64_t trials = 10;
  bool says_trials = false;
  std::optional<std::int64_t> end_bytes = {}, step_factor = {}, step_bytes = {};
};

OptionsDescription bench_options(BenchOptions& options, BenchRequest& request);

// Fills in what wasn't said: how many ranks there are, whom a permute sends to, which algorithms
// are all. Throws bad_argument for options that contradict each other.
void check_bench_options(BenchOptions& options, BenchRequest& request);

// Throws what calls of that algorithm would throw, without running one.
void check_bench_calls(const BenchOptions& options, const std::string& algorithm,
                       const std::vector<BenchSize>& sizes, Device device);

}  // namespace vranks::cli
