// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// NVLink SHARP: rank d has the switch sum block d of all ranks on its way (multimem.ld_reduce), and
// the switch copies what rank d made of it to all (multimem.st). The steps are those of two_shot;
// what differs is where the bytes go, which the clock knows: each rank sends n(R + 1)/R up to the
// switch and gets as much, its own blocks included, though ranks exchange 2n(R - 1)/R. The order in
// which a switch sums isn't public; here it is the ranks'.
//
// NVIDIA NCCL 2.17, algorithm NVLS; PTX ISA 8.1, multimem.ld_reduce, multimem.st.
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/shots.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) { return two_shot_schedule(problem); }

}  // namespace

Algorithm nvls() {
  return {.name = "nvls",
          .aliases = "nvlink_sharp",
          .collectives = "all_reduce reduce_scatter all_gather",
          .order = "rank order, as the switch's own isn't public: ((x0 + x1) + x2) + ...",
          .costs = {{"all_reduce", "2", "2n(R-1)/R"},
                    {"reduce_scatter", "1", "n(R-1)/R"},
                    {"all_gather", "1", "n(R-1)"}},
          .source = "NCCL 2.17, NVLS; PTX ISA 8.1, multimem",
          .parameters = "",
          .build = build,
          .is_in_network = true};
}

}  // namespace vranks::algorithms_of
