// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Bruck: rank r reads from ranks r + 1, r + 2, r + 4, ... (modulo R) all that they have, and so has
// 2, 4, 8, ... blocks from its own on; the last step takes the rest. Any R, the fewest steps with
// one message each. All-gather over R = 4; a row is a rank, a column a block:
//
//   rank   start       step 1      step 2
//   0      0 . . .     0 1 . .     0 1 2 3
//   1      . 1 . .     . 1 2 .     0 1 2 3
//   2      . . 2 .     . . 2 3     0 1 2 3
//   3      . . . 3     0 . . 3     0 1 2 3
//
// All-to-all: a block that has h ranks to go up travels at the distances 1, 2, 4, ... that are bits
// of h, waiting in scratch in between. Over R = 4; a row is a rank, rs the block from r for s; what
// comes in:
//
//   rank   step 1   step 2
//   0      30 32    20 10
//   1      01 03    31 21
//   2      12 10    02 32
//   3      23 21    13 03
//
// Blocks are put in their place at once; the paper rotates them before or at the end.
//
//                steps         bytes a rank (n: its input)
//   all_gather   ceil(log2 R)  n(R - 1)
//   all_to_all   ceil(log2 R)  n/2 log2 R for R = 2^k, else n/R times the bits that are 1 in the
//                              numbers 1 to R - 1, below n/2 ceil(log2 R)
//
// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby, "Efficient algorithms for all-to-all
// communications in multiport message-passing systems", IEEE Trans. Parallel Distrib. Syst. 8(11),
// 1997 (concatenation and index).
#include <algorithm>
#include <bit>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/shapes.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule all_gather(std::int32_t ranks) {
  ScheduleBuilder builder({.collective = Collective::all_gather, .ranks = ranks, .chunks = ranks});
  for (std::int32_t r = 0; r < ranks; ++r) builder.add(copy(output(r, r), input(r, 0)));
  builder.end_step();
  // Every rank has `have` blocks.
  for (std::int32_t have = 1, more = 0; have < ranks; have += more) {
    more = std::min(have, ranks - have);
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t from = (r + have) % ranks;
      const std::int32_t straight = std::min(more, ranks - from);
      builder.add(copy(output(r, from, straight), output(from, from, straight)));
      if (straight < more)
        builder.add(copy(output(r, 0, more - straight), output(from, 0, more - straight)));
    }
    builder.end_step();
  }
  return std::move(builder).build();
}

// A block that has h ranks to go in all waits in scratch chunk h after an even number of hops, in
// R + h after an odd one: a rank need not wait until one is read to receive the next.
Schedule all_to_all(const Problem& problem) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  ScheduleBuilder builder(shape_of(problem, 2 * ranks));
  for (std::int32_t r = 0; r < ranks; ++r) builder.add(copy(output(r, r), input(r, r)));
  for (std::int32_t distance = 1; distance < ranks; distance *= 2) {
    for (std::int32_t h = distance; h < ranks; ++h) {
      if ((h & distance) == 0) continue;
      const std::int32_t gone = h & (distance - 1);
      const bool is_odd = std::popcount(static_cast<std::uint32_t>(gone)) % 2 == 1;
      const std::int32_t before = is_odd ? ranks + h : h, after = is_odd ? h : ranks + h;
      const bool arrives = h < 2 * distance;
      for (std::int32_t r = 0; r < ranks; ++r) {
        const std::int32_t from = (r + ranks - distance) % ranks;
        builder.add(copy(arrives ? output(r, (r + ranks - h) % ranks) : scratch(r, after),
                         gone == 0 ? input(from, (from + h) % ranks) : scratch(from, before)));
      }
    }
    builder.end_step();
  }
  builder.end_step();
  return std::move(builder).build();
}

Schedule build(const Problem& problem, const Parameters&) {
  if (problem.collective == Collective::all_to_all) return all_to_all(problem);
  return all_gather(static_cast<std::int32_t>(problem.ranks));
}

}  // namespace

Algorithm bruck() {
  return {.name = "bruck",
          .aliases = "",
          .collectives = "all_gather all_to_all",
          .order = "copies only",
          .costs = {{"all_gather", "ceil(log2 R)", "n(R-1)"},
                    {"all_to_all", "ceil(log2 R)", "at most n/2 ceil(log2 R)"}},
          .source =
              "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby, Efficient algorithms "
              "for all-to-all communications in multiport message-passing systems, IEEE "
              "Trans. Parallel Distrib. Syst. 8(11), 1997",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
