// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A program with the sizes of its messages. Where chunks are several intervals (NCCL's windows), or
// are cut into tiles, the lanes do all their instructions for the first part, then all for the
// second, and so on. Such a part is a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/interpreters/message_chunks.hpp"
#include "collectives/layout.hpp"
#include "collectives/program.hpp"

namespace vranks {

class SizedProgram {
 public:
  // The program has to live as long. `element_bytes` of the layout's elements; tiles of at most
  // tile_bytes, 0: intervals aren't cut. No more than the first most_windows are kept. Throws as
  // MessageChunks.
  SizedProgram(const Program& program, const Layout& layout, std::int64_t element_bytes,
               std::int64_t tile_bytes = 0, std::int64_t most_windows = INT32_MAX);

  const Program& program() const { return program_; }
  std::int32_t windows() const { return windows_; }  // that are kept
  // Of the vector; all but the last have the sizes of the first.
  std::int64_t all_windows() const { return all_windows_; }
  // Of the whole vector, in the first window.
  std::int64_t window_bytes() const { return window_bytes_; }
  // What is left to know of an instruction: 16 bytes, for there are many.
  struct Op {
    std::uint32_t kind : 4;   // InstructionKind
    std::uint32_t size : 28;  // which of the sizes
    std::int32_t chunk;       // the first, of the whole vector; -1: none
    Place wait;               // for the only one that it waits for; see the constants below
  };
  static constexpr std::int32_t no_wait = -1, many_waits = -2;  // in place of a lane

  const Op& op(std::int32_t number) const { return ops_[static_cast<std::size_t>(number)]; }
  // What an instruction moves or makes in that window.
  std::int64_t bytes(const Op& op, std::int32_t window) const {
    return bytes_[static_cast<std::size_t>(op.size) * static_cast<std::size_t>(windows_) +
                  static_cast<std::size_t>(window)];
  }
  // Of a rank: its longest slot, and the memory that its results need beside input and output: its
  // scratch chunks, and the longest message that it combines.
  std::int64_t vector_bytes() const { return vector_bytes_; }
  std::int64_t temporary_bytes(std::int32_t rank) const {
    return temporary_bytes_[static_cast<std::size_t>(rank)];
  }
  // Whether both work on the same chunks one after the other, so that an instruction that waits
  // for the other one can follow it piece by piece.
  static bool can_follow(const Op& op, const Op& other) {
    return op.size == other.size && op.chunk == other.chunk;
  }

 private:
  void add_op(std::int32_t number, std::int32_t size, std::int32_t chunk);

  const Program& program_;
  std::int32_t windows_ = 1;
  std::int64_t all_windows_ = 1, window_bytes_ = 0;
  std::vector<Op> ops_;
  std::vector<std::int64_t> bytes_;  // [size][window]
  std::int64_t vector_bytes_ = 0;
  std::vector<std::int64_t> temporary_bytes_;
};

}  // namespace vranks
