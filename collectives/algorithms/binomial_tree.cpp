// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Binomial tree: neighbours first, then distance 2, 4, ...; half of the ranks that are left send to
// the other half. Down again in mirrored order. All-reduce over R = 4; a row is a rank, 0+1 the sum
// of ranks 0 and 1, * the sum of all, (0+1)+(2+3), . an untouched input:
//
//   rank   step 1   step 2   step 3   step 4
//   0      0+1      *        *        *
//   1      .        .        .        *
//   2      2+3      2+3      *        *
//   3      .        .        .        *
//
// A reduce's root takes the place of the first rank in every subtree that it is in, so that the
// order is the same for every root. A reduce-scatter deals the blocks out from rank 0; an
// all-gather collects them there and sends everyone what it lacks. With k = ceil(log2 R):
//
//                    steps  bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce       2k     kn
//   reduce           k      n
//   reduce_scatter   k + 1  n; rank 0, which deals out the blocks, n(R - 1)/R
//   all_gather       2k     n(Rk - R + 1) for R = 2^k
//
// R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Perform. Comput. Appl. 19(1), 2005, sections 4.2 and 4.5.
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  return balanced_tree_schedule(problem);
}

}  // namespace

Algorithm binomial_tree() {
  return {.name = "binomial_tree",
          .aliases = "binomial",
          .collectives = "all_reduce reduce reduce_scatter all_gather",
          .order = "((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6)",
          .steps = "2ceil(log2 R)",
          .bytes = "n ceil(log2 R)",
          .source =
              "R. Thakur, R. Rabenseifner and W. Gropp, Optimization of collective "
              "communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), "
              "2005, sections 4.2 and 4.5",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
