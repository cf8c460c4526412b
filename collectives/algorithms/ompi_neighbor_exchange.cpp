// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's neighbour exchange all-gather: ranks exchange their block with one neighbour, then
// with one and the other in turn the two blocks that came last. Over R = 4; a row is a rank:
//
//   step 1    step 2    step 3
//   0 . . .   0 1 . .   0 1 2 3
//   . 1 . .   0 1 . .   0 1 2 3
//   . . 2 .   . . 2 3   0 1 2 3
//   . . . 3   . . 2 3   0 1 2 3
//
// Steps R/2 + 1, the first without messages; bytes n(R - 1). For an odd R it is ompi_ring.
// Open MPI 4.1.4, ompi_coll_base_allgather_intra_neighborexchange
// (ompi/mca/coll/base/coll_base_allgather.c).
// J. Chen et al., "Performance evaluation of allgather algorithms on terascale Linux cluster with
// fast Ethernet", HPC Asia 2005.
#include <fmt/format.h>

#include "collectives/algorithms/neighbor_pairs.hpp"
#include "collectives/openmpi/rules.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

namespace {

// An odd number of ranks does the ring; one rank has no neighbour.
bool is_ring(const Problem& problem) { return problem.ranks % 2 == 1; }

Schedule build(const Problem& problem, const Parameters&) {
  if (is_ring(problem))
    throw Error(ErrorKind::not_supported,
                fmt::format("Open MPI's neighbour exchange needs an even number of ranks, not {}; "
                            "select() gives ompi_ring",
                            problem.ranks));
  return neighbor_exchange_schedule(static_cast<std::int32_t>(problem.ranks));
}

Selection select_ring(const Problem& problem, const Parameters& parameters) {
  if (is_ring(problem))
    return openmpi::instead("ompi_ring", problem,
                            fmt::format("Open MPI's neighbour exchange needs an even number of "
                                        "ranks, not {}",
                                        problem.ranks));
  return openmpi::instead("ompi_neighbor_exchange", problem, {}, parameters);
}

}  // namespace

Algorithm ompi_neighbor_exchange() {
  return {.name = "ompi_neighbor_exchange",
          .aliases = "",
          .collectives = "all_gather",
          .order = "copies only",
          .costs = {{"all_gather", "R/2", "n(R-1)"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_allgather.c, "
              "ompi_coll_base_allgather_intra_neighborexchange",
          .parameters = "",
          .build = build,
          .select = select_ring};
}

}  // namespace vranks::algorithms_of
