// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Rings, one or several side by side: chunks that travel from rank to neighbour, pick up every
// rank's part, and travel once more to be copied. The tables are in ring.cpp,
// bidirectional_ring.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/schedule.hpp"

namespace vranks::algorithms_of {

// Ring k goes from rank r to rank r + directions[k] (1 or -1) and has the chunks c * K + k of K
// rings, c in [0, R). Chunk c starts at rank c; of a reduce-scatter at the rank behind c, to end
// at c.
inline Schedule ring_schedule(const Problem& problem, std::span<const std::int32_t> directions) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const auto root = static_cast<std::int32_t>(problem.root);
  const auto rings = static_cast<std::int32_t>(directions.size());
  const bool scatters = problem.collective == Collective::reduce_scatter;
  const bool all = problem.collective == Collective::all_reduce;
  const bool gathers = problem.collective == Collective::all_gather;
  ScheduleBuilder builder({.collective = problem.collective,
                           .ranks = ranks,
                           .root = root,
                           .chunks = ranks * rings,
                           .scratch_chunks = all || gathers ? 0 : ranks * rings});
  const auto wrap = [&](std::int32_t r) { return ((r % ranks) + ranks) % ranks; };
  const auto partial = [&](std::int32_t rank, std::int32_t chunk) {
    return all ? output(rank, chunk) : scratch(rank, chunk);
  };
  // f(ring, its direction, rank) for all: one step of every ring.
  const auto for_each_rank = [&](auto&& f) {
    for (std::int32_t k = 0; k < rings; ++k)
      for (std::int32_t r = 0; r < ranks; ++r) f(k, directions[static_cast<std::size_t>(k)], r);
    builder.end_step();
  };

  if (ranks == 1) {
    builder.add(copy(output(0, 0, rings), input(0, 0, rings)));
    builder.end_step();
    return std::move(builder).build();
  }
  for (std::int32_t s = 1; s < ranks && !gathers; ++s) {
    // Rank r adds its own part to chunk c, which its neighbour has had for one step.
    for_each_rank([&](std::int32_t k, std::int32_t direction, std::int32_t r) {
      const std::int32_t from = wrap(r - direction);
      const std::int32_t c = wrap(r - direction * (scatters ? s + 1 : s)) * rings + k;
      const ChunkRef to = scatters && s == ranks - 1 ? output(r, k) : partial(r, c);
      builder.add(reduce(to, s == 1 ? input(from, c) : partial(from, c), input(r, c)));
    });
  }
  for (std::int32_t s = 1; s < ranks && (all || gathers); ++s) {
    if (gathers && s == 1)
      for (std::int32_t r = 0; r < ranks; ++r)
        builder.add(copy(output(r, r * rings, rings), input(r, 0, rings)));
    // Rank r has whole chunks r (of an all-gather) or r + 1; now its neighbour's.
    for_each_rank([&](std::int32_t k, std::int32_t direction, std::int32_t r) {
      const std::int32_t from = wrap(r - direction);
      const std::int32_t c = wrap(r - direction * (all ? s - 1 : s)) * rings + k;
      builder.add(copy(output(r, c), gathers && s == 1 ? input(from, k) : output(from, c)));
    });
  }
  if (problem.collective == Collective::reduce)
    for_each_rank([&](std::int32_t k, std::int32_t direction, std::int32_t r) {
      const std::int32_t c = r * rings + k;
      builder.add(copy(output(root, c), scratch(wrap(r - direction), c)));
    });
  return std::move(builder).build();
}

}  // namespace vranks::algorithms_of
