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
// Blocks are put in their place at once; the paper rotates them at the end.
// Steps with messages ceil(log2 R); bytes a rank n(R - 1), n being a rank's input.
// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby, "Efficient algorithms for all-to-all
// communications in multiport message-passing systems", IEEE Trans. Parallel Distrib. Syst. 8(11),
// 1997 (concatenation).
#include <algorithm>

#include "collectives/algorithm.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
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

}  // namespace

Algorithm bruck() {
  return {.name = "bruck",
          .aliases = "",
          .collectives = "all_gather",
          .order = "copies only",
          .steps = "ceil(log2 R)",
          .bytes = "n(R-1)",
          .source =
              "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby, Efficient algorithms "
              "for all-to-all communications in multiport message-passing systems, IEEE "
              "Trans. Parallel Distrib. Syst. 8(11), 1997",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
