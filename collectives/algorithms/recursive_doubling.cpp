// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Recursive doubling: pairs of ranks at distance 1, 2, 4, ... exchange all they have, and both
// combine it, the lower rank's on the left. All-reduce over R = 4; a row is a rank, 0+1 the sum of
// ranks 0 and 1:
//
//   rank   start   step 1   step 2
//   0      0       0+1      (0+1)+(2+3)
//   1      1       0+1      (0+1)+(2+3)
//   2      2       2+3      (0+1)+(2+3)
//   3      3       2+3      (0+1)+(2+3)
//
// R no power of two: with p the largest power of two below R and e = R - p, rank 2j, j < e, first
// combines x[2j] and x[2j+1], takes part for both, and gives rank 2j + 1 the result at the end.
// A reduce would throw most of the work away, and a reduce-scatter too; halving_doubling has them.
// Steps with messages, the summands with [e > 0] only where R is no power of two:
//
//                steps                  bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce   log2 p + 2 [e > 0]     n log2 p + n [e > 0]
//   all_gather   log2 p + 2 [e > 0]     n(R - 1) for R = 2^k, else below 3Rn
//
// R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Perform. Comput. Appl. 19(1), 2005, sections 4.1 and 4.5.
#include <algorithm>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/hypercube.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule all_reduce(const Hypercube& cube) {
  ScheduleBuilder builder({.collective = Collective::all_reduce, .ranks = cube.ranks});
  // Through the output, so that both of a pair do the very same.
  for (std::int32_t j = 0; j < cube.extra; ++j)
    builder.add(reduce(output(2 * j, 0), input(2 * j, 0), input(2 * j + 1, 0)));
  for (std::int32_t j = cube.extra; j < cube.corners; ++j)
    builder.add(copy(output(cube.rank(j), 0), input(cube.rank(j), 0)));
  builder.end_step();
  for (std::int32_t distance = 1; distance < cube.corners; distance *= 2) {
    for (std::int32_t j = 0; j < cube.corners; ++j) {
      const std::int32_t lower = j & ~distance, upper = j | distance;
      builder.add(reduce(output(cube.rank(j), 0), output(cube.rank(lower), 0),
                         output(cube.rank(upper), 0)));
    }
    builder.end_step();
  }
  cube.add_results_of_extra(builder, 1);
  return std::move(builder).build();
}

Schedule all_gather(const Hypercube& cube) {
  ScheduleBuilder builder(
      {.collective = Collective::all_gather, .ranks = cube.ranks, .chunks = cube.ranks});
  cube.add_own_blocks(builder);
  for (std::int32_t distance = 1; distance < cube.corners; distance *= 2) {
    for (std::int32_t j = 0; j < cube.corners; ++j) {
      // The blocks of `distance` corners, which are neighbours, and so are their ranks.
      const std::int32_t first = (j ^ distance) & ~(distance - 1);
      const std::int32_t begin = cube.rank(first), end = cube.rank(first + distance);
      builder.add(copy(output(cube.rank(j), begin, end - begin),
                       output(cube.rank(j ^ distance), begin, end - begin)));
    }
    builder.end_step();
  }
  cube.add_results_of_extra(builder, cube.ranks);
  return std::move(builder).build();
}

Schedule build(const Problem& problem, const Parameters&) {
  const Hypercube cube(static_cast<std::int32_t>(problem.ranks));
  return problem.collective == Collective::all_reduce ? all_reduce(cube) : all_gather(cube);
}

}  // namespace

Algorithm recursive_doubling() {
  return {.name = "recursive_doubling",
          .aliases = "",
          .collectives = "all_reduce all_gather",
          .order = "neighbours first: ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6)",
          .steps = "log2 R; floor(log2 R)+2 where R is no power of two",
          .bytes = "n log2 R; n floor(log2 R)+n where R is no power of two",
          .source =
              "R. Thakur, R. Rabenseifner and W. Gropp, Optimization of collective "
              "communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), "
              "2005, sections 4.1 and 4.5",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
