// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's butterfly reduce-scatter: as recursive halving, but partners at distance 1 come first.
// A rank then ends with the block whose number is its own with the bits mirrored, and sends it to
// where it belongs. The higher ranks' partial result is on the left. Over R = 4; a row is a rank,
// a column a block, 1+0 the sum of ranks 1 and 0:
//
//   step 1              step 2                               step 3
//   1+0  1+0  .    .    (3+2)+(1+0)  1+0  .    .             block 0 to the output
//   .    .    1+0  1+0  .    .    (3+2)+(1+0)  1+0           block 2 to rank 2, block 1 from it
//   3+2  3+2  .    .    3+2  (3+2)+(1+0)  .    .             block 1 to rank 1, block 2 from it
//   .    .    3+2  3+2  .    .    3+2  (3+2)+(1+0)           block 3
//
// Steps log2 R + 1 (for other R one more, for pairs); bytes n.
// Open MPI 4.1.4, ompi/mca/coll/base: ompi_coll_base_reduce_scatter_intra_butterfly
// (coll_base_reduce_scatter.c), ompi_coll_base_reduce_scatter_block_intra_butterfly
// (coll_base_reduce_scatter_block.c).
// J. L. Traff, "An improved algorithm for (non-commutative) reduce-scatter with an application",
// EuroPVM/MPI 2005.
#include "collectives/algorithm.hpp"
#include "collectives/openmpi/blocks.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  return openmpi::halving_reduce_scatter(problem, openmpi::Partners::nearest_first, true);
}

}  // namespace

Algorithm ompi_butterfly() {
  return {.name = "ompi_butterfly",
          .aliases = "",
          .collectives = "reduce_scatter",
          .order = "(x6 + (x5 + x4)) + ((x3 + x2) + (x1 + x0))",
          .costs = {{"reduce_scatter", "at most log2 R+1; other R: log2 p+2", "at most n"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_reduce_scatter.c and "
              "coll_base_reduce_scatter_block.c, *_intra_butterfly",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
