// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ring: R chunks travel around. Chunk c starts at rank c, picks up every rank's part on the way up,
// and is whole at rank c - 1, from where it goes around once more. All-reduce over R = 4; a row is
// a rank, a column a chunk, 0+1 the sum of ranks 0 and 1, * the sum of all, . an untouched input:
//
//   rank   step 1               step 2                    step 3                        step 6
//   0      .    .    .    3+0   .      .      2+3+0  3+0  .      *      2+3+0  3+0      * * * *
//   1      0+1  .    .    .     0+1    .      .    3+0+1  0+1    .      *      3+0+1    * * * *
//   2      .    1+2  .    .     0+1+2  1+2    .      .    0+1+2  1+2    .      *        * * * *
//   3      .    .    2+3  .     .      1+2+3  2+3    .    *      1+2+3  2+3    .        * * * *
//
// reduce-scatter and all-gather are its two halves (block d starts at d + 1 and ends at d); reduce
// sends what the first half made to the root.
//
//                    steps     bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce       2(R - 1)  2n(R - 1)/R
//   reduce           R         n
//   reduce_scatter   R - 1     n(R - 1)/R
//   all_gather       R - 1     n(R - 1)
//
// P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// J. Parallel Distrib. Comput. 69(2), 2009, section 4.
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/rings.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  constexpr std::int32_t up[] = {1};
  return ring_schedule(problem, up);
}

}  // namespace

Algorithm ring() {
  return {.name = "ring",
          .aliases = "",
          .collectives = "all_reduce reduce reduce_scatter all_gather",
          .order =
              "chunk c: x[c], then up: ((x[c] + x[c+1]) + x[c+2]) + ...; block d of a "
              "reduce_scatter starts at x[d+1]",
          .steps = "2(R-1)",
          .bytes = "2n(R-1)/R",
          .source =
              "P. Patarasuk and X. Yuan, Bandwidth optimal all-reduce algorithms for clusters "
              "of workstations, J. Parallel Distrib. Comput. 69(2), 2009, section 4",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
