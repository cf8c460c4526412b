// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's binary tree: levels of 1, 2, 4 ... ranks behind the root; a rank combines its first
// child's result with its own input, then the second child's. Reduce to root 0 over R = 4; a row is
// a rank, 3+1 the sum of ranks 3 and 1:
//
//   step 1   step 2    step 3
//   0        (3+1)+0   ((3+1)+0)+2
//   3+1      3+1       3+1
//   2        2         2
//   3        3         3
//
// Steps 2 floor(log2 R) at most; bytes n. Segments of segment-bytes follow each other up the tree.
// Open MPI 4.1.4, ompi_coll_base_reduce_intra_binary (ompi/mca/coll/base/coll_base_reduce.c),
// ompi_coll_base_topo_build_tree (coll_base_topo.c).
#include "collectives/algorithm.hpp"
#include "collectives/openmpi/blocks.hpp"
#include "collectives/openmpi/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  return openmpi::tree_reduce(problem,
                              openmpi::binary_tree(static_cast<std::int32_t>(problem.ranks),
                                                   static_cast<std::int32_t>(problem.root)));
}

}  // namespace

Algorithm ompi_binary() {
  return {.name = "ompi_binary",
          .aliases = "",
          .collectives = "reduce",
          .order =
              "root 0: (((x3 + x1) + x5) + x0) + ((x4 + x2) + x6); other roots: ranks counted "
              "from the root",
          .costs = {{"reduce", "at most 2log2 p", "n"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_reduce.c, "
              "ompi_coll_base_reduce_intra_binary",
          .parameters = "segment-bytes",
          .build = build,
          .layout = openmpi::segments_layout};
}

}  // namespace vranks::algorithms_of
