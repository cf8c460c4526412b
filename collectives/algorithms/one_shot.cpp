// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One shot: every rank reads all it needs from all ranks in one step, then combines by itself, in
// rank order on every rank. The fewest steps, the most bytes: for small messages. All-reduce over
// R = 4; a row is a rank, 0,1 are copies side by side, 0+1 the sum of ranks 0 and 1:
//
//   rank   step 1     then alone
//   0      0,1,2,3    ((0+1)+2)+3
//   1      0,1,2,3    ((0+1)+2)+3
//   2      0,1,2,3    ((0+1)+2)+3
//   3      0,1,2,3    ((0+1)+2)+3
//
// Of a reduce the root alone reads; of a reduce-scatter rank d reads block d. Steps with messages:
//
//                    steps  bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce       1      n(R - 1)
//   reduce           1      n
//   reduce_scatter   1      n(R - 1)/R
//   all_gather       1      n(R - 1)
//
// NVIDIA TensorRT-LLM, custom all-reduce kernels, "one-shot" strategy; vLLM, custom_all_reduce.cuh,
// 1-stage kernel.
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/shots.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const auto root = static_cast<std::int32_t>(problem.root);
  const bool scatters = problem.collective == Collective::reduce_scatter;
  const bool gathers = problem.collective == Collective::all_gather;
  const bool rooted = problem.collective == Collective::reduce;
  ScheduleBuilder builder({.collective = problem.collective,
                           .ranks = ranks,
                           .root = root,
                           .chunks = scatters || gathers ? ranks : 1,
                           .scratch_chunks = gathers ? 0 : ranks});
  if (gathers)
    add_gather(builder, ranks);
  else
    add_read_and_combine(
        builder, ranks, rooted ? root : 0, rooted ? root + 1 : ranks,
        [&](std::int32_t r) { return scatters ? r : 0; },
        [](std::int32_t r) { return output(r, 0); });
  return std::move(builder).build();
}

}  // namespace

Algorithm one_shot() {
  return {.name = "one_shot",
          .aliases = "",
          .collectives = "all_reduce reduce reduce_scatter all_gather",
          .order = "rank order: ((x0 + x1) + x2) + ...",
          .costs = {{"all_reduce", "1", "n(R-1)"},
                    {"reduce", "1", "n"},
                    {"reduce_scatter", "1", "n(R-1)/R"},
                    {"all_gather", "1", "n(R-1)"}},
          .source =
              "TensorRT-LLM, custom all-reduce, one-shot strategy; vLLM, "
              "custom_all_reduce.cuh, 1-stage kernel",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
