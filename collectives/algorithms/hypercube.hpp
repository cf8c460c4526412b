// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks as the corners of a hypercube. Where R is no power of two, the first ranks stand two by two
// at one corner, and one of them acts for both.
#pragma once

#include <bit>
#include <cstdint>

#include "collectives/schedule.hpp"

namespace vranks::algorithms_of {

struct Hypercube {
  explicit Hypercube(std::int32_t r)
      : ranks(r),
        corners(static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(r)))),
        extra(r - corners),
        dimensions(std::countr_zero(static_cast<std::uint32_t>(corners))) {}

  // The (first) rank at corner j. rank(corners) is R.
  std::int32_t rank(std::int32_t j) const { return j < extra ? 2 * j : j + extra; }
  // How many ranks are at it.
  std::int32_t ranks_at(std::int32_t j) const { return j < extra ? 2 : 1; }
  // The corner of a rank.
  std::int32_t corner(std::int32_t r) const { return r < 2 * extra ? r / 2 : r - extra; }

  // First step of an all-gather: everyone has its own block in place, and that of the other rank at
  // its corner.
  void add_own_blocks(ScheduleBuilder& builder) const {
    for (std::int32_t r = 0; r < ranks; ++r) builder.add(copy(output(r, r), input(r, 0)));
    for (std::int32_t j = 0; j < extra; ++j)
      builder.add(copy(output(2 * j, 2 * j + 1), input(2 * j + 1, 0)));
    builder.end_step();
  }
  // Last step: the second rank at a corner gets all `chunks` chunks from the first.
  void add_results_of_extra(ScheduleBuilder& builder, std::int32_t chunks) const {
    for (std::int32_t j = 0; j < extra; ++j)
      builder.add(copy(output(2 * j + 1, 0, chunks), output(2 * j, 0, chunks)));
    builder.end_step();
  }

  std::int32_t ranks, corners;
  std::int32_t extra;  // corners with two ranks: the first ones
  std::int32_t dimensions;
};

}  // namespace vranks::algorithms_of
