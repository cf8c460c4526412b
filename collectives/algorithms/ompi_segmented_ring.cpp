// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's segmented ring: the blocks of ompi_ring are cut into phases of about segment-bytes,
// which are reduced one after the other and then handed around as whole blocks. The order of the
// sum is the ring's. Over R = 4 with two phases, the first block (a and b) at each rank; 1+0 is the
// sum of ranks 1 and 0, * the sum of all:
//
//   rank   steps 1 to 3   steps 4 to 6   steps 7 to 9
//   0      0      b       0      0       *  *
//   1      1+0    b       1+0    1+0     *  *
//   2      2+1+0  b       2+1+0  2+1+0   *  *
//   3      *      b       *      *       *  *
//
// Steps (phases + 1)(R - 1); bytes 2n(R - 1)/R. Without segments (the default), or with fewer
// elements than a segment for every rank, it is ompi_ring. The parameter chunks holds the number of
// phases; select() sets it.
// Open MPI 4.1.4, ompi_coll_base_allreduce_intra_ring_segmented
// (ompi/mca/coll/base/coll_base_allreduce.c).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "collectives/openmpi/blocks.hpp"
#include "collectives/openmpi/ring.hpp"
#include "collectives/openmpi/rules.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters& parameters) {
  return openmpi::ring(problem, parameters.chunks == 0 ? 1 : parameters.chunks);
}

Selection select_phases(const Problem& problem, const Parameters& parameters) {
  const std::int64_t phases = openmpi::ring_phases(problem, parameters.segment_bytes);
  if (parameters.chunks != 0 && parameters.chunks != phases)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("the phases of ompi_segmented_ring follow from segment-bytes: {}, not {}",
                    phases, parameters.chunks));
  if (phases == 0 || problem.ranks == 1)
    return openmpi::instead(
        "ompi_ring", problem,
        problem.ranks == 1 ? "one rank alone only copies"
        : parameters.segment_bytes == 0
            ? "Open MPI's segmented ring has no segment size, so it is the ring"
            : fmt::format("Open MPI's segmented ring needs a segment of {} bytes for every rank, "
                          "but there are {} elements for {} ranks",
                          parameters.segment_bytes, problem.elements, problem.ranks));
  Parameters chosen = parameters;
  chosen.chunks = static_cast<std::int32_t>(
      std::min<std::int64_t>(phases, std::numeric_limits<std::int32_t>::max()));
  return openmpi::instead("ompi_segmented_ring", problem, {}, chosen);
}

}  // namespace

Algorithm ompi_segmented_ring() {
  return {.name = "ompi_segmented_ring",
          .aliases = "",
          .collectives = "all_reduce",
          .order = "block b: xb, then up: ... + (x(b+2) + (x(b+1) + xb))",
          .costs = {{"all_reduce", "(K+1)(R-1)", "2n(R-1)/R"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_allreduce.c, "
              "ompi_coll_base_allreduce_intra_ring_segmented",
          .parameters = "segment-bytes chunks",
          .build = build,
          .layout = openmpi::phases_layout,
          .select = select_phases};
}

}  // namespace vranks::algorithms_of
