// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Chain: partial results go from rank 0 up to rank R - 1, pipelined in K pieces (`chunks`, 4 if not
// given), and the result comes back down. All-reduce over R = 4 with K = 2; a row is a rank, 0+1
// the sum of ranks 0 and 1, * the sum of all, ((0+1)+2)+3, . an untouched input:
//
//   rank   step 1     step 2         step 3           step 4         step 5   step 6   step 7
//   0      .    .     .      .       .       .        .      .       .   .    *  .     *  *
//   1      0+1  .     0+1    0+1     0+1     0+1      0+1    0+1     *   0+1  *  *     *  *
//   2      .    .     0+1+2  .       0+1+2   0+1+2    *      0+1+2   *   *    *  *     *  *
//   3      .    .     .      .       *       .        *      *       *   *    *  *     *  *
//
// A reduce's result goes from rank R - 1 to the root in one more step; a reduce-scatter's blocks,
// cut into K pieces, go to their ranks. In an all-gather blocks pass from neighbour to neighbour
// both ways. A broadcast goes up from the root, from rank R - 1 on to rank 0. For R > 1:
//
//                    steps           bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce       2(R - 1) + K-1  2n for R > 2
//   reduce           R - 1 + K       n; one step less where the root is R - 1
//   reduce_scatter   R - 1 + K       n (K = R where R is less); one step less for R < 2K
//   all_gather       R - 1           n(R + 1) for R > 2
//   broadcast        R - 1 + K-1     n, n being the root's
//
// J. Pjesivac-Grbovic et al., "Performance analysis of MPI collective operations", Cluster Comput.
// 10(2), 2007 (pipeline).
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/pieces.hpp"
#include "collectives/algorithms/tree_copies.hpp"
#include "collectives/algorithms/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule all_gather(std::int32_t ranks) {
  ScheduleBuilder builder({.collective = Collective::all_gather, .ranks = ranks, .chunks = ranks});
  for (std::int32_t r = 0; r < ranks; ++r) builder.add(copy(output(r, r), input(r, 0)));
  if (ranks == 1) builder.end_step();
  for (std::int32_t s = 1; s < ranks; ++s) {
    const auto pass = [&](std::int32_t to, std::int32_t from, std::int32_t block) {
      builder.add(copy(output(to, block), s == 1 ? input(from, 0) : output(from, block)));
    };
    for (std::int32_t r = s; r < ranks; ++r) pass(r, r - 1, r - s);
    for (std::int32_t r = 0; r + s < ranks; ++r) pass(r, r + 1, r + s);
    builder.end_step();
  }
  return std::move(builder).build();
}

Schedule build(const Problem& problem, const Parameters& parameters) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const std::int32_t pieces = pieces_of(parameters, 4);
  if (problem.collective == Collective::all_gather) return all_gather(ranks);
  const bool goes_up = problem.collective == Collective::broadcast;
  const std::int32_t top = goes_up ? static_cast<std::int32_t>(problem.root) : ranks - 1;
  Tree line{.top = top,
            .children = std::vector<std::vector<Tree::Child>>(static_cast<std::size_t>(ranks))};
  for (std::int32_t i = 1, r = top; i < ranks; ++i) {
    const std::int32_t next = goes_up ? (r + 1) % ranks : r - 1;
    line.children[static_cast<std::size_t>(r)] = {{next, true}};
    r = next;
  }
  if (goes_up) return tree_broadcast(problem, line, pieces);
  return tree_schedule(problem, std::span(&line, 1), pieces);
}

}  // namespace

Algorithm chain() {
  return {.name = "chain",
          .aliases = "pipeline",
          .collectives = "all_reduce reduce reduce_scatter all_gather broadcast",
          .order = "rank order: ((x0 + x1) + x2) + ...",
          .costs = {{"all_reduce", "2(R-1)+K-1", "at most 2n"},
                    {"reduce", "R+K-1", "n"},
                    {"reduce_scatter", "at most R+K-1", "n"},
                    {"all_gather", "R-1", "at most n(R+1)"},
                    {"broadcast", "R+K-2", "n"}},
          .source =
              "J. Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, "
              "Cluster Comput. 10(2), 2007 (pipeline)",
          .parameters = "chunks",
          .build = build};
}

}  // namespace vranks::algorithms_of
