// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Scan and exscan from rank to rank: ((x0 + x1) + x2) + ..., one message a step.
#pragma once

#include <cstdint>

#include "collectives/algorithms/shapes.hpp"
#include "collectives/schedule.hpp"

namespace vranks::algorithms_of {

// In a scan rank r adds its own input to what comes from rank r - 1; in an exscan it keeps what
// comes, and adds its own input to what it sends on.
inline Schedule prefix_schedule(const Problem& problem) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const bool is_scan = problem.collective == Collective::scan;
  ScheduleBuilder builder(shape_of(problem, is_scan ? 0 : 1));
  if (is_scan) builder.add(copy(output(0, 0), input(0, 0)));
  for (std::int32_t r = 1; r < ranks; ++r) {
    const ChunkRef before = r == 1 ? input(0, 0) : output(r - 1, 0);
    if (is_scan) {
      builder.add(reduce(output(r, 0), before, input(r, 0)));
    } else if (r == 1) {
      builder.add(copy(output(r, 0), before));
    } else {
      builder.add(reduce(scratch(r - 1, 0), before, input(r - 1, 0)));
      builder.end_step();
      builder.add(copy(output(r, 0), scratch(r - 1, 0)));
    }
    builder.end_step();
  }
  builder.end_step();
  return std::move(builder).build();
}

}  // namespace vranks::algorithms_of
