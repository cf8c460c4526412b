// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's chain: the ranks behind the root are cut into `fanout` columns of neighbours, along
// which partial results go up to the root. Reduce to root 0 over R = 4 with two columns, 1 2 and 3;
// a row is a rank, 2+1 the sum of ranks 2 and 1:
//
//   step 1   step 2     step 3
//   0        (2+1)+0    ((2+1)+0)+3
//   2+1      2+1        2+1
//   2        2          2
//   3        3          3
//
// Steps ceil((R - 1)/fanout) + fanout - 1 at most; bytes n. The fan-out is 4 unless given (where
// the library's own rules choose the chain, it is 1: ompi_pipeline). Segments of segment-bytes
// follow each other up the tree.
// Open MPI 4.1.4, ompi_coll_base_reduce_intra_chain (ompi/mca/coll/base/coll_base_reduce.c),
// ompi_coll_base_topo_build_chain (coll_base_topo.c).
#include <fmt/format.h>

#include "collectives/algorithm.hpp"
#include "collectives/openmpi/blocks.hpp"
#include "collectives/openmpi/trees.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters& parameters) {
  if (parameters.fanout < 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("a chain can't have {} columns", parameters.fanout));
  const std::int32_t fanout = parameters.fanout == 0 ? 4 : parameters.fanout;
  return openmpi::tree_reduce(problem,
                              openmpi::chain_tree(static_cast<std::int32_t>(problem.ranks),
                                                  static_cast<std::int32_t>(problem.root), fanout));
}

}  // namespace

Algorithm ompi_chain() {
  return {.name = "ompi_chain",
          .aliases = "",
          .collectives = "reduce",
          .order =
              "fan-out 2: ((x3 + x2) + x1) + x0 and x6 + (x5 + x4): a column's sum, own, then "
              "the other columns' sums",
          .costs = {{"reduce", "ceil((R-1)/F)+min(F,R-1)-1", "n"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_reduce.c, "
              "ompi_coll_base_reduce_intra_chain",
          .parameters = "fanout segment-bytes",
          .build = build,
          .layout = openmpi::segments_layout};
}

}  // namespace vranks::algorithms_of
