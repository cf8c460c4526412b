// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What `vranks run` found, and how it says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "collectives/collectives.hpp"
#include "collectives/exact.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

struct Outcome {
  Problem problem;
  Provenance provenance;
  std::string device_name;
  Tensor in;
  Tensor out;
  std::int64_t equal_ranks = 0;  // of the result, whose bits are those of rank 0
  ErrorBound bound;
  Deviation deviation;
  std::vector<double> seconds;  // of each timed call, sorted

  bool is_all_reduce() const { return problem.collective == Collective::all_reduce; }
  std::int64_t result_ranks() const { return is_all_reduce() ? problem.ranks : 1; }
  Shape slice_shape() const { return {in.shape().begin() + 1, in.shape().end()}; }
  double median_seconds() const { return seconds[seconds.size() / 2]; }
  double bytes_moved() const { return static_cast<double>(in.bytes() + out.bytes()); }
  bool is_right() const { return deviation.over_bound == 0 && equal_ranks == result_ranks(); }
};

// `output` is the file that the result was saved to; empty: none.
void print_run(const Outcome& outcome, const ProblemOptions& options, const std::string& output,
               Format format);

}  // namespace vranks::cli
