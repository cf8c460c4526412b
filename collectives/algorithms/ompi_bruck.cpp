// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's Bruck all-gather: a rank has its own block first, then those of the ranks behind it;
// at distance 1, 2, 4 ... it receives as many blocks as it has, at last what is missing, and in the
// end turns them into rank order. Over R = 4; a row is a rank:
//
//   step 1   step 2   step 3    step 4
//   0        0 1      0 1 2 3   0 1 2 3
//   1        1 2      1 2 3 0   0 1 2 3
//   2        2 3      2 3 0 1   0 1 2 3
//   3        3 0      3 0 1 2   0 1 2 3
//
// Steps ceil(log2 R) + 2, the first and the last without messages; bytes n(R - 1).
// Open MPI 4.1.4, ompi_coll_base_allgather_intra_bruck (ompi/mca/coll/base/coll_base_allgather.c).
// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby, "Efficient algorithms for all-to-all
// communications in multiport message-passing systems", IEEE TPDS 8(11), 1997.
#include <algorithm>

#include "collectives/algorithm.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  ScheduleBuilder builder({Collective::all_gather, ranks, 0, ranks, ranks});
  for (std::int32_t r = 0; r < ranks; ++r) builder.add(copy(scratch(r, 0), input(r, 0)));
  builder.end_step();
  for (std::int32_t have = 1; have < ranks; have *= 2) {
    const std::int32_t more = std::min(have, ranks - have);
    for (std::int32_t r = 0; r < ranks; ++r)
      builder.add(copy(scratch(r, have, more), scratch((r + have) % ranks, 0, more)));
    builder.end_step();
  }
  for (std::int32_t r = 0; r < ranks; ++r) {
    builder.add(copy(output(r, r, ranks - r), scratch(r, 0, ranks - r)));
    if (r > 0) builder.add(copy(output(r, 0, r), scratch(r, ranks - r, r)));
  }
  builder.end_step();
  return std::move(builder).build();
}

}  // namespace

Algorithm ompi_bruck() {
  return {.name = "ompi_bruck",
          .aliases = "",
          .collectives = "all_gather",
          .order = "copies only",
          .costs = {{"all_gather", "ceil(log2 R)", "n(R-1)"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_allgather.c, "
              "ompi_coll_base_allgather_intra_bruck",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
