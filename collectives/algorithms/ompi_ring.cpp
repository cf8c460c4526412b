// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's ring: R blocks travel around, the first n mod R of them one element longer. Block b
// starts at rank b; every rank puts its own part on the left of what it received. All-reduce over
// R = 4; a row is a rank, a column a block, 1+0 the sum of ranks 1 and 0, * the sum of all:
//
//   step 1                 step 2                     step 3                           steps 4 to 6
//   0    .    .    0+3     0    .      0+3+2  0+3     0        0+3+2+1  0+3+2  0+3     * * * *
//   1+0  1    .    .       1+0  1      .      1+0+3   1+0      1        *(2)   1+0+3   * * * *
//   .    2+1  2    .       2+1+0 2+1   2      .       2+1+0    2+1      2      *(3)    * * * *
//   .    .    3+2  3       .    3+2+1  3+2    3       *(0)     3+2+1    3+2    3       * * * *
//
// (a+b+c is a + (b + c).) Reduce-scatter: block d starts at rank d + 1 and ends at d. All-gather:
// blocks travel around once. Steps 2(R - 1), R - 1, R - 1; bytes a rank 2n(R - 1)/R, n(R - 1)/R,
// n(R - 1). An all-reduce of fewer elements than ranks is ompi_recursive_doubling.
// Open MPI 4.1.4, ompi/mca/coll/base: ompi_coll_base_allreduce_intra_ring (coll_base_allreduce.c),
// ompi_coll_base_reduce_scatter_intra_ring, ompi_coll_base_allgather_intra_ring.
#include <fmt/format.h>

#include "collectives/openmpi/ring.hpp"
#include "collectives/openmpi/rules.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) { return openmpi::ring(problem, 1); }

Selection select_doubling(const Problem& problem, const Parameters& parameters) {
  if (problem.collective == Collective::all_reduce && problem.elements < problem.ranks)
    return openmpi::instead("ompi_recursive_doubling", problem,
                            fmt::format("Open MPI's ring needs an element for every rank, but "
                                        "there are {} for {} ranks",
                                        problem.elements, problem.ranks));
  return openmpi::instead("ompi_ring", problem, {}, parameters);
}

}  // namespace

Algorithm ompi_ring() {
  return {.name = "ompi_ring",
          .aliases = "",
          .collectives = "all_reduce reduce_scatter all_gather",
          .order = "block b: xb, then up: ... + (x(b+2) + (x(b+1) + xb))",
          .costs = {{"all_reduce", "2(R-1)", "2n(R-1)/R"},
                    {"reduce_scatter", "R-1", "n(R-1)/R"},
                    {"all_gather", "R-1", "n(R-1)"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_allreduce.c, coll_base_reduce_scatter.c, "
              "coll_base_allgather.c, *_intra_ring",
          .parameters = "",
          .build = build,
          .select = select_doubling};
}

}  // namespace vranks::algorithms_of
