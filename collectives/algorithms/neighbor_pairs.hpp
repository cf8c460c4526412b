// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The all-gather in which ranks exchange with one neighbour and the other in turn; the table is in
// neighbor_exchange.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/schedule.hpp"

namespace vranks::algorithms_of {

// Precondition: ranks are even.
inline Schedule neighbor_exchange_schedule(std::int32_t ranks) {
  const auto wrap = [&](std::int32_t r) { return (r + ranks) % ranks; };
  ScheduleBuilder builder({.collective = Collective::all_gather, .ranks = ranks, .chunks = ranks});
  for (std::int32_t r = 0; r < ranks; ++r) builder.add(copy(output(r, r), input(r, 0)));
  builder.end_step();
  for (std::int32_t r = 0; r < ranks; ++r)
    builder.add(copy(output(r, r ^ 1), output(r ^ 1, r ^ 1)));
  builder.end_step();
  // The first of the two blocks that came last.
  std::vector<std::int32_t> last(static_cast<std::size_t>(ranks));
  for (std::int32_t r = 0; r < ranks; ++r) last[static_cast<std::size_t>(r)] = r & ~1;
  for (std::int32_t step = 1; step < ranks / 2; ++step) {
    const std::vector<std::int32_t> sent = last;
    for (const std::int32_t parity : {0, 1})
      for (std::int32_t r = parity; r < ranks; r += 2) {
        // Even ranks turn to the rank before them at odd steps, odd ranks to the one behind.
        const std::int32_t from = wrap(r + (parity == step % 2 ? 1 : -1));
        const std::int32_t first = sent[static_cast<std::size_t>(from)];
        builder.add(copy(output(r, first, 2), output(from, first, 2)));
        last[static_cast<std::size_t>(r)] = first;
      }
    builder.end_step();
  }
  return std::move(builder).build();
}

}  // namespace vranks::algorithms_of
