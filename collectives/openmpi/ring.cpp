// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/openmpi/ring.hpp"

#include <fmt/format.h>

#include <limits>

#include "ranks/error.hpp"

namespace vranks::openmpi {

namespace {

std::int32_t wrap(std::int32_t rank, std::int32_t ranks) {
  return ((rank % ranks) + ranks) % ranks;
}

// Block b starts at rank b + shift. All-reduce works in the outputs, reduce-scatter in scratch.
void add_reduction(ScheduleBuilder& builder, std::int32_t ranks, std::int32_t phases,
                   std::int32_t phase, bool scatters) {
  const std::int32_t shift = scatters ? 1 : 0;
  for (std::int32_t s = 1; s < ranks; ++s) {
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t block = wrap(r - s - shift, ranks), from = wrap(r - 1, ranks);
      const std::int32_t chunk = block * phases + phase;
      const auto partial = [&](std::int32_t rank) {
        return scatters ? scratch(rank, chunk) : output(rank, chunk);
      };
      builder.add(reduce(scatters && s == ranks - 1 ? output(r, phase) : partial(r),
                         input(r, chunk), s == 1 ? input(from, chunk) : partial(from)));
    }
    builder.end_step();
  }
}

// Rank r begins with block r + lead.
void add_distribution(ScheduleBuilder& builder, std::int32_t ranks, std::int32_t phases,
                      std::int32_t lead) {
  for (std::int32_t s = 1; s < ranks; ++s) {
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t first = wrap(r - s + lead, ranks) * phases;
      builder.add(copy(output(r, first, phases), output(wrap(r - 1, ranks), first, phases)));
    }
    builder.end_step();
  }
}

}  // namespace

Schedule ring(const Problem& problem, std::int32_t phases) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const bool gathers = problem.collective == Collective::all_gather;
  const bool scatters = problem.collective == Collective::reduce_scatter;
  if (std::int64_t{ranks} * phases > std::numeric_limits<std::int32_t>::max())
    throw Error(
        ErrorKind::not_supported,
        fmt::format("a ring of {} ranks with {} phases has more than 2^31 chunks", ranks, phases));
  const std::int32_t chunks = ranks * phases;
  ScheduleBuilder builder({problem.collective, ranks, 0, chunks, scatters ? chunks : 0});
  if (gathers || ranks == 1) {
    for (std::int32_t r = 0; r < ranks; ++r)
      builder.add(copy(output(r, r * phases, phases), input(r, 0, phases)));
    builder.end_step();
  }
  if (!gathers)
    for (std::int32_t phase = 0; phase < phases; ++phase)
      add_reduction(builder, ranks, phases, phase, scatters);
  if (!scatters) add_distribution(builder, ranks, phases, gathers ? 0 : 1);
  return std::move(builder).build();
}

}  // namespace vranks::openmpi
