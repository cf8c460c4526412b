// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves without hops: a rank reads what it needs from all ranks at once, and combines it by itself
// in rank order.
#pragma once

#include <cstdint>

#include "collectives/schedule.hpp"

namespace vranks::algorithms_of {

// Ranks [begin, end) read one chunk of every rank, own one included, into their scratch chunks
// 0 to R - 1, and combine them: ((x0 + x1) + x2) + ... Rank r reads chunk_of(r); the result is
// written to target_of(r). One step with messages, then R - 1 without.
template <class ChunkOf, class TargetOf>
void add_read_and_combine(ScheduleBuilder& builder, std::int32_t ranks, std::int32_t begin,
                          std::int32_t end, ChunkOf&& chunk_of, TargetOf&& target_of) {
  if (ranks == 1) {
    builder.add(copy(target_of(0), input(0, chunk_of(0))));
    builder.end_step();
    return;
  }
  for (std::int32_t r = begin; r < end; ++r)
    for (std::int32_t s = 0; s < ranks; ++s)
      builder.add(copy(scratch(r, s), input(s, chunk_of(r))));
  builder.end_step();
  // The own input goes through scratch too, so that all ranks do the very same.
  for (std::int32_t s = 1; s < ranks; ++s) {
    for (std::int32_t r = begin; r < end; ++r)
      builder.add(
          reduce(s == ranks - 1 ? target_of(r) : scratch(r, 0), scratch(r, 0), scratch(r, s)));
    builder.end_step();
  }
}

// Every rank reads the one chunk of every rank's input.
inline void add_gather(ScheduleBuilder& builder, std::int32_t ranks) {
  for (std::int32_t r = 0; r < ranks; ++r)
    for (std::int32_t s = 0; s < ranks; ++s) builder.add(copy(output(r, s), input(s, 0)));
  builder.end_step();
}

}  // namespace vranks::algorithms_of
