// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What `vranks run` found, and how it says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
  std::int64_t equal_ranks = 0;  // of the result, whose bits are those they should have
  ErrorBound bound;
  Deviation deviation;
  std::vector<double> seconds;  // of each timed call, sorted

  bool combines() const { return reduces(problem.collective); }
  bool is_scattered() const { return problem.collective == Collective::reduce_scatter; }
  // Ranks that should hold the same.
  std::int64_t result_ranks() const {
    const bool is_alike = !is_scattered() && problem.collective != Collective::reduce;
    return is_alike ? problem.ranks : 1;
  }
  Shape slice_shape() const { return {in.shape().begin() + 1, in.shape().end()}; }
  double median_seconds() const { return seconds[seconds.size() / 2]; }
  double bytes_moved() const { return static_cast<double>(in.bytes() + out.bytes()); }
  bool is_right() const { return deviation.over_bound == 0 && equal_ranks == result_ranks(); }
};

// What was asked for. Names of files are empty where there are none.
struct RunRequest {
  std::string_view algorithm;
  std::string_view input;
  std::uint64_t seed = 0;
  std::string_view in_place;
  std::string_view output;
  std::string_view steps;
};

void print_run(const Outcome& outcome, const RunRequest& request, Format format);

}  // namespace vranks::cli
