// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Binary tree, pipelined in K pieces (`chunks`, 4 if not given): the tree whose in-order walk is
// rank 0, 1, 2, ...; a rank combines its left child, itself, its right child, in two steps, and one
// step later the next piece. Down again in mirrored order. All-reduce of one piece over R = 4,
// where 1 has the children 0 and 2, and 3 has 1; a row is a rank, 0+1 the sum of ranks 0 and 1, *
// the sum of all, ((0+1)+2)+3, . an untouched input:
//
//   rank   step 1   step 2    step 3    step 4   step 5   step 6
//   0      .        .         .         .        .        *
//   1      0+1      (0+1)+2   (0+1)+2   *        *        *
//   2      .        .         .         .        *        *
//   3      .        .         *         *        *        *
//
// A reduce's result goes from the top, rank bit_floor(R) - 1, to the root in one more step, and a
// reduce-scatter's blocks, cut into K pieces, to their ranks. An all-gather is not pipelined. In a
// broadcast the ranks are turned around so that the root is the top, and a rank sends a piece to
// its right child, then to its left one.
// With T = floor(log2 R) + ceil(log2 R) - 1, R > 1:
//
//                    steps       bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce       2T + K - 1  3n for R > 3
//   reduce           T + K       n; one step less where the top is the root
//   reduce_scatter   T + K       n (K = R where R is less)
//   all_gather       2T          at most 3Rn
//   broadcast        T + K - 1   2n for R > 2, n being the root's
// reduce_scatter and all_gather maybe one step less, where no block of the last step has to move.
//
// P. Sanders and J. F. Sibeyn, "A bandwidth latency tradeoff for broadcast and reduction", Inf.
// Process. Lett. 86, 2003 (pipelined binary trees).
#include <bit>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/pieces.hpp"
#include "collectives/algorithms/tree_copies.hpp"
#include "collectives/algorithms/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters& parameters) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  if (problem.collective == Collective::broadcast) {
    const auto top = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(ranks)));
    const std::int32_t shift = static_cast<std::int32_t>(problem.root) + ranks - (top - 1);
    const Tree tree = in_order_tree(
        ranks, [&](std::int32_t p) { return (p + shift) % ranks; }, false);
    return tree_broadcast(problem, tree, pieces_of(parameters, 4));
  }
  const Tree trees[] = {in_order_tree(
      ranks, [](std::int32_t p) { return p; }, false)};
  return tree_schedule(problem, trees, pieces_of(parameters, 4));
}

}  // namespace

Algorithm binary_tree() {
  return {.name = "binary_tree",
          .aliases = "",
          .collectives = "all_reduce reduce reduce_scatter all_gather broadcast",
          .order = "(((x0 + x1) + x2) + x3) + ((x4 + x5) + x6)",
          .costs = {{"all_reduce", "2log2 p+2ceil(log2 R)+K-3", "at most 3n"},
                    {"reduce", "log2 p+ceil(log2 R)+K-1", "n"},
                    {"reduce_scatter", "at most log2 p+ceil(log2 R)+K-1", "n"},
                    {"all_gather", "at most 2log2 p+2ceil(log2 R)-2", "at most n(2R+1)"},
                    {"broadcast", "log2 p+ceil(log2 R)+K-2", "at most 2n"}},
          .source =
              "P. Sanders and J. F. Sibeyn, A bandwidth latency tradeoff for broadcast and "
              "reduction, Inf. Process. Lett. 86, 2003",
          .parameters = "chunks",
          .build = build};
}

}  // namespace vranks::algorithms_of
