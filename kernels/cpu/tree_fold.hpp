// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How the CPU backend cuts a fold into tasks for threads. The cut never changes a bit: columns are
// independent, and ranks are only cut into aligned subtrees of a power-of-two size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/tree_fold.hpp"

namespace vranks::cpu {

// Carried bytes of one tile. Measured: 4 to 16 KiB are equally fast; eight rows and a level for
// each power of two of R fit in the L2 cache.
inline constexpr std::int64_t tile_bytes = 8192;

// Tiles that the tree over `ranks` rows needs at once: one a level above blocks of eight, and one
// for the block in hand.
constexpr int scratch_tiles(std::int64_t ranks) { return std::max(tree_levels(ranks) - 3, 0) + 2; }

struct TileTask {
  enum Kind {
    whole,  // all ranks at these columns, result written to the output rows; the only kind that
            // may have more columns than a tile
    part,   // ranks [first_rank, first_rank + ranks) at these columns, carried result to `parts`
    join,   // `ranks` parts, tile_bytes apart from `parts` on, combined and written to the output
  };

  TreeFold fold;
  Kind kind = whole;
  std::int64_t first_rank = 0;
  std::int64_t ranks = 0;
  std::int64_t first_column = 0;
  std::int64_t columns = 0;
  std::byte* scratch = nullptr;  // scratch_tiles(ranks) tiles
  std::byte* parts = nullptr;
  bool stream_stores = false;  // write around the cache
};

// Carried bytes of one element.
std::int64_t carried_bytes(const TreeFold& fold);

// Runs a task with the best vector instructions of this processor.
void run(const TileTask& task);

// The instruction set that run() uses, as Highway names it.
const char* instruction_set();

}  // namespace vranks::cpu
