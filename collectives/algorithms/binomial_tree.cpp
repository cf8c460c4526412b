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
// A root takes the place of the first rank in every subtree that it is in, so that the order of a
// reduce is the same for every root, and what is below a rank are neighbours. A reduce-scatter
// deals the blocks out from rank 0; an all-gather collects them there and sends everyone what it
// lacks. A gather goes up, a broadcast and a scatter go down; ranks on the way hold the blocks of
// all below them. A barrier is an all-reduce. A scan goes up, the sum of each subtree to its last
// rank, and down, what is before it to the last rank of each left half; over R = 4:
//
//   rank   step 1   step 2        step 3
//   0      0        0             0
//   1      0+1      0+1           0+1
//   2      2        2             (0+1)+2
//   3      2+3      (0+1)+(2+3)   (0+1)+(2+3)
//
// An exscan is a scan over all but the last rank, and a step in which sums move up by one rank.
// With k = ceil(log2 R), l = floor(log2 R), and S(R) = l + floor(log2(R/3)) + 1, but S(1) = 0,
// S(2) = 1; for R > 1:
//
//                    steps         bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce       2k            kn
//   reduce           k             n
//   reduce_scatter   k + 1         n; rank 0, which deals out the blocks, n(R - 1)/R
//   all_gather       2k            n(Rk - R + 1) for R = 2^k
//   broadcast        k             kn, n being the root's
//   gather           k             nR/2 for R = 2^k and root 0, never more than n(R - 1)
//   scatter          k             n(R - 1)/R, n being the root's
//   scan             S(R)          ln
//   exscan           S(R - 1) + 1  (floor(log2(R - 1)) + 1)n
//   barrier          2k            k messages
//
// R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Perform. Comput. Appl. 19(1), 2005, sections 4.2 and 4.5; scan: G. E.
// Blelloch, "Scans as primitive parallel operations", IEEE Trans. Comput. 38(11), 1989; R. P. Brent
// and H. T. Kung, "A regular layout for parallel adders", IEEE Trans. Comput. C-31(3), 1982.
#include <bit>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/tree_copies.hpp"
#include "collectives/algorithms/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule prefix(const Problem& problem) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const bool is_scan = problem.collective == Collective::scan;
  const std::int32_t summed = is_scan ? ranks : ranks - 1;
  ScheduleBuilder builder(shape_of(problem, is_scan ? 0 : 1));
  const auto sum = [&](std::int32_t r) { return is_scan ? output(r, 0) : scratch(r, 0); };
  // Up: the last of 2d ranks has their sum.
  for (std::int32_t r = 0; r < summed; ++r)
    builder.add(r % 2 == 1 ? reduce(sum(r), input(r - 1, 0), input(r, 0))
                           : copy(sum(r), input(r, 0)));
  builder.end_step();
  const auto add_step = [&](std::int32_t first, std::int32_t d) {
    for (std::int32_t r = first; r < summed; r += 2 * d)
      builder.add(reduce(sum(r), sum(r - d), sum(r)));
    builder.end_step();
  };
  for (std::int32_t d = 2; 2 * d <= summed; d *= 2) add_step(2 * d - 1, d);
  // Down: the last of d ranks behind 2d, 4d, ... others, whose last rank has all before.
  for (auto d = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(summed))) / 2;
       d >= 1; d /= 2)
    add_step(3 * d - 1, d);
  if (!is_scan)
    for (std::int32_t r = 1; r < ranks; ++r) builder.add(copy(output(r, 0), sum(r - 1)));
  builder.end_step();
  return std::move(builder).build();
}

Schedule build(const Problem& problem, const Parameters&) {
  if (is_prefix(problem.collective)) return prefix(problem);
  const auto from_root = [&] {
    return balanced_tree(static_cast<std::int32_t>(problem.ranks),
                         static_cast<std::int32_t>(problem.root));
  };
  switch (problem.collective) {
    case Collective::broadcast:
      return tree_broadcast(problem, from_root(), 1);
    case Collective::gather:
      return tree_gather(problem, from_root());
    case Collective::scatter:
      return tree_scatter(problem, from_root());
    default:
      return balanced_tree_schedule(problem);
  }
}

}  // namespace

Algorithm binomial_tree() {
  return {.name = "binomial_tree",
          .aliases = "binomial",
          .collectives =
              "all_reduce reduce reduce_scatter all_gather broadcast gather scatter scan exscan "
              "barrier",
          .order =
              "((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6); scan: (((x0 + x1) + (x2 + x3)) + (x4 + "
              "x5)) + x6",
          .costs = {{"all_reduce", "2ceil(log2 R)", "n ceil(log2 R)"},
                    {"reduce", "ceil(log2 R)", "n"},
                    {"reduce_scatter", "ceil(log2 R)+1", "n"},
                    {"all_gather", "2ceil(log2 R)", "n(R ceil(log2 R)-R+1)"},
                    {"broadcast", "ceil(log2 R)", "n ceil(log2 R)"},
                    {"gather", "ceil(log2 R)", "at most nR/2"},
                    {"scatter", "ceil(log2 R)", "n(R-1)/R"},
                    {"scan", "at most 2ceil(log2 R)-1", "n log2 p"},
                    {"exscan", "at most 2ceil(log2 R)-1", "n ceil(log2 R)"},
                    {"barrier", "2ceil(log2 R)", "0, in ceil(log2 R) messages"}},
          .source =
              "R. Thakur, R. Rabenseifner and W. Gropp, Optimization of collective "
              "communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), "
              "2005, sections 4.2 and 4.5; scan: G. E. Blelloch, Scans as primitive parallel "
              "operations, IEEE Trans. Comput. 38(11), 1989",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
