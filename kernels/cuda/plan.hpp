// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How a fold is cut into kernel launches. One launch walks all ranks if the columns alone fill the
// machine. If they don't, ranks are cut into aligned subtrees of a power-of-two size, whose carried
// results the next launch combines: the same tree, so the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/tree_fold.hpp"

namespace vranks::cuda {

// Measured on an H200: 128 threads reach the memory's speed with the least spread.
inline constexpr int block_threads = 128;

// Rows that a thread reads at once, and merge levels above blocks of so many that a kernel has
// registers for: R <= 64, R <= 1024, and all larger R that one launch walks.
inline constexpr int block_ranks = 16;
inline constexpr int few_levels = 2;
inline constexpr int some_levels = 6;
inline constexpr int most_levels = 17;
// Subtrees that the threads of a block may share.
inline constexpr int most_shared = 32;
constexpr std::int64_t ranks_of_levels(int levels) { return std::int64_t{block_ranks} << levels; }
// Up to so many ranks are read at once, by kernels made for each R.
inline constexpr int few_ranks = 8;

// Common types and ops have kernels for all of these; the others, to keep compile time in bounds,
// one for some_levels alone, and their ranks are cut above 1024.
bool is_common(const TreeFold& fold);

struct Plan {
  struct Cut {
    std::int64_t ranks;          // rows that this launch reads
    std::int64_t subtree_ranks;  // rows to one subtree
    std::int64_t subtrees() const { return (ranks + subtree_ranks - 1) / subtree_ranks; }
  };

  // Where columns alone would leave most of the machine idle: rows that a thread folds, while the
  // threads of a block share columns. 0: not so. For aligned rows alone; others are cut.
  std::int64_t shared_ranks = 0;
  Cut cuts[16];  // launches that leave parts; the last launch walks what they left
  int count = 0;
  std::int64_t last_ranks = 0;  // rows that the last launch reads

  // Depends on shapes and types alone, so that workspace sizes don't depend on pointers.
  Plan(const TreeFold& fold, int multiprocessors);

  // Parts of launch k lie in half k % 2 of the workspace.
  std::size_t half_bytes(const TreeFold& fold) const;
  std::size_t workspace_bytes(const TreeFold& fold) const;
};

// Bytes of the widest carried value of that fold on the device.
std::size_t widest_carried_bytes(const TreeFold& fold);

// Whether every row of the fold can be read and written so many bytes at a time.
bool rows_are_aligned(const TreeFold& fold, std::uintptr_t bytes);

}  // namespace vranks::cuda
