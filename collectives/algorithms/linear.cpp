// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Linear: straight from where it is to where it belongs, one rank after the other. What a root does
// with all ranks it does with rank 0 first, then 1, 2, ...; in an all-to-all everyone sends to rank
// 0, then to rank 1, ...; a permute serves one rank a step; a scan goes from rank to rank; in a
// barrier rank 0 hears from one rank after the other, then tells them. `direct` is the same at
// once. Scatter from root 0 over R = 4, then a scan; a row is a rank, a to d are blocks, 0+1 the
// sum of ranks 0 and 1, . nothing yet:
//
//   rank   step 1   step 2   step 3        step 1   step 2     step 3
//   0      a        a        a             0        0          0
//   1      b        b        b             0+1      0+1        0+1
//   2      .        c        c             .        (0+1)+2    (0+1)+2
//   3      .        .        d             .        .          ((0+1)+2)+3
//
// Steps with messages, R > 1 (an exscan has one without between any two):
//
//                 steps     bytes sent by the busiest rank (n: what a rank, or the root, puts in)
//   broadcast     R - 1     n(R - 1)
//   gather        R - 1     n
//   scatter       R - 1     n(R - 1)/R
//   all_to_all    R         n(R - 1)/R
//   permute       messages  n for each message of a rank
//   scan, exscan  R - 1     n
//   barrier       2(R - 1)  R - 1 messages
//
// Open MPI 4.1.4, coll/base, the "basic linear" or "linear" of each but permute; it posts some of
// these messages at once.
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/prefixes.hpp"
#include "collectives/algorithms/shots.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule barrier(const Problem& problem) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  ScheduleBuilder builder(shape_of(problem));
  if (ranks == 1) builder.add(copy(output(0, 0), input(0, 0)));
  for (std::int32_t r = 1; r < ranks; ++r) {
    builder.add(reduce(output(0, 0), r == 1 ? input(0, 0) : output(0, 0), input(r, 0)));
    builder.end_step();
  }
  for (std::int32_t r = 1; r < ranks; ++r) {
    builder.add(copy(output(r, 0), output(0, 0)));
    builder.end_step();
  }
  builder.end_step();
  return std::move(builder).build();
}

Schedule build(const Problem& problem, const Parameters&) {
  if (is_prefix(problem.collective)) return prefix_schedule(problem);
  if (problem.collective == Collective::barrier) return barrier(problem);
  return straight_schedule(problem, true);
}

}  // namespace

Algorithm linear() {
  return {.name = "linear",
          .aliases = "",
          .collectives = "broadcast gather scatter all_to_all permute scan exscan barrier",
          .order = "rank order: ((x0 + x1) + x2) + ...",
          .costs = {{"broadcast", "R-1", "n(R-1)"},
                    {"gather scan exscan", "R-1", "n"},
                    {"scatter", "R-1", "n(R-1)/R"},
                    {"all_to_all", "R", "n(R-1)/R"},
                    {"permute", "M", "n"},
                    {"barrier", "2(R-1)", "0, in R-1 messages"}},
          .source =
              "Open MPI 4.1.4, coll/base: basic_linear of coll_base_bcast.c, "
              "coll_base_gather.c, coll_base_scatter.c, coll_base_alltoall.c, "
              "coll_base_barrier.c; linear of coll_base_scan.c, coll_base_exscan.c",
          .parameters = "",
          .build = build,
          .takes_turns = true};
}

}  // namespace vranks::algorithms_of
