// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What Open MPI 4.1 does if nobody forces an algorithm: its decision rules, by the number of ranks
// and the bytes, for ops that commute; then the chosen algorithm's own fallbacks. Equal blocks of a
// reduce-scatter go by the rules of MPI_Reduce_scatter_block; see ompi_auto_v. It has no steps of
// its own; an all-reduce of 2 KiB over R = 4 is ompi_recursive_doubling:
//
//   step 1   step 2
//   1+0      (3+2)+(1+0)
//   1+0      (3+2)+(1+0)
//   3+2      (3+2)+(1+0)
//   3+2      (3+2)+(1+0)
//
// Open MPI 4.1.4, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c:
// ompi_coll_tuned_allreduce_intra_dec_fixed, ..._reduce_..., ..._reduce_scatter_block_...
#include "collectives/openmpi/rules.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem&, const Parameters&) {
  throw Error(ErrorKind::not_supported,
              "ompi_auto has no schedule of its own: it stands for another one, picked by size");
}

Selection select_by_rules(const Problem& problem, const Parameters&) {
  return openmpi::by_rules(
      problem.collective == Collective::all_reduce ? openmpi::all_reduce_rules()
      : problem.collective == Collective::reduce   ? openmpi::reduce_rules()
                                                   : openmpi::reduce_scatter_block_rules(),
      problem);
}

}  // namespace

Algorithm ompi_auto() {
  return {.name = "ompi_auto",
          .aliases = "",
          .collectives = "all_reduce reduce reduce_scatter",
          .order = "that of the algorithm which the rules choose",
          .costs = {{"all_reduce reduce reduce_scatter", "the chosen algorithm's",
                     "the chosen algorithm's"}},
          .source = "Open MPI 4.1.4, coll/tuned: coll_tuned_decision_fixed.c",
          .parameters = "",
          .build = build,
          .select = select_by_rules};
}

}  // namespace vranks::algorithms_of
