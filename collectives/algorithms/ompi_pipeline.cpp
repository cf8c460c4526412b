// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's pipeline: a chain of one column. Reduce to root 0 over R = 4; a row is a rank, 3+2 the
// sum of ranks 3 and 2:
//
//   step 1   step 2    step 3
//   0        0         ((3+2)+1)+0
//   1        (3+2)+1   (3+2)+1
//   3+2      3+2       3+2
//   3        3         3
//
// Steps R - 1; bytes n. Segments of segment-bytes follow each other up the chain.
// Open MPI 4.1.4, ompi_coll_base_reduce_intra_pipeline (ompi/mca/coll/base/coll_base_reduce.c).
#include "collectives/algorithm.hpp"
#include "collectives/openmpi/blocks.hpp"
#include "collectives/openmpi/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  return openmpi::tree_reduce(problem,
                              openmpi::chain_tree(static_cast<std::int32_t>(problem.ranks),
                                                  static_cast<std::int32_t>(problem.root), 1));
}

}  // namespace

Algorithm ompi_pipeline() {
  return {.name = "ompi_pipeline",
          .aliases = "",
          .collectives = "reduce",
          .order =
              "root 0: (((((x6 + x5) + x4) + x3) + x2) + x1) + x0; other roots: ranks counted "
              "from the root",
          .costs = {{"reduce", "R-1", "n"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_reduce.c, "
              "ompi_coll_base_reduce_intra_pipeline",
          .parameters = "segment-bytes",
          .build = build,
          .layout = openmpi::segments_layout};
}

}  // namespace vranks::algorithms_of
