// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How Open MPI cuts vectors and ranks: segments, phases of the segmented ring, ranks that are one
// too many for a power of two, and the halving that three of its algorithms do.
#pragma once

#include <cstdint>
#include <functional>

#include "collectives/layout.hpp"
#include "collectives/parameters.hpp"
#include "collectives/problem.hpp"
#include "collectives/schedule.hpp"

namespace vranks::openmpi {

// Elements of a segment of --segment-bytes: `elements` if the vector isn't cut.
std::int64_t segment_elements(const Problem& problem, std::int64_t segment_bytes);

// One chunk; its intervals are the segments, each of which does the same transfers.
Layout segments_layout(const Problem&, const ScheduleShape&, const Parameters&);

// Phases that the segmented ring cuts its blocks into; 0 if the vector is too short for it.
std::int64_t ring_phases(const Problem& problem, std::int64_t segment_bytes);

// R blocks, the first ones one longer, each cut likewise into its chunks / R phases.
Layout phases_layout(const Problem&, const ScheduleShape&, const Parameters&);

// A part of the chunks or blocks.
struct Window {
  std::int32_t first = 0, count = 1;
};

// `power`, the largest power of two up to R, virtual ranks. Of the R - power = extra ranks too many
// each forms a pair: ranks 2j and 2j + 1 are virtual rank j, for j < extra; ranks behind the pairs
// are one each.
struct VirtualRanks {
  std::int32_t ranks = 1, power = 1, extra = 0, levels = 0;  // levels: log2 power

  explicit VirtualRanks(std::int64_t ranks);

  // The rank that acts for v: of a pair the even or the odd one.
  std::int32_t even(std::int32_t v) const { return v < extra ? 2 * v : v + extra; }
  std::int32_t odd(std::int32_t v) const { return v < extra ? 2 * v + 1 : v + extra; }
  // The blocks of the ranks that the virtual ranks [w.first, w.first + w.count) stand for.
  Window blocks(Window w) const { return {even(w.first), even(w.first + w.count) - even(w.first)}; }
};

// Partners in the order of their distance: 1, 2, 4 ... or power / 2 ... 2, 1.
enum class Partners : std::uint8_t { nearest_first, farthest_first };

std::int32_t distance(const VirtualRanks& ranks, Partners partners, std::int32_t level);

// The part of [0, power) that v still reduces after `level` halvings: at each it keeps the left
// half if it is the lower of the two partners.
Window window(const VirtualRanks& ranks, Partners partners, std::int32_t v, std::int32_t level);

// Where things are while vectors are halved.
struct Halving {
  Partners partners = Partners::nearest_first;
  bool higher_left = false;  // on which side the partial result of the higher virtual rank stands
  std::function<std::int32_t(std::int32_t)> player;       // the rank that acts for v
  std::function<Window(Window)> chunks;                   // of a window
  std::function<ChunkRef(std::int32_t, Window)> partial;  // a rank's partial results of such chunks
};

// Partners exchange halves of what both have and reduce the one they keep, until v has the whole
// sum of window(v, levels). Pairs must be combined already, in `partial` of their player.
void add_halving(ScheduleBuilder& builder, const VirtualRanks& ranks, const Halving& halving);

// A reduce-scatter by halving: of a pair the odd rank acts, on behalf of both.
Schedule halving_reduce_scatter(const Problem& problem, Partners partners, bool higher_left);

}  // namespace vranks::openmpi
