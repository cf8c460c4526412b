// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's recursive halving reduce-scatter: partners at distance p/2, ... 2, 1 exchange the
// halves that they don't keep. With e ranks more than p, a power of two, ranks 0 to 2e - 1 first
// meet in pairs, whose odd ranks act for both and in the end send the even ones their blocks. Over
// R = 4; a row is a rank, a column a block, 0+2 the sum of ranks 0 and 2:
//
//   step 1              step 2                               step 3
//   0+2  0+2  .    .    (0+2)+(1+3)  0+2  .    .             block 0 to the output
//   1+3  1+3  .    .    1+3  (0+2)+(1+3)  .    .             block 1
//   .    .    0+2  0+2  .    .    (0+2)+(1+3)  0+2           block 2
//   .    .    1+3  1+3  .    .    1+3  (0+2)+(1+3)           block 3
//
// The library keeps its own partial result on the left; here it is always that of the lower ranks,
// so that all blocks have one order: the bits are the same for ops that commute. Steps log2 R + 1
// (the last is a copy; for other R one more); bytes n(R - 1)/R (for other R n).
// Open MPI 4.1.4, ompi/mca/coll/base: ompi_coll_base_reduce_scatter_intra_basic_recursivehalving
// (coll_base_reduce_scatter.c), ompi_coll_base_reduce_scatter_block_intra_recursivehalving
// (coll_base_reduce_scatter_block.c).
#include "collectives/algorithm.hpp"
#include "collectives/openmpi/blocks.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  return openmpi::halving_reduce_scatter(problem, openmpi::Partners::farthest_first, false);
}

}  // namespace

Algorithm ompi_recursive_halving() {
  return {.name = "ompi_recursive_halving",
          .aliases = "",
          .collectives = "reduce_scatter",
          .order = "((x0 + x1) + (x4 + x5)) + ((x2 + x3) + x6)",
          .costs = {{"reduce_scatter", "log2 R; other R: log2 p+2", "n(R-1)/R; other R: n"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_reduce_scatter.c "
              "*_intra_basic_recursivehalving, coll_base_reduce_scatter_block.c "
              "*_intra_recursivehalving",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
