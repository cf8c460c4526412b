// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ring: messages between neighbours only. R chunks travel around: chunk c starts at rank c, picks
// up every rank's part on the way up, and is whole at rank c - 1, from where it goes around once
// more. All-reduce over R = 4; a row is a rank, a column a chunk, 0+1 the sum of ranks 0 and 1, *
// the sum of all, . an untouched input:
//
//   rank  step 1               step 2                    step 3                        step 6
//   0     .    .    .    3+0   .      .      2+3+0  3+0  .      *      2+3+0  3+0      * * * *
//   1     0+1  .    .    .     0+1    .      .    3+0+1  0+1    .      *      3+0+1    * * * *
//   2     .    1+2  .    .     0+1+2  1+2    .      .    0+1+2  1+2    .      *        * * * *
//   3     .    .    2+3  .     .      1+2+3  2+3    .    *      1+2+3  2+3    .        * * * *
//
// reduce-scatter and all-gather are its two halves (block d starts at d + 1 and ends at d); reduce
// sends what the first half made to the root. In an all-to-all all blocks travel up; rank r keeps
// its own and passes the others on. Over R = 4, rs being the block from r for s; what comes in:
//
//   rank   step 1      step 2   step 3
//   0      30 31 32    20 21    10
//   1      01 02 03    31 32    21
//   2      12 13 10    02 03    32
//   3      23 20 21    13 10    03
//
// In a permute slices travel in the shorter direction, up where both are equal.
//
//                    steps              bytes sent by the busiest rank (n: its input)
//   all_reduce       2(R - 1)           2n(R - 1)/R
//   reduce           R                  n
//   reduce_scatter   R - 1              n(R - 1)/R
//   all_gather       R - 1              n(R - 1)
//   all_to_all       R - 1              n(R - 1)/2
//   permute          hops of the slice  at most n(R - 1); a shift by k kn
//                    that goes farthest
//
// P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// J. Parallel Distrib. Comput. 69(2), 2009, section 4. all_to_all and permute: A. Grama, A. Gupta,
// G. Karypis and V. Kumar, "Introduction to Parallel Computing", 2nd ed., 2003, sections 4.5.1
// (all-to-all personalized communication on a ring) and 4.6 (circular shift).
#include <algorithm>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/rings.hpp"
#include "collectives/algorithms/shapes.hpp"

namespace vranks::algorithms_of {

namespace {

// What comes in waits for its next hop in the scratch chunk of the number of hops that it will have
// done in all; R chunks further after every other step, so that a rank need not wait until one is
// read to receive the next.
Schedule all_to_all(const Problem& problem) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  ScheduleBuilder builder(shape_of(problem, 2 * ranks));
  for (std::int32_t r = 0; r < ranks; ++r) builder.add(copy(output(r, r), input(r, r)));
  for (std::int32_t s = 1; s < ranks; ++s) {
    const auto waiting = [&](std::int32_t r, std::int32_t step, std::int32_t hops,
                             std::int32_t count) {
      return scratch(r, step % 2 * ranks + hops, count);
    };
    const auto below = [&](std::int32_t r, std::int32_t hops) {
      return (r + ranks - hops) % ranks;
    };
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t from = below(r, 1);
      builder.add(
          copy(output(r, below(r, s)), s == 1 ? input(from, r) : waiting(from, s - 1, s, 1)));
    }
    const std::int32_t others = ranks - 1 - s;  // blocks that go on
    for (std::int32_t r = 0; r < ranks && others > 0; ++r) {
      const std::int32_t from = below(r, 1);
      if (s > 1) {
        builder.add(copy(waiting(r, s, s + 1, others), waiting(from, s - 1, s + 1, others)));
        continue;
      }
      // For r + 1 and so on, around the end.
      const std::int32_t first = (r + 1) % ranks, straight = std::min(others, ranks - first);
      builder.add(copy(waiting(r, s, 2, straight), input(from, first, straight)));
      if (straight < others)
        builder.add(copy(waiting(r, s, 2 + straight, others - straight),
                         input(from, 0, others - straight)));
    }
    builder.end_step();
  }
  builder.end_step();
  return std::move(builder).build();
}

// Of all slices that travel in one direction at most one is at a rank at a time: in the output if
// it is to be there, else in scratch chunk 0 or 1 (up), 2 or 3 (down), one and the other in turn.
Schedule permute(const Problem& problem) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  ScheduleBuilder builder(shape_of(problem, 4));
  const auto source_of = [&](std::int32_t r) {
    return problem.sources[static_cast<std::size_t>(r)];
  };
  // How far the slice of each rank goes.
  std::vector<std::int32_t> hops[2];
  for (auto& one_way : hops) one_way.assign(static_cast<std::size_t>(ranks), 0);
  for (std::int32_t r = 0; r < ranks; ++r) {
    const std::int32_t source = source_of(r);
    if (source < 0) continue;
    if (source == r) builder.add(copy(output(r, 0), input(r, 0)));
    const std::int32_t up = (r - source + ranks) % ranks;
    const bool goes_down = up > ranks - up;
    std::int32_t& farthest = hops[goes_down][static_cast<std::size_t>(source)];
    farthest = std::max(farthest, goes_down ? ranks - up : up);
  }
  for (std::int32_t hop = 1; hop <= ranks / 2; ++hop) {
    for (const std::int32_t way : {0, 1})
      for (std::int32_t source = 0; source < ranks; ++source) {
        if (hops[way][static_cast<std::size_t>(source)] < hop) continue;
        const auto at = [&](std::int32_t hops_done) {
          const std::int32_t r = (source + (way == 0 ? hops_done : ranks - hops_done)) % ranks;
          if (hops_done == 0) return input(r, 0);
          return source_of(r) == source ? output(r, 0) : scratch(r, 2 * way + hops_done % 2);
        };
        builder.add(copy(at(hop), at(hop - 1)));
      }
    builder.end_step();
  }
  builder.end_step();
  return std::move(builder).build();
}

Schedule build(const Problem& problem, const Parameters&) {
  if (problem.collective == Collective::all_to_all) return all_to_all(problem);
  if (problem.collective == Collective::permute) return permute(problem);
  constexpr std::int32_t up[] = {1};
  return ring_schedule(problem, up);
}

}  // namespace

Algorithm ring() {
  return {.name = "ring",
          .aliases = "",
          .collectives = "all_reduce reduce reduce_scatter all_gather all_to_all permute",
          .order =
              "chunk c: x[c], then up: ((x[c] + x[c+1]) + x[c+2]) + ...; block d of a "
              "reduce_scatter starts at x[d+1]",
          .costs = {{"all_reduce", "2(R-1)", "2n(R-1)/R"},
                    {"reduce", "R", "n"},
                    {"reduce_scatter", "R-1", "n(R-1)/R"},
                    {"all_gather", "R-1", "n(R-1)"},
                    {"all_to_all", "R-1", "n(R-1)/2"},
                    {"permute", "H", "at most n(2H-1)"}},
          .source =
              "P. Patarasuk and X. Yuan, Bandwidth optimal all-reduce algorithms for clusters "
              "of workstations, J. Parallel Distrib. Comput. 69(2), 2009, section 4; A. Grama et "
              "al., Introduction to Parallel Computing, 2nd ed., 2003, sections 4.5.1 and 4.6",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
