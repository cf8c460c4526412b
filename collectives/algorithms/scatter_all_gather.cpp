// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Scatter and all-gather: the vector is cut into R chunks, which the root scatters over a binomial
// tree, chunk r to rank r; then all chunks travel around a ring. The broadcast of van de Geijn, for
// long vectors. Over R = 4 from root 0; a row is a rank, a column a chunk, x what is there:
//
//   rank   scatter              all-gather
//          step 1    step 2     step 3    step 4    step 5
//   0      x x x x   x x x x    x x x x   x x x x   x x x x
//   1      . . . .   . x . .    x x . .   x x . x   x x x x
//   2      . . x x   . . x x    . x x x   x x x x   x x x x
//   3      . . . .   . . . x    . . x x   . x x x   x x x x
//
// Who has a chunk already gets it once more all the same, as in the source.
// Steps ceil(log2 R) + R - 1; bytes sent by the root, the busiest rank, 2n(R - 1)/R.
// M. Barnett, L. Shuler, R. van de Geijn, S. Gupta, D. Payne and J. Watts, "Interprocessor
// collective communication library (InterCom)", SHPCC 1994; R. Thakur, R. Rabenseifner and W.
// Gropp, "Optimization of collective communication operations in MPICH", Int. J. High Perform.
// Comput. Appl. 19(1), 2005, section 4.2.
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/tree_copies.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  ScheduleShape shape = shape_of(problem);
  const std::int32_t ranks = shape.ranks, root = shape.root;
  shape.chunks = ranks;
  StepTable steps;
  steps.add(0, copy(output(root, 0, ranks), input(root, 0, ranks)));
  const std::int32_t scattered =
      add_scatter(steps, balanced_tree(ranks, root),
                  [&](std::int32_t rank, std::int32_t begin, std::int32_t count) {
                    return rank == root ? input(rank, begin, count) : output(rank, begin, count);
                  });
  for (std::int32_t s = 1; s < ranks; ++s)
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t from = (r + ranks - 1) % ranks, chunk = (r + ranks - s) % ranks;
      steps.add(scattered + s - 1, copy(output(r, chunk), output(from, chunk)));
    }
  return steps.schedule(shape);
}

}  // namespace

Algorithm scatter_all_gather() {
  return {.name = "scatter_all_gather",
          .aliases = "van_de_geijn",
          .collectives = "broadcast",
          .order = "copies only",
          .costs = {{"broadcast", "ceil(log2 R)+R-1", "2n(R-1)/R"}},
          .source =
              "M. Barnett, L. Shuler, R. van de Geijn, S. Gupta, D. Payne and J. Watts, "
              "Interprocessor collective communication library (InterCom), SHPCC 1994",
          .parameters = "",
          .build = build,
          .takes_turns = true};
}

}  // namespace vranks::algorithms_of
