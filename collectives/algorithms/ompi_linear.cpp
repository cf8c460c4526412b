// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's linear algorithms: everybody sends to one rank, which combines what comes in falling
// rank order. Reduce to root 1 over R = 4; a row is a rank, 0+1 the sum of ranks 0 and 1:
//
//   step 1   step 2   step 3   step 4
//   0        0        0        0
//   3        3+2      (3+2)+1  ((3+2)+1)+0
//   2        2        2        2
//   3        3        3        3
//
// Steps R, the last without messages; bytes sent n. All-reduce: to rank 0, which then sends the
// result to everybody: R + 1 steps, one without messages, n(R - 1) bytes. All-gather: all blocks go
// to rank 0, then down a binomial tree (the library takes the broadcast that its rules give; no
// bits depend on it). MPI_Reduce_scatter_block's linear algorithm is MPI_Reduce and a scatter, so
// it is ompi_nonoverlapping that runs. Open MPI 4.1.4, ompi/mca/coll/base:
// ompi_coll_base_reduce_intra_basic_linear (coll_base_reduce.c),
// ompi_coll_base_allreduce_intra_basic_linear (coll_base_allreduce.c),
// ompi_coll_base_allgather_intra_basic_linear (coll_base_allgather.c).
#include <fmt/format.h>

#include "collectives/openmpi/rules.hpp"
#include "collectives/openmpi/trees.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule gather_and_broadcast(std::int32_t ranks) {
  ScheduleBuilder builder({Collective::all_gather, ranks, 0, ranks, 0});
  for (std::int32_t r = 0; r < ranks; ++r) builder.add(copy(output(0, r), input(r, 0)));
  builder.end_step();
  openmpi::add_binomial_broadcast(builder, ranks, ranks);
  return std::move(builder).build();
}

Schedule build(const Problem& problem, const Parameters&) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  if (problem.collective == Collective::all_gather) return gather_and_broadcast(ranks);
  if (problem.collective == Collective::reduce_scatter)
    throw Error(
        ErrorKind::not_supported,
        "ompi_linear has no reduce_scatter of its own: a reduce picked by size comes first");
  const bool all = problem.collective == Collective::all_reduce;
  const auto root = all ? 0 : static_cast<std::int32_t>(problem.root);
  ScheduleBuilder builder({problem.collective, ranks, root, 1, 0});
  builder.add(copy(output(root, 0), input(ranks - 1, 0)));
  builder.end_step();
  for (std::int32_t r = ranks - 2; r >= 0; --r) {
    builder.add(reduce(output(root, 0), output(root, 0), input(r, 0)));
    builder.end_step();
  }
  if (all) {
    for (std::int32_t r = 1; r < ranks; ++r) builder.add(copy(output(r, 0), output(0, 0)));
    builder.end_step();
  }
  return std::move(builder).build();
}

Selection select_linear(const Problem& problem, const Parameters& parameters) {
  if (problem.collective != Collective::reduce_scatter)
    return {&find_algorithm("ompi_linear", problem.collective), parameters, {}};
  return openmpi::instead(
      "ompi_nonoverlapping", problem,
      "MPI_Reduce_scatter_block's linear algorithm is MPI_Reduce and a scatter");
}

}  // namespace

Algorithm ompi_linear() {
  return {.name = "ompi_linear",
          .aliases = "",
          .collectives = "all_reduce reduce reduce_scatter all_gather",
          .order = "(((((x6 + x5) + x4) + x3) + x2) + x1) + x0, whatever the root",
          .costs = {{"all_reduce", "R", "n(R-1)"},
                    {"reduce", "R-1", "n"},
                    {"reduce_scatter", "the reduce's + 1", "n"},
                    {"all_gather", "ceil(log2 R)+1", "nR ceil(log2 R)"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_reduce.c, coll_base_allreduce.c and "
              "coll_base_allgather.c, *_intra_basic_linear",
          .parameters = "",
          .build = build,
          .select = select_linear};
}

}  // namespace vranks::algorithms_of
