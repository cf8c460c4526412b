// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/program_pieces.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace vranks {
namespace {

// Rank 0 copies chunks 0 and 1, then sends both, and chunk 1 alone; rank 1 receives them.
Program two_chunks() {
  ProgramParts parts;
  parts.shape = {.collective = Collective::broadcast, .ranks = 2, .chunks = 2};
  parts.add(Lane{.rank = 0, .id = 0});
  parts.add(
      {.kind = InstructionKind::copy, .count = 2, .a = {0, Slot::input}, .dst = {0, Slot::output}});
  parts.add(Lane{.rank = 0, .id = 1, .send_to = 1});
  parts.add({.kind = InstructionKind::send, .count = 2, .a = {0, Slot::output}}, {{0, 0}});
  parts.add(Lane{.rank = 0, .id = 2, .send_to = 1, .channel = 1});
  parts.add({.kind = InstructionKind::send, .a = {1, Slot::output}}, {{0, 0}});
  parts.add(Lane{.rank = 1, .id = 0, .receive_from = 0});
  parts.add({.kind = InstructionKind::recv, .count = 2, .dst = {0, Slot::output}});
  parts.add(Lane{.rank = 1, .id = 1, .receive_from = 0, .channel = 1});
  parts.add({.kind = InstructionKind::recv, .dst = {1, Slot::output}});
  return Program{parts};
}

TEST(Piece, IsDoneBehindIt) {
  const Piece first{0, 0, 0, 4}, second{0, 0, 4, 7}, next{0, 1, 0, 4};
  EXPECT_FALSE(first.is_behind(first));
  EXPECT_TRUE(second.is_behind(first));
  EXPECT_FALSE(first.is_behind(second));
  EXPECT_TRUE(next.is_behind(second));
  EXPECT_FALSE(second.is_behind(next));
  // A piece without elements is done with its chunk only.
  const Piece nothing{0, 0, 0, 0};
  EXPECT_FALSE(nothing.is_behind(nothing));
  EXPECT_TRUE(next.is_behind(nothing));
}

TEST(ProgramPieces, GoThroughChunks) {
  const Program program = two_chunks();
  const Layout layout(8, {{{0, 5, 0}}, {{5, 8, 5}}});
  const MessageChunks chunks(program, layout);
  const ProgramPieces pieces(program, layout, chunks, 2);
  std::vector<std::vector<std::int64_t>> found;
  for (Piece piece = pieces.first(1, 0); piece.index == 0; piece = pieces.next(1, piece))
    found.push_back({piece.k, piece.begin, piece.end});
  EXPECT_EQ(found, (std::vector<std::vector<std::int64_t>>{
                       {0, 0, 2}, {0, 2, 4}, {0, 4, 5}, {1, 0, 2}, {1, 2, 3}}));
  // Each piece is behind all before it, and no other one.
  std::vector<Piece> all;
  for (Piece piece = pieces.first(1, 0); piece.index == 0; piece = pieces.next(1, piece))
    all.push_back(piece);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < all.size(); ++k)
      EXPECT_EQ(all[i].is_behind(all[k]), i > k) << i << ' ' << k;
}

TEST(ProgramPieces, FollowTheSameChunksOnly) {
  const Program program = two_chunks();
  const Layout layout(8, {{{0, 5, 0}}, {{5, 8, 5}}});
  const MessageChunks chunks(program, layout);
  const ProgramPieces pieces(program, layout, chunks, 2);
  const std::int32_t copies = 0, sends_both = 1, sends_second = 2;
  EXPECT_TRUE(pieces.can_follow(sends_both, copies));
  EXPECT_FALSE(pieces.can_follow(sends_second, copies));  // its first is the other's second
}

}  // namespace
}  // namespace vranks
