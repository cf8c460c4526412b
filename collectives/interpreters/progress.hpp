// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How far the lanes of a program get. Each channel has one lane at either end, and waiting is all
// that lanes do to one another, so whether a program blocks, and where, doesn't depend on how fast
// which lane is: one run shows it for all.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "collectives/program.hpp"

namespace vranks {

// The strictest channel that holds messages: what doesn't block here doesn't at greater depths.
inline constexpr std::int32_t default_depth = 1;
inline constexpr std::int32_t unlimited_depth = std::numeric_limits<std::int32_t>::max();

// Why a lane can't go on: an instruction that it waits for, no message to receive, a channel that
// has no room for one more message (at depth 0: nobody receives it).
enum class Lack : std::uint8_t { wait, message, room };

struct Stuck {
  Place at;
  Lack lack = Lack::wait;
  Place needs;  // the instruction that would help; lane -1 if there is none
};

struct Progress {
  // The instructions that took effect (a send, with its message on the way), each one behind all
  // that have to come before it.
  std::vector<Place> order;
  std::vector<Stuck> stuck;  // empty if the program ran to its end
};

Progress progress(const Program& program, std::int32_t depth);

// By number of instruction: that of the instruction that sends what this one receives; -1 if it
// receives nothing, or nobody sends that.
std::vector<std::int32_t> match_messages(const Program& program);

}  // namespace vranks
