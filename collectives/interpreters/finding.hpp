// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a schedule or program, as data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/schedule.hpp"

namespace vranks {

// name, what it says about
#define VR_FINDINGS(X)                                                              \
  X(missing_contribution, "an output chunk lacks what the collective puts into it") \
  X(repeated_contribution, "an output chunk holds a contribution more than once")   \
  X(wrong_contribution, "an output chunk holds what belongs elsewhere or nowhere")  \
  X(unwritten_output, "an output chunk is never written")                           \
  X(unwritten_read, "a chunk is read that nothing has written")                     \
  X(write_write_race, "two lanes write a chunk in no order")                        \
  X(write_read_race, "a lane writes a chunk and another one reads it, in no order") \
  X(unmatched_send, "a message is sent that nobody receives")                       \
  X(unmatched_receive, "a message is received that nobody sends")                   \
  X(message_size, "a message is received as more or fewer chunks than were sent")   \
  X(cycle, "instructions wait for one another in a circle")                         \
  X(blocked, "lanes wait for one another because channels hold no more messages")

enum class FindingKind : std::uint8_t {
#define X(name, meaning) name,
  VR_FINDINGS(X)
#undef X
};
std::string_view name(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::missing_contribution;
  std::int32_t rank = -1;
  std::int32_t lane = -1;  // its id; -1 in a schedule
  std::int32_t step = -1;  // of the schedule, or of the lane
  std::optional<ChunkRef> chunk = {};
  std::string expected = {}, found = {};
};

// "cycle: rank 0 lane 0 step 0: expected ..., found ...".
std::string to_string(const Finding& finding);

// Counts all findings and keeps the first ones.
struct Findings {
  std::vector<Finding> list;
  std::int64_t total = 0;
  std::size_t most = 100;  // that are kept

  bool none() const { return total == 0; }
  // `make` gives the finding; it isn't called for one that isn't kept.
  template <class Make>
  void add(Make&& make) {
    ++total;
    if (list.size() < most) list.push_back(std::forward<Make>(make)());
  }
};

}  // namespace vranks
