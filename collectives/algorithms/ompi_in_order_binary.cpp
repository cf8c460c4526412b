// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's in-order binary tree: rooted at the last rank whatever the root; a block of ranks
// hangs at its last one, whose children are the last of the block's second half and of its first.
// The result is then sent to the root. Reduce to root 0 over R = 4; a row is a rank, 0+1 the sum of
// ranks 0 and 1, * the sum of all:
//
//   step 1   step 2        step 3
//   0        0             *
//   0+1      0+1           0+1
//   2        2             2
//   2+3      (2+3)+(0+1)   *
//
// Steps 2 floor(log2 R) + 1 at most; bytes n. Segments of segment-bytes follow each other up the
// tree.
// Open MPI 4.1.4, ompi_coll_base_reduce_intra_in_order_binary
// (ompi/mca/coll/base/coll_base_reduce.c), ompi_coll_base_topo_build_in_order_bintree
// (coll_base_topo.c).
#include "collectives/algorithm.hpp"
#include "collectives/openmpi/blocks.hpp"
#include "collectives/openmpi/trees.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  return openmpi::tree_reduce(
      problem, openmpi::in_order_binary_tree(static_cast<std::int32_t>(problem.ranks)));
}

}  // namespace

Algorithm ompi_in_order_binary() {
  return {.name = "ompi_in_order_binary",
          .aliases = "",
          .collectives = "reduce",
          .order = "(((x4 + x5) + x3) + x6) + ((x1 + x2) + x0), whatever the root",
          .costs = {{"reduce", "at most 2log2 p+1", "n"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_reduce.c, "
              "ompi_coll_base_reduce_intra_in_order_binary",
          .parameters = "segment-bytes",
          .build = build,
          .layout = openmpi::segments_layout};
}

}  // namespace vranks::algorithms_of
