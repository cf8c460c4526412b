// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that name a schedule, for commands that look at schedules and run nothing: one that
// an algorithm builds, or one from a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "cli/algorithm_options.hpp"
#include "cli/call_options.hpp"
#include "collectives/plan.hpp"
#include "collectives/program.hpp"

namespace vranks::cli {

struct ScheduleOptions {
  std::optional<Collective> collective;
  std::string algorithm;  // empty: not said
  GivenParameters parameters;
  std::optional<std::int64_t> root;
  std::optional<Permutation> permutation;  // of permute
  std::optional<std::int64_t> elements;  // of each rank; none: no size, so no rules that go by size
  std::optional<DType> dtype;
  std::optional<ReduceOp> op;
  std::string input;  // a file instead of all that
};

inline constexpr std::int64_t most_ranks = INT32_MAX;

OptionsDescription schedule_options(ScheduleOptions& options);

// Throws bad_argument for options that contradict each other. `says_ranks`: whether --ranks was
// given.
void check_schedule_options(const ScheduleOptions& options, bool says_ranks);

struct BuiltSchedule {
  Problem problem;  // no elements: of any size
  Selection selection;
  Schedule schedule;
};

// What runs if that algorithm is asked for; of a _v form the schedule of its even one, whose chunks
// are those that counts place. Where no size is given: the algorithm itself, or if it
// has no schedule of its own (it picks others by size) what it picks for 48 R elements. Throws
// bad_argument, not_supported if there is none over that many ranks, not_available if there is no
// memory for it.
BuiltSchedule build_schedule_for(const Algorithm& algorithm, Collective collective,
                                 std::int64_t ranks, const ScheduleOptions& options);

// A schedule or program from a JSON file. Throws io if it can't be read, bad_input for what isn't
// one.
std::variant<Schedule, Program> load_schedule(const std::string& path);

}  // namespace vranks::cli
