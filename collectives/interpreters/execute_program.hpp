// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the lanes of a program on real data, where the ranks live in several processes: messages
// between ranks of one process pass through memory, others through Messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collectives/interpreters/messages.hpp"
#include "collectives/layout.hpp"
#include "collectives/program.hpp"
#include "kernels/arithmetic_rules.hpp"
#include "kernels/fold_program.hpp"
#include "ranks/device.hpp"

namespace vranks {

// Where the ranks of a program live.
struct RankPlaces {
  std::vector<int> processes;  // of each rank
  int here = 0;                // this process
};

// Chunks travel in pieces of at most that many bytes, so that one is sent while the next is
// combined and the one in front of it is received.
inline constexpr std::int64_t default_piece_bytes = 256 << 10;

// Bits as execute_steps() gives them for the schedule that was lowered. Every process makes one
// with the same arguments but for rows and places.here, all of which have to live as long.
class ProgramRun {
 public:
  // rows   of all ranks; those of other processes are null. Where only the root has an output it is
  //        the only row. Partial results lie on `device` too, messages in host memory.
  // Throws bad_argument if a chunk is read before it was written or chunks of different lengths are
  // combined, not_available if the memory can't be had.
  ProgramRun(const Program& program, const Layout& layout, const Arithmetic& rules,
             const FoldRows& rows, Device device, const RankPlaces& places, Messages& messages,
             std::int64_t piece_bytes = default_piece_bytes);
  ~ProgramRun();

  // Returns when all is done here. A send ends once its message is packed, so that a program which
  // lower() made can't block. `filling` is the element that fills outputs which no message brings.
  // Throws what the messages throw.
  void run(std::span<const std::byte> filling);

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace vranks
