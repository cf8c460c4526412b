// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How NCCL cuts a vector: into one part a channel, and a ring all-reduce's part into windows of R
// chunks. One collective a group call; several are packed together by other rules.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/nccl/constants.hpp"
#include "collectives/problem.hpp"

namespace vranks::nccl {

// What decides the parts.
struct Cut {
  Collective collective = Collective::all_reduce;
  std::int64_t ranks = 1;
  std::int64_t elements = 0;  // of the vector, or of one block if the collective has blocks
  std::int64_t element_bytes = 4;
  Protocol protocol = Protocol::simple;
  bool tree = false;
  std::int32_t channels = 1;  // of the communicator
};

// Elements of each channel's part, channel after channel; 0 for a channel that isn't used. Blocks
// are all cut alike.
std::vector<std::int64_t> part_lengths(const Constants& constants, const Cut& cut);

// Appends to chunks[c], for every c of a ring over chunks.size() ranks, its pieces of the part
// [begin, begin + elements): one a window. A piece's origin is its begin.
void add_windows(const Constants& constants, Protocol protocol, std::int64_t element_bytes,
                 std::int64_t begin, std::int64_t elements,
                 std::span<std::vector<Interval>> chunks);

}  // namespace vranks::nccl
