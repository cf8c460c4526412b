// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Double binary tree: two pipelined binary trees at once, for one half of the K pieces (`chunks`, 8
// if not given) each. The first is that of binary_tree; the second is its mirror image (R even) or
// the same one rank further (R odd). So the inner ranks of one tree are leaves of the other, and
// all send alike. All-reduce of two pieces over R = 4, where in the second tree 2 has the children
// 3 and 1, and 0 has 2; a row is a rank, 0+1 the sum of ranks 0 and 1, * of all, . an untouched
// input:
//
//   rank  step 1      step 2          step 3          step 4     step 5     step 6
//   0     .    .      .       .       .       *       .   *      .   *      *  *
//   1     0+1  .      (0+1)+2 .       (0+1)+2 .       *   .      *   .      *  *
//   2     .    1+2    .       (1+2)+3 .       (1+2)+3 .   *      *   *      *  *
//   3     .    .      .       .       *       .       *   .      *   .      *  *
//
// The first piece is ((0+1)+2)+3, the second 0+((1+2)+3). A reduce's results go from both tops to
// the root, a reduce-scatter's blocks, of which each tree has one half, to their ranks. An
// all-gather moves one half of the blocks over each tree. With T = floor(log2 R) + ceil(log2 R) -
// 1, R > 1 and K even:
//
//                    steps         bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce       2T + K/2 - 1  2n for R > 3
//   reduce           T + K/2       n
//   reduce_scatter   T + K/2       n (K = R where R is less, and half of it rounded up)
//   all_gather       2T            at most 2Rn
// the last two maybe one step less, where no block of the last step has to move.
//
// P. Sanders, J. Speck and J. L. Traeff, "Two-tree algorithms for full bandwidth broadcast,
// reduction and scan", Parallel Comput. 35(12), 2009.
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/pieces.hpp"
#include "collectives/algorithms/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters& parameters) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const bool is_mirrored = ranks % 2 == 0;
  const auto second = [&](std::int32_t p) { return is_mirrored ? ranks - 1 - p : (p + 1) % ranks; };
  const Tree trees[] = {in_order_tree(
                            ranks, [](std::int32_t p) { return p; }, false),
                        in_order_tree(ranks, second, is_mirrored)};
  return tree_schedule(problem, trees, pieces_of(parameters, 8));
}

}  // namespace

Algorithm double_binary_tree() {
  return {.name = "double_binary_tree",
          .aliases = "two_tree",
          .collectives = "all_reduce reduce reduce_scatter all_gather",
          .order =
              "first half (((x0 + x1) + x2) + x3) + ((x4 + x5) + x6); second half mirrored, "
              "x0 + ((x1 + x2) + x3) of four, or (R odd) starting at x1: "
              "(((x1 + x2) + x3) + x4) + ((x5 + x6) + x0)",
          .costs = {{"all_reduce", "2log2 p+2ceil(log2 R)+ceil(K/2)-3", "at most n+2n ceil(K/2)/K"},
                    {"reduce", "log2 p+ceil(log2 R)+ceil(K/2)-1", "n"},
                    {"reduce_scatter", "at most log2 p+ceil(log2 R)+ceil(K/2)-1", "n"},
                    {"all_gather", "at most 2log2 p+2ceil(log2 R)-2", "at most n(R+2)"}},
          .source =
              "P. Sanders, J. Speck and J. L. Traeff, Two-tree algorithms for full bandwidth "
              "broadcast, reduction and scan, Parallel Comput. 35(12), 2009",
          .parameters = "chunks",
          .build = build};
}

}  // namespace vranks::algorithms_of
