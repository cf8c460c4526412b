// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Direct, the default: the right answer, a balanced binary tree over ranks in rank order, split at
// the largest power of two below the length, left part first, carried as wide as needed. Moves are
// those of binomial_tree; the arithmetic is what differs. All-reduce over R = 4; a row is a rank,
// 0+1 the sum of ranks 0 and 1, . an untouched input:
//
//   rank   step 1   step 2      step 3      step 4
//   0      0+1      (0+1)+(2+3) (0+1)+(2+3) (0+1)+(2+3)
//   1      .        .           .           (0+1)+(2+3)
//   2      2+3      2+3         (0+1)+(2+3) (0+1)+(2+3)
//   3      .        .           .           (0+1)+(2+3)
//
// With seven ranks ((x0+x1)+(x2+x3))+((x4+x5)+x6), for every root and block. With k = ceil(log2 R):
//
//                    steps  bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce       2k     kn
//   reduce           k      n
//   reduce_scatter   k + 1  n; the first rank, which deals out the blocks, n(R - 1)/R
//   all_gather       2k     n(Rk - R + 1) for R = 2^k
//
// N. J. Higham, "The accuracy of floating point summation", SIAM J. Sci. Comput. 14(4), 1993,
// section 2 (pairwise summation).
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  return balanced_tree_schedule(problem);
}

}  // namespace

Algorithm direct() {
  return {.name = "direct",
          .aliases = "",
          .collectives = "all_reduce reduce reduce_scatter all_gather",
          .order = "((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6)",
          .steps = "2ceil(log2 R)",
          .bytes = "n ceil(log2 R)",
          .source =
              "pairwise summation: N. J. Higham, The accuracy of floating point summation, "
              "SIAM J. Sci. Comput. 14(4), 1993, section 2",
          .parameters = "",
          .build = build,
          .arithmetic = {.accumulate = {}, .mean = MeanMode::divide},
          .is_tree_fold = true};
}

}  // namespace vranks::algorithms_of
