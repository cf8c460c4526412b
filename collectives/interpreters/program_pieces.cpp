// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/program_pieces.hpp"

#include <algorithm>
#include <vector>

namespace vranks {

namespace {

// Chunks of its rank that an instruction touches.
struct Touched {
  LocalChunk chunk;
  std::int32_t count;
};

std::vector<Touched> touched(const Instruction& i) {
  const InstructionInfo& does = info(i.kind);
  std::vector<Touched> all;
  if (does.reads_a) all.push_back({i.a, i.count});
  if (does.reads_b) all.push_back({i.b, i.count});
  if (does.writes) all.push_back({i.dst, i.count});
  return all;
}

bool are_aligned_chunks(const Touched& a, const Touched& b) {
  if (a.chunk.slot != b.chunk.slot || a.chunk.index == b.chunk.index) return true;
  return a.chunk.index + a.count <= b.chunk.index || b.chunk.index + b.count <= a.chunk.index;
}

}  // namespace

std::int64_t ProgramPieces::length(std::int32_t lane, const Piece& piece) const {
  const std::int32_t n = number(lane, piece);
  if (program_.instruction(n).kind == InstructionKind::nop) return 0;
  return layout_.length(chunks_.of(n, piece.k).result);
}

Piece ProgramPieces::first(std::int32_t lane, std::int32_t index) const {
  Piece piece{.index = index};
  if (index < program_.lane_size(lane)) piece.end = std::min(length(lane, piece), most_elements_);
  return piece;
}

Piece ProgramPieces::next(std::int32_t lane, Piece piece) const {
  const std::int64_t all = length(lane, piece);
  if (piece.end < all) {
    piece.begin = piece.end;
    piece.end = std::min(all, piece.end + most_elements_);
    return piece;
  }
  if (piece.k + 1 >= program_.instruction(number(lane, piece)).count)
    return first(lane, piece.index + 1);
  ++piece.k;
  piece.begin = 0;
  piece.end = std::min(length(lane, piece), most_elements_);
  return piece;
}

bool ProgramPieces::are_aligned(std::int32_t number, std::int32_t other) const {
  for (const Touched& x : touched(program_.instruction(number)))
    for (const Touched& y : touched(program_.instruction(other)))
      if (!are_aligned_chunks(x, y)) return false;
  return true;
}

bool ProgramPieces::can_follow(std::int32_t number, std::int32_t other) const {
  return program_.instruction(number).kind != InstructionKind::nop && are_aligned(number, other);
}

}  // namespace vranks
