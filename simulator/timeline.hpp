// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// When everything happens: what a simulation gives.
#pragma once

#include <cstdint>
#include <vector>

namespace vranks {

// A time a lane spends on one piece of an instruction, and why it did not begin earlier. Times are
// in seconds from the start of the call.
struct TimedEvent {
  enum class Kind : std::uint8_t { work, message };

  std::int32_t lane = 0;
  std::int32_t instruction = 0;  // number in the program
  std::int32_t window = 0;
  std::int64_t piece = 0;
  Kind kind = Kind::work;
  std::int64_t bytes = 0;
  double begin = 0, end = 0;
  double arrival = 0;       // of a message at its receiver
  std::int32_t link = -1;   // of a message: the slowest of its links
  std::int32_t cause = -1;  // the event that had to end first; -1: the start of the call
};

struct LinkUse {
  double bytes = 0;
  double busy = 0;  // seconds in which at least one message was on it
};

struct Timeline {
  double seconds = 0;  // of the call: until its last rank is done; at least the floor
  double floor = 0;
  double device_seconds = 0;  // the same without the floor
  std::vector<double> ranks;  // until each rank is done
  std::vector<LinkUse> links;
  double messages = 0;  // pieces of messages
  double busiest = 0;   // seconds that the link or core with most to do is occupied for
  double counted = 0;   // seconds that stand for what does as the rest did, and wasn't run
  std::vector<TimedEvent> events;  // where they were asked for, of what was run
};

}  // namespace vranks
