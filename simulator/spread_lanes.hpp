// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How lanes are split into several that go on side by side.
#pragma once

#include <cstdint>

#include "collectives/program.hpp"

namespace vranks {

// Every lane that sends or receives becomes `channels` lanes: what is about chunk i (the first of
// an instruction) goes to the one of channel (i / chunks_in_row) mod channels. 0: as it is. All of
// that `instances` times, side by side, each about an equal part of every chunk, so the program has
// that many times the chunks; throws not_supported for an instruction about several chunks then. As
// msccl-tools' instances and `chan` do (microsoft/msccl-tools, msccl/language), and NCCL's
// channels.
Program spread_lanes(const Program& program, std::int32_t channels, std::int32_t instances,
                     std::int32_t chunks_in_row = 1);

// Of an algorithm whose Algorithm::is_in_network is true: inputs that are reduced go by lanes of
// even channels, all else by others of odd ones.
Program separate_sums(const Program& program);
// Of a program that went through it.
inline bool is_summed(const Lane& lane) { return lane.channel % 2 == 0; }

}  // namespace vranks
