// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Which elements the instructions of a program are about: for every chunk of every instruction the
// chunk of the whole vector that it reads and makes. What scratch chunks and messages hold depends
// on what was put there, so this follows the program from its start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/program.hpp"

namespace vranks {

class MessageChunks {
 public:
  // Throws bad_argument, naming the instruction, where a chunk is read that nothing has written,
  // where a message has another number of chunks than its receiver takes, where chunks of different
  // lengths are combined, and for a program that blocks.
  MessageChunks(const Program& program, const Layout& layout);

  // Of chunk `k` of instruction `number`.
  struct Chunks {
    std::int32_t a = -1, b = -1, message = -1, result = -1;
  };
  const Chunks& of(std::int32_t number, std::int32_t k) const {
    return chunks_[begins_[static_cast<std::size_t>(number)] + static_cast<std::size_t>(k)];
  }
  // The chunk of the whole vector that an instruction is about: what it makes, or else what it
  // passes on. Of a message sender and receiver say the same. Precondition: it is no nop.
  std::int32_t moved(const Instruction& instruction, std::int32_t number, std::int32_t k) const {
    const InstructionInfo& does = info(instruction.kind);
    const Chunks& chunks = of(number, k);
    if (does.writes || does.combines_message()) return chunks.result;
    return does.receives ? chunks.message : chunks.a;
  }
  // Whether anything is written to that output chunk.
  bool is_written(std::int32_t rank, std::int32_t index) const;

 private:
  std::vector<std::size_t> begins_;
  std::vector<Chunks> chunks_;
  std::vector<std::int32_t> held_;  // by writable chunk
  std::size_t outputs_ = 0, a_rank_ = 0;
};

}  // namespace vranks
