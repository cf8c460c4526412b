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
// A barrier is an all-reduce.
// In a scan both of a pair combine it likewise to the sum of all whom the pair has heard of, and
// the upper one puts it before its result, too, which is about ranks up to its own. Over R = 4,
// result | sum of all:
//
//   rank   start   step 1      step 2
//   0      0 | 0   0   | 0+1   0
//   1      1 | 1   0+1 | 0+1   0+1
//   2      2 | 2   2   | 2+3   (0+1)+2
//   3      3 | 3   2+3 | 2+3   (0+1)+(2+3)
//
// Ranks beyond R - 1 are left out, which only sums above a result would miss. In an exscan results
// are about ranks below one's own.
// Steps with messages, the summands with [e > 0] only where R is no power of two:
//
//                  steps                 bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce     log2 p + 2 [e > 0]    n log2 p + n [e > 0]
//   all_gather     log2 p + 2 [e > 0]    n(R - 1) for R = 2^k, else below 3Rn
//   barrier        log2 p + 2 [e > 0]    log2 p + [e > 0] messages
//   scan, exscan   ceil(log2 R)          n ceil(log2 R)
//
// R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Perform. Comput. Appl. 19(1), 2005, sections 4.1 and 4.5. Scan: MPICH,
// src/mpi/coll/scan/scan_intra_recursive_doubling.c, and exscan; the idea of W. D. Hillis and
// G. L. Steele, "Data parallel algorithms", Commun. ACM 29(12), 1986.
#include <algorithm>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/hypercube.hpp"
#include "collectives/algorithms/shapes.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule all_reduce(const Problem& problem, const Hypercube& cube) {
  ScheduleBuilder builder(shape_of(problem));
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

// A rank's result is in its output; in its scratch are the sum of all whom it has heard of, and
// what came.
Schedule prefix(const Problem& problem) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const bool is_scan = problem.collective == Collective::scan;
  ScheduleBuilder builder(shape_of(problem, 2));
  const auto sum = [](std::int32_t r) { return scratch(r, 0); };
  const auto came = [](std::int32_t r) { return scratch(r, 1); };
  for (std::int32_t r = 0; r < ranks; ++r) {
    if (ranks > 1) builder.add(copy(sum(r), input(r, 0)));
    if (is_scan) builder.add(copy(output(r, 0), input(r, 0)));
  }
  for (std::int32_t distance = 1; distance < ranks; distance *= 2) {
    // No one asks for sums of all that are made last.
    const bool is_last = 2 * distance >= ranks;
    const auto for_each_receiver = [&](auto&& f) {
      for (std::int32_t r = 0; r < ranks; ++r) {
        const std::int32_t partner = r ^ distance;
        if (partner < (is_last ? r : ranks)) f(r, partner);
      }
      builder.end_step();
    };
    for_each_receiver([&](std::int32_t r, std::int32_t partner) {
      builder.add(copy(came(r), distance == 1 ? input(partner, 0) : sum(partner)));
    });
    for_each_receiver([&](std::int32_t r, std::int32_t partner) {
      const bool is_upper = partner < r;
      const bool has_result = is_scan || (r & (distance - 1)) != 0;
      if (is_upper)
        builder.add(has_result ? reduce(output(r, 0), came(r), output(r, 0))
                               : copy(output(r, 0), came(r)));
      if (!is_last)
        builder.add(is_upper ? reduce(sum(r), came(r), sum(r)) : reduce(sum(r), sum(r), came(r)));
    });
  }
  builder.end_step();
  return std::move(builder).build();
}

Schedule build(const Problem& problem, const Parameters&) {
  if (is_prefix(problem.collective)) return prefix(problem);
  const Hypercube cube(static_cast<std::int32_t>(problem.ranks));
  return problem.collective == Collective::all_gather ? all_gather(cube)
                                                      : all_reduce(problem, cube);
}

}  // namespace

Algorithm recursive_doubling() {
  return {
      .name = "recursive_doubling",
      .aliases = "",
      .collectives = "all_reduce all_gather scan exscan barrier",
      .order = "neighbours first: ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6)",
      .costs = {{"all_reduce", "log2 R; other R: log2 p+2", "n log2 R; other R: n(log2 p+1)"},
                {"all_gather", "log2 R; other R: log2 p+2", "n(R-1); other R: at most n(2R+p/2-2)"},
                {"scan exscan", "ceil(log2 R)", "n ceil(log2 R)"},
                {"barrier", "log2 R; other R: log2 p+2", "0, in ceil(log2 R) messages"}},
      .source =
          "R. Thakur, R. Rabenseifner and W. Gropp, Optimization of collective "
          "communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), "
          "2005, sections 4.1 and 4.5; scan: MPICH, scan_intra_recursive_doubling.c",
      .parameters = "",
      .build = build};
}

}  // namespace vranks::algorithms_of
