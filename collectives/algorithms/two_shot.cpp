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

Schedule build(const Problem& problem, const Parameters&) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const auto root = static_cast<std::int32_t>(problem.root);
  const Collective collective = problem.collective;
  ScheduleBuilder builder({.collective = collective,
                           .ranks = ranks,
                           .root = root,
                           .chunks = ranks,
                           .scratch_chunks = collective == Collective::all_gather ? 0 : ranks});
  if (collective == Collective::all_gather) {
    add_gather(builder, ranks);
    return std::move(builder).build();
  }
  const auto result = [&](std::int32_t d) {
    switch (collective) {
      case Collective::reduce:
        return d == root ? output(d, d) : scratch(d, 0);
      case Collective::reduce_scatter:
        return output(d, 0);
      default:
        return output(d, d);
    }
  };
  add_read_and_combine(
      builder, ranks, 0, ranks, [](std::int32_t d) { return d; }, result);
  const auto add_reads = [&](std::int32_t r) {
    for (std::int32_t d = 0; d < ranks; ++d)
      if (d != r) builder.add(copy(output(r, d), result(d)));
  };
  if (collective == Collective::reduce) add_reads(root);
  if (collective == Collective::all_reduce)
    for (std::int32_t r = 0; r < ranks; ++r) add_reads(r);
  builder.end_step();
  return std::move(builder).build();
}

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
