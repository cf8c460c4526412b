// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Direct, the default: the right answer, carried as wide as needed. Sums are a balanced binary tree
// over ranks in rank order, split at the largest power of two below the length, left part first;
// moves are those of binomial_tree, the arithmetic is what differs. All-reduce over R = 4; a row is
// a rank, 0+1 the sum of ranks 0 and 1, . an untouched input:
//
//   rank   step 1   step 2      step 3      step 4
//   0      0+1      (0+1)+(2+3) (0+1)+(2+3) (0+1)+(2+3)
//   1      .        .           .           (0+1)+(2+3)
//   2      2+3      2+3         (0+1)+(2+3) (0+1)+(2+3)
//   3      .        .           .           (0+1)+(2+3)
//
// With seven ranks ((x0+x1)+(x2+x3))+((x4+x5)+x6), for every root and block. A scan is a running
// sum from the left, ((x0+x1)+x2)+..., from rank to rank, and so is an exscan. In all else everyone
// reads straight from where it is, in one step; in a barrier rank 0 from all, then all from it.
// Steps with messages, R > 1, with k = ceil(log2 R):
//
//                    steps  bytes sent by the busiest rank (n: what a rank, or the root, puts in)
//   all_reduce       2k     kn
//   reduce           k      n
//   reduce_scatter   k + 1  n; the first rank, which deals out the blocks, n(R - 1)/R
//   all_gather       2k     n(Rk - R + 1) for R = 2^k
//   broadcast        1      n(R - 1)
//   gather           1      n
//   scatter          1      n(R - 1)/R
//   all_to_all       1      n(R - 1)/R
//   permute          1      n for each message of a rank
//   scan, exscan     R - 1  n
//   barrier          2      R - 1 messages
//
// N. J. Higham, "The accuracy of floating point summation", SIAM J. Sci. Comput. 14(4), 1993,
// section 2 (pairwise summation).
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/prefixes.hpp"
#include "collectives/algorithms/shots.hpp"
#include "collectives/algorithms/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule barrier(const Problem& problem) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  ScheduleBuilder builder(shape_of(problem, ranks));
  add_read_and_combine(
      builder, ranks, 0, 1, [](std::int32_t) { return 0; },
      [](std::int32_t) { return output(0, 0); });
  for (std::int32_t r = 1; r < ranks; ++r) builder.add(copy(output(r, 0), output(0, 0)));
  builder.end_step();
  return std::move(builder).build();
}

Schedule build(const Problem& problem, const Parameters&) {
  switch (problem.collective) {
    case Collective::scan:
    case Collective::exscan:
      return prefix_schedule(problem);
    case Collective::barrier:
      return barrier(problem);
    case Collective::broadcast:
    case Collective::gather:
    case Collective::scatter:
    case Collective::all_to_all:
    case Collective::permute:
      return straight_schedule(problem, false);
    default:
      return balanced_tree_schedule(problem);
  }
}

}  // namespace

Algorithm direct() {
  return {.name = "direct",
          .aliases = "",
          .collectives =
              "all_reduce reduce reduce_scatter all_gather broadcast gather scatter all_to_all "
              "permute scan exscan barrier",
          .order =
              "((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6); scan and exscan: ((x0 + x1) + x2) + ...",
          .costs = {{"all_reduce", "2ceil(log2 R)", "n ceil(log2 R)"},
                    {"reduce", "ceil(log2 R)", "n"},
                    {"reduce_scatter", "ceil(log2 R)+1", "n"},
                    {"all_gather", "2ceil(log2 R)", "n(R ceil(log2 R)-R+1)"},
                    {"broadcast", "1", "n(R-1)"},
                    {"gather permute", "1", "n"},
                    {"scatter all_to_all", "1", "n(R-1)/R"},
                    {"scan exscan", "R-1", "n"},
                    {"barrier", "2", "0, in R-1 messages"}},
          .source =
              "pairwise summation: N. J. Higham, The accuracy of floating point summation, "
              "SIAM J. Sci. Comput. 14(4), 1993, section 2",
          .parameters = "",
          .build = build,
          .arithmetic = {.accumulate = {}, .mean = MeanMode::divide},
          .is_tree_fold = true};
}

}  // namespace vranks::algorithms_of
