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

#include <vector>

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
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const auto wrap = [&](std::int32_t r) { return (r + ranks) % ranks; };
  ScheduleBuilder builder({Collective::all_gather, ranks, 0, ranks, 0});
  for (std::int32_t r = 0; r < ranks; ++r) builder.add(copy(output(r, r), input(r, 0)));
  builder.end_step();
  for (std::int32_t r = 0; r < ranks; ++r)
    builder.add(copy(output(r, r ^ 1), output(r ^ 1, r ^ 1)));
  builder.end_step();
  // The first of the two blocks that came last.
  std::vector<std::int32_t> last(static_cast<std::size_t>(ranks));
  for (std::int32_t r = 0; r < ranks; ++r) last[static_cast<std::size_t>(r)] = r & ~1;
  for (std::int32_t step = 1; step < ranks / 2; ++step) {
    const std::vector<std::int32_t> sent = last;
    for (std::int32_t r = 0; r < ranks; ++r) {
      // Even ranks turn to the rank before them at odd steps, odd ranks to the one behind.
      const std::int32_t from = wrap(r + (r % 2 == step % 2 ? 1 : -1));
      const std::int32_t first = sent[static_cast<std::size_t>(from)];
      builder.add(copy(output(r, first, 2), output(from, first, 2)));
      last[static_cast<std::size_t>(r)] = first;
    }
    builder.end_step();
  }
  return std::move(builder).build();
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
          .steps = "R/2+1",
          .bytes = "n(R-1)",
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_allgather.c, "
              "ompi_coll_base_allgather_intra_neighborexchange",
          .parameters = "",
          .build = build,
          .select = select_ring};
}

}  // namespace vranks::algorithms_of
