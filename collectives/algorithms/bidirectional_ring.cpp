// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Two rings at once, so that links work in both directions: the first half of every chunk pair
// travels up as in `ring`, the second half travels down. Chunks 2c and 2c + 1 start at rank c.
// All-reduce over R = 4; a row is a rank, u and d are the halves, 0+1 the sum of ranks 0 and 1, *
// of all:
//
//   rank  step 1               step 2                   step 3        step 4 (and so on)
//   0     u3: 3+0   d1: 1+0    u2: 2+3+0   d2: 2+1+0    u1: * d3: *   u0, u1: *   d0, d3: *
//   1     u0: 0+1   d2: 2+1    u3: 3+0+1   d3: 3+2+1    u2: * d0: *   u1, u2: *   d1, d0: *
//   2     u1: 1+2   d3: 3+2    u0: 0+1+2   d0: 0+3+2    u3: * d1: *   u2, u3: *   d2, d1: *
//   3     u2: 2+3   d0: 0+3    u1: 1+2+3   d1: 1+0+3    u0: * d2: *   u3, u0: *   d3, d2: *
//
// reduce-scatter and all-gather are its two halves (block d starts at d + 1 up and at d - 1 down,
// and ends at d); reduce sends what the first half made to the root.
//
//                    steps     bytes sent by the busiest rank, half of them each way
//   all_reduce       2(R - 1)  2n(R - 1)/R
//   reduce           R         n
//   reduce_scatter   R - 1     n(R - 1)/R
//   all_gather       R - 1     n(R - 1)
//
// The ring of P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", J. Parallel Distrib. Comput. 69(2), 2009, section 4, once each way.
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/rings.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  constexpr std::int32_t up_and_down[] = {1, -1};
  return ring_schedule(problem, up_and_down);
}

}  // namespace

Algorithm bidirectional_ring() {
  return {.name = "bidirectional_ring",
          .aliases = "",
          .collectives = "all_reduce reduce reduce_scatter all_gather",
          .order =
              "chunk 2c: x[c], then up: (x[c] + x[c+1]) + ...; chunk 2c+1: x[c], then down: "
              "(x[c] + x[c-1]) + ...; block d of a reduce_scatter starts at x[d+1] and x[d-1]",
          .costs = {{"all_reduce", "2(R-1)", "2n(R-1)/R"},
                    {"reduce", "R", "n"},
                    {"reduce_scatter", "R-1", "n(R-1)/R"},
                    {"all_gather", "R-1", "n(R-1)"}},
          .source =
              "P. Patarasuk and X. Yuan, J. Parallel Distrib. Comput. 69(2), 2009, section 4, "
              "once each way",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
