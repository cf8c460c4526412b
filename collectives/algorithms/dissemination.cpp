// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Dissemination: in step k every rank tells rank r + 2^k (modulo R) whom it has heard of. A barrier
// for any R in the fewest steps with one message each. Over R = 4; a row is a rank, the numbers
// whom it has heard of:
//
//   rank   step 1   step 2
//   0      0 3      0 1 2 3
//   1      0 1      0 1 2 3
//   2      1 2      0 1 2 3
//   3      2 3      0 1 2 3
//
// Where R is no power of two, some ranks are heard of twice.
// Steps ceil(log2 R), with one message a rank each.
// D. Hensgen, R. Finkel and U. Manber, "Two algorithms for barrier synchronization", Int. J.
// Parallel Program. 17(1), 1988.
#include <bit>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/shapes.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  ScheduleBuilder builder(shape_of(problem, 1));
  if (ranks == 1) builder.add(copy(output(0, 0), input(0, 0)));
  const std::int32_t steps = std::bit_width(static_cast<std::uint32_t>(ranks - 1));
  // What a rank knows before a step is not where it is afterwards, so that no rank has to wait
  // until it was read: with rendezvous all would.
  const auto known = [&](std::int32_t step, std::int32_t r) {
    if (step == 0) return input(r, 0);
    return (steps - step) % 2 == 0 ? output(r, 0) : scratch(r, 0);
  };
  for (std::int32_t step = 0; step < steps; ++step) {
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t from = (r + ranks - (1 << step)) % ranks;
      builder.add(reduce(known(step + 1, r), known(step, from), known(step, r)));
    }
    builder.end_step();
  }
  builder.end_step();
  return std::move(builder).build();
}

}  // namespace

Algorithm dissemination() {
  return {.name = "dissemination",
          .aliases = "",
          .collectives = "barrier",
          .order = "none: no data",
          .costs = {{"barrier", "ceil(log2 R)", "0, in ceil(log2 R) messages"}},
          .source =
              "D. Hensgen, R. Finkel and U. Manber, Two algorithms for barrier synchronization, "
              "Int. J. Parallel Program. 17(1), 1988",
          .parameters = "",
          .build = build};
}

}  // namespace vranks::algorithms_of
