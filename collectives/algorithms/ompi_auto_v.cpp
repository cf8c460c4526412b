// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What MPI_Reduce_scatter of Open MPI 4.1 does if nobody forces an algorithm: its decision rules,
// by the number of ranks and the bytes of all blocks. MPI_Reduce_scatter_block, the call for equal
// blocks, has other rules: ompi_auto. No steps of its own; 2 KiB over R = 4 are
// ompi_recursive_halving:
//
//   step 1              step 2                               step 3
//   0+2  0+2  .    .    (0+2)+(1+3)  0+2  .    .             block 0 to the output
//   1+3  1+3  .    .    1+3  (0+2)+(1+3)  .    .             block 1
//   .    .    0+2  0+2  .    .    (0+2)+(1+3)  0+2           block 2
//   .    .    1+3  1+3  .    .    1+3  (0+2)+(1+3)           block 3
//
// Open MPI 4.1.4, ompi_coll_tuned_reduce_scatter_intra_dec_fixed
// (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c).
#include "collectives/openmpi/rules.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem&, const Parameters&) {
  throw Error(ErrorKind::not_supported,
              "ompi_auto_v has no schedule of its own: it stands for another one, picked by size");
}

Selection select_by_rules(const Problem& problem, const Parameters&) {
  return openmpi::by_rules(openmpi::reduce_scatter_rules(), problem);
}

}  // namespace

Algorithm ompi_auto_v() {
  return {.name = "ompi_auto_v",
          .aliases = "",
          .collectives = "reduce_scatter",
          .order = "that of the algorithm which the rules of MPI_Reduce_scatter choose",
          .costs = {{"reduce_scatter", "the chosen algorithm's", "the chosen algorithm's"}},
          .source = "Open MPI 4.1.4, coll/tuned: coll_tuned_decision_fixed.c",
          .parameters = "",
          .build = build,
          .select = select_by_rules};
}

}  // namespace vranks::algorithms_of
