// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/openmpi/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "ranks/error.hpp"

namespace vranks::openmpi {

std::int64_t segment_elements(const Problem& problem, std::int64_t segment_bytes) {
  if (segment_bytes < 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("a segment can't have {} bytes", segment_bytes));
  const auto size = static_cast<std::int64_t>(size_bytes(problem.dtype));
  if (segment_bytes < size || segment_bytes >= size * problem.elements) return problem.elements;
  return segment_bytes / size + (segment_bytes % size > size / 2 ? 1 : 0);
}

Layout segments_layout(const Problem& problem, const ScheduleShape& shape,
                       const Parameters& parameters) {
  const std::int64_t elements = problem.elements;
  const std::int64_t segment = segment_elements(problem, parameters.segment_bytes);
  std::vector<std::vector<Interval>> chunks(static_cast<std::size_t>(shape.chunks));
  for (std::int64_t begin = 0; begin < elements; begin += segment)
    chunks.front().push_back({begin, std::min(begin + segment, elements), begin});
  return {elements, chunks};
}

std::int64_t ring_phases(const Problem& problem, std::int64_t segment_bytes) {
  const std::int64_t round = problem.ranks * segment_elements(problem, segment_bytes);
  if (problem.elements < round || round == 0) return 0;
  const std::int64_t rest = problem.elements % round;
  return problem.elements / round + (rest >= problem.ranks && rest > round / 2 ? 1 : 0);
}

Layout phases_layout(const Problem& problem, const ScheduleShape& shape, const Parameters&) {
  std::vector<std::vector<Interval>> chunks;
  const std::int64_t phases = shape.chunks / shape.ranks;
  std::int64_t begin = 0;
  for (std::int64_t b = 0; b < shape.ranks; ++b) {
    const std::int64_t block =
        problem.elements / shape.ranks + (b < problem.elements % shape.ranks ? 1 : 0);
    for (std::int64_t phase = 0; phase < phases; ++phase) {
      const std::int64_t length = block / phases + (phase < block % phases ? 1 : 0);
      chunks.push_back({{begin, begin + length, begin}});
      begin += length;
    }
  }
  return {problem.elements, chunks};
}

VirtualRanks::VirtualRanks(std::int64_t all) : ranks(static_cast<std::int32_t>(all)) {
  power = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(ranks)));
  extra = ranks - power;
  levels = std::countr_zero(static_cast<std::uint32_t>(power));
}

std::int32_t distance(const VirtualRanks& ranks, Partners partners, std::int32_t level) {
  return partners == Partners::nearest_first ? 1 << level : ranks.power >> (level + 1);
}

Window window(const VirtualRanks& ranks, Partners partners, std::int32_t v, std::int32_t level) {
  Window w{0, ranks.power};
  for (std::int32_t l = 0; l < level; ++l) {
    w.count /= 2;
    if ((v & distance(ranks, partners, l)) != 0) w.first += w.count;
  }
  return w;
}

void add_halving(ScheduleBuilder& builder, const VirtualRanks& ranks, const Halving& halving) {
  for (std::int32_t level = 0; level < ranks.levels; ++level) {
    for (std::int32_t v = 0; v < ranks.power; ++v) {
      const Window kept = halving.chunks(window(ranks, halving.partners, v, level + 1));
      const auto value = [&](std::int32_t u) {
        const std::int32_t rank = halving.player(u);
        return level == 0 && u >= ranks.extra ? input(rank, kept.first, kept.count)
                                              : halving.partial(rank, kept);
      };
      const std::int32_t peer = v ^ distance(ranks, halving.partners, level);
      const ChunkRef lower = value(std::min(v, peer)), higher = value(std::max(v, peer));
      builder.add(reduce(halving.partial(halving.player(v), kept),
                         halving.higher_left ? higher : lower,
                         halving.higher_left ? lower : higher));
    }
    builder.end_step();
  }
}

Schedule halving_reduce_scatter(const Problem& problem, Partners partners, bool higher_left) {
  const VirtualRanks ranks(problem.ranks);
  ScheduleBuilder builder(
      {Collective::reduce_scatter, ranks.ranks, 0, ranks.ranks, ranks.ranks > 1 ? ranks.ranks : 0});
  if (ranks.ranks == 1) {
    builder.add(copy(output(0, 0), input(0, 0)));
    builder.end_step();
    return std::move(builder).build();
  }
  for (std::int32_t j = 0; j < ranks.extra; ++j)
    builder.add(reduce(scratch(2 * j + 1, 0, ranks.ranks),
                       input(2 * j + (higher_left ? 1 : 0), 0, ranks.ranks),
                       input(2 * j + (higher_left ? 0 : 1), 0, ranks.ranks)));
  builder.end_step();
  add_halving(
      builder, ranks,
      {.partners = partners,
       .higher_left = higher_left,
       .player = [&](std::int32_t v) { return ranks.odd(v); },
       .chunks = [&](Window w) { return ranks.blocks(w); },
       .partial = [](std::int32_t rank, Window w) { return scratch(rank, w.first, w.count); }});
  // Everyone hands the one or two blocks that it has to the ranks that they belong to.
  for (std::int32_t v = 0; v < ranks.power; ++v) {
    const Window mine = ranks.blocks(window(ranks, partners, v, ranks.levels));
    for (std::int32_t d = mine.first; d < mine.first + mine.count; ++d)
      builder.add(copy(output(d, 0), scratch(ranks.odd(v), d)));
  }
  builder.end_step();
  return std::move(builder).build();
}

}  // namespace vranks::openmpi
