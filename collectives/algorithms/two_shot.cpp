// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Two shots: a direct reduce-scatter, in which rank d reads block d of all ranks and combines it in
// rank order (never its own first), and a direct all-gather of the results. All-reduce over R = 4;
// a row is a rank, a column a chunk, * the sum ((0+1)+2)+3, . an untouched input:
//
//   rank   step 1 and alone   step 2
//   0      *  .  .  .         *  *  *  *
//   1      .  *  .  .         *  *  *  *
//   2      .  .  *  .         *  *  *  *
//   3      .  .  .  *         *  *  *  *
//
// reduce-scatter and all-gather are its two halves; reduce sends what the first half made to the
// root. Steps with messages, R > 1:
//
//                    steps  bytes sent by the busiest rank (n: what a rank puts in)
//   all_reduce       2      2n(R - 1)/R
//   reduce           2      n
//   reduce_scatter   1      n(R - 1)/R
//   all_gather       1      n(R - 1)
//
// NVIDIA TensorRT-LLM, custom all-reduce kernels, "two-shot" strategy; vLLM, custom_all_reduce.cuh,
// 2-stage kernel.
#include "collectives/algorithm.hpp"
#include "collectives/algorithms/shots.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) { return two_shot_schedule(problem); }

}  // namespace

Algorithm two_shot() {
  return {.name = "two_shot",
          .aliases = "",
          .collectives = "all_reduce reduce reduce_scatter all_gather",
          .order = "rank order: ((x0 + x1) + x2) + ...",
          .costs = {{"all_reduce", "2", "2n(R-1)/R"},
                    {"reduce", "2", "n"},
                    {"reduce_scatter", "1", "n(R-1)/R"},
                    {"all_gather", "1", "n(R-1)"}},
          .source =
              "TensorRT-LLM, custom all-reduce, two-shot strategy; vLLM, "
              "custom_all_reduce.cuh, 2-stage kernel",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
