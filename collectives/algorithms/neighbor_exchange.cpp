// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Neighbour exchange: ranks exchange their block with one neighbour, then with one and the other in
// turn the two blocks that came last. Half the steps of a ring, still between neighbours only.
// All-gather over R = 4; a row is a rank, a column a block:
//
//   rank   start     step 1    step 2
//   0      0 . . .   0 1 . .   0 1 2 3
//   1      . 1 . .   0 1 . .   0 1 2 3
//   2      . . 2 .   . . 2 3   0 1 2 3
//   3      . . . 3   . . 2 3   0 1 2 3
//
// An odd number of ranks can't be put in pairs and is refused, but for one rank.
// Steps with messages R/2; bytes a rank n(R - 1), n being a rank's input.
// J. Chen, L. Zhang, Y. Zhang and W. Yuan, "Performance evaluation of allgather algorithms on
// terascale Linux cluster with fast Ethernet", HPC Asia 2005.
#include <fmt/format.h>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/neighbor_pairs.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  if (ranks % 2 == 1 && ranks > 1)
    throw Error(ErrorKind::not_supported,
                fmt::format("neighbor_exchange puts ranks in pairs, so it needs an even number of "
                            "them, not {}; ring takes any",
                            ranks));
  if (ranks > 1) return neighbor_exchange_schedule(ranks);
  ScheduleBuilder alone({.collective = Collective::all_gather});
  alone.add(copy(output(0, 0), input(0, 0)));
  alone.end_step();
  return std::move(alone).build();
}

}  // namespace

Algorithm neighbor_exchange() {
  return {.name = "neighbor_exchange",
          .aliases = "",
          .collectives = "all_gather",
          .order = "copies only",
          .costs = {{"all_gather", "R/2", "n(R-1)"}},
          .source =
              "J. Chen, L. Zhang, Y. Zhang and W. Yuan, Performance evaluation of allgather "
              "algorithms on terascale Linux cluster with fast Ethernet, HPC Asia 2005",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
