// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What chunks compute: expressions over the ranks' inputs, such as ((x1 + x2) + x3) + x0. Equal
// expressions are kept once, so equal ids mean equal bits on every rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vranks {

// Which operand of a combine is the input of the rank that combines, not yet touched by any op.
// Libraries that scale inputs may fuse that scaling with the addition (see Fuse).
enum class Own : std::uint8_t { none, left, right };

using FoldId = std::int32_t;
inline constexpr FoldId no_fold = -1;

class FoldGraph {
 public:
  // Leaves are there from the start: `chunks` of each rank.
  FoldGraph(std::int32_t ranks, std::int32_t chunks);

  // The input chunk `chunk` of that rank, counted in the rank's input slot.
  FoldId leaf(std::int32_t rank, std::int32_t chunk) const { return rank * chunks_ + chunk; }
  // op(left, right), rounded once.
  FoldId combine(FoldId left, FoldId right, Own own);

  bool is_leaf(FoldId id) const { return id < leaves_; }
  std::int32_t leaf_rank(FoldId id) const { return id / chunks_; }
  std::int32_t leaf_chunk(FoldId id) const { return id % chunks_; }
  FoldId left(FoldId id) const { return nodes_[static_cast<std::size_t>(id - leaves_)].left; }
  FoldId right(FoldId id) const {
    return static_cast<FoldId>(nodes_[static_cast<std::size_t>(id - leaves_)].right_and_own >> 2);
  }
  Own own(FoldId id) const {
    return static_cast<Own>(nodes_[static_cast<std::size_t>(id - leaves_)].right_and_own & 3);
  }
  // Leaves come first, and operands before what is made of them.
  FoldId leaves() const { return leaves_; }
  // Leaves and combines.
  std::int64_t size() const { return leaves_ + static_cast<std::int64_t>(nodes_.size()); }
  std::size_t memory_bytes() const;

 private:
  struct Node {
    FoldId left;
    std::uint64_t right_and_own;
  };
  void grow();

  FoldId leaves_ = 0;
  std::int32_t chunks_ = 1;
  std::vector<Node> nodes_;
  std::vector<FoldId> table_;  // open addressing; no_fold where free
};

// "((x1 + x2) + x3) + x0". `most` bounds its length; "..." stands for the rest.
std::string to_string(const FoldGraph& graph, FoldId fold, std::size_t most = 400);

}  // namespace vranks
