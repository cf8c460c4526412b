// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of `vranks run`: what to compute on which data, how, and where results go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/algorithm_options.hpp"
#include "cli/call_memory.hpp"
#include "cli/call_options.hpp"
#include "cli/job.hpp"
#include "cli/options.hpp"
#include "collectives/processes/engine.hpp"

namespace vranks::cli {

struct RunOptions {
  ProblemOptions problem;
  CallDetails details;
  GivenParameters parameters;
  Policies policies;
  std::optional<bool> by_steps;  // executor steps or fused; none: not said
  Place place = Place::apart;
  std::optional<Engine> engine;  // none: not said
  std::string nccl_library;      // of engine nccl; empty: the system's
  double timeout = Job::default_timeout;
  Format format = Format::table;
  std::string output, output_ranks, steps;  // files; empty: none
};

OptionsDescription run_options(RunOptions& options);

// What can be said before data is there; --steps fills in the executor. Throws bad_argument for
// options that contradict each other.
void check_run_options(RunOptions& options);

// Throws not_supported for options about ranks that share the memory of one process, where an
// engine passes messages between `processes`.
void check_over_processes(const RunOptions& options, int processes);

// The call on a tensor of that shape, whose elements of no dtype have `opaque_bytes`. Throws
// bad_argument or not_supported for what was asked for and can't be done with it.
CollectiveOptions run_call(const RunOptions& options, const Shape& shape, DType dtype,
                           std::int64_t opaque_bytes);

}  // namespace vranks::cli
