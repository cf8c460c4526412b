// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules and programs for reading, as `vranks show` prints them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "collectives/program.hpp"
#include "collectives/schedule.hpp"

namespace vranks {

struct TextOptions {
  std::size_t most_lines = 40;  // of the transfers, of the results, of the instructions
};

// Numbers, the transfers of each step, and what each chunk of the result is made of:
//
//   all_reduce: 4 ranks, 4 chunks, 6 steps, 24 transfers, 24 messages
//   messages in 6 steps; each rank sends 6 chunks, 1.5n bytes; n: bytes of a rank's input
//   step 0
//     rank 0: output[3] = input[3] of rank 3 + input[3]
//     ranks 1 to 3: output[0 to 2] = input[0 to 2] of ranks 0 to 2 + input[0 to 2]
//   ...
//   chunk 0   ((x0 + x1) + x2) + x3   on all ranks
//
// "0 to 2" counts along in all places of a line. + stands for the op, x3 for rank 3's input.
std::string to_text(const Schedule& schedule, const TextOptions& options = {});

// A line of numbers and the instructions of each lane:
//
//   program of all_reduce: 4 ranks, 4 chunks, 8 lanes, 48 instructions, 24 messages, 36 waits
//   rank 0 lane 0: sends to rank 1
//     0  send input[0]
//     1  send output[3]   after lane 1 step 0
std::string to_text(const Program& program, const TextOptions& options = {});

}  // namespace vranks
