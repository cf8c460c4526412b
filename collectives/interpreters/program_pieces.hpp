// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The instructions of a program cut into pieces, so that large chunks move through it as through a
// pipeline; and which instructions may follow one another piece by piece.
#pragma once

#include <cstdint>

#include "collectives/interpreters/message_chunks.hpp"
#include "collectives/layout.hpp"
#include "collectives/program.hpp"

namespace vranks {

// Elements [begin, end) of chunk `k` of an instruction.
struct Piece {
  std::int32_t index = 0;  // of the instruction in its lane
  std::int32_t k = 0;
  std::int64_t begin = 0, end = 0;

  // Whether a lane whose next piece is this one has done that piece of the same instruction. One
  // without elements is done only with its chunk.
  bool is_behind(const Piece& piece) const {
    if (k != piece.k) return k > piece.k;
    return piece.begin < piece.end && begin >= piece.end;
  }
};

class ProgramPieces {
 public:
  // All of these have to live as long. Pieces have at most that many elements.
  ProgramPieces(const Program& program, const Layout& layout, const MessageChunks& chunks,
                std::int64_t most_elements)
      : program_(program), layout_(layout), chunks_(chunks), most_elements_(most_elements) {}

  std::int64_t most_elements() const { return most_elements_; }
  // The number of a piece's instruction in the program.
  std::int32_t number(std::int32_t lane, const Piece& piece) const {
    return program_.lane_begin(lane) + piece.index;
  }
  // The first piece of that instruction of the lane; a chunk without elements is one piece. Behind
  // the last instruction a piece that is none.
  Piece first(std::int32_t lane, std::int32_t index) const;
  Piece next(std::int32_t lane, Piece piece) const;

  // Whether two instructions of one rank touch the same chunks in the same order, or different
  // ones.
  bool are_aligned(std::int32_t number, std::int32_t other) const;
  // Whether an instruction that waits for another one can follow it piece by piece.
  bool can_follow(std::int32_t number, std::int32_t other) const;

 private:
  std::int64_t length(std::int32_t lane, const Piece& piece) const;

  const Program& program_;
  const Layout& layout_;
  const MessageChunks& chunks_;
  std::int64_t most_elements_;
};

}  // namespace vranks
