// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The shape of a schedule that cuts the whole vector no further than its collective does: one chunk
// a block.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "collectives/schedule.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

// Throws not_supported if there are too many blocks to be numbered.
inline ScheduleShape shape_of(const Problem& problem, std::int32_t scratch_chunks = 0) {
  const std::int64_t pairs = problem.ranks * problem.ranks;
  if (problem.collective == Collective::all_to_all &&
      pairs > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorKind::not_supported,
                fmt::format("an all_to_all over {} ranks has {} blocks, more than 2^31",
                            problem.ranks, pairs));
  ScheduleShape shape{.collective = problem.collective,
                      .ranks = static_cast<std::int32_t>(problem.ranks),
                      .root = static_cast<std::int32_t>(problem.root),
                      .scratch_chunks = scratch_chunks,
                      .sources = problem.sources};
  shape.chunks = shape.blocks();
  return shape;
}

}  // namespace vranks::algorithms_of
