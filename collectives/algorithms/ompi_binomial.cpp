// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's binomial tree: the children of rank s, counted from the root, are s + 1, s + 2, s + 4
// ... as far as s has zeros at its end. Reduce to root 0 over R = 4; a row is a rank, 1+0 the sum
// of ranks 1 and 0:
//
//   step 1   step 2
//   1+0      (1+0)+(3+2)
//   1        1
//   3+2      3+2
//   3        3
//
// Steps ceil(log2 R); bytes n. Segments of segment-bytes follow each other up the tree.
// Open MPI 4.1.4, ompi_coll_base_reduce_intra_binomial (ompi/mca/coll/base/coll_base_reduce.c),
// ompi_coll_base_topo_build_in_order_bmtree (coll_base_topo.c).
#include "collectives/algorithm.hpp"
#include "collectives/openmpi/blocks.hpp"
#include "collectives/openmpi/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  return openmpi::tree_reduce(problem,
                              openmpi::binomial_tree(static_cast<std::int32_t>(problem.ranks),
                                                     static_cast<std::int32_t>(problem.root)));
}

}  // namespace

Algorithm ompi_binomial() {
  return {.name = "ompi_binomial",
          .aliases = "",
          .collectives = "reduce",
          .order =
              "root 0: ((x1 + x0) + (x3 + x2)) + ((x5 + x4) + x6); other roots: ranks counted "
              "from the root",
          .costs = {{"reduce", "ceil(log2 R)", "n"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_reduce.c, "
              "ompi_coll_base_reduce_intra_binomial",
          .parameters = "segment-bytes",
          .build = build,
          .layout = openmpi::segments_layout};
}

}  // namespace vranks::algorithms_of
