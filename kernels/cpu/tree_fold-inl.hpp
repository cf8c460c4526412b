// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The tree fold over tiles of columns, compiled once for each vector instruction set (Highway's
// foreach_target includes this file repeatedly).
//
// A tile is a few KiB of one row. Blocks of eight rows are combined in registers; the block
// results are merged like the digits of a binary counter: after block number b (counted from 1),
// as many merges follow as b has trailing zero bits. That is the balanced tree, in one pass over
// memory, with one tile for each level that lives in the cache.

// clang-format off
#if defined(VRANKS_TREE_FOLD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VRANKS_TREE_FOLD_INL
#undef VRANKS_TREE_FOLD_INL
#else
#define VRANKS_TREE_FOLD_INL
#endif
// clang-format on

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/cpu/lanes-inl.hpp"
#include "kernels/cpu/tree_fold.hpp"

HWY_BEFORE_NAMESPACE();
namespace vranks::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int block_ranks = 8;

template <class Op>
using Element = typename Op::Element;
template <class Op>
using Carried = typename Op::Carried;

// tile[i] = tree over rows[0..m) at column i.
template <int m, class Op>
HWY_NOINLINE void fold_block(const Op& op, const Element<Op>* const* rows, std::int64_t columns,
                             Carried<Op>* HWY_RESTRICT tile) {
  const Element<Op>* row[m];
  for (int k = 0; k < m; ++k) row[k] = rows[k];
  std::int64_t i = 0;
  if constexpr (Lanes<Op>::available) {
    const Lanes<Op> lanes(op);
    const auto combine = [&](auto a, auto b) HWY_ATTR { return lanes.combine(a, b); };
    const std::int64_t step = lanes.count();
    for (; i + step <= columns; i += step) {
      const auto leaf = [&](int k) HWY_ATTR { return lanes.load(row[k] + i); };
      lanes.store(tree<0, m>(leaf, combine), tile + i);
    }
  }
  // What is left of the tile; for ops without vector code the compiler makes vectors itself.
  const auto combine = [&](auto a, auto b) HWY_ATTR { return op.combine(a, b); };
  for (; i < columns; ++i) {
    const auto leaf = [&](int k) HWY_ATTR { return op.lift(row[k][i]); };
    tile[i] = tree<0, m>(leaf, combine);
  }
}

template <class Op>
HWY_INLINE void fold_rows(const Op& op, const Element<Op>* const* rows, int m, std::int64_t columns,
                          Carried<Op>* tile) {
  switch (m) {
    case 1:
      return fold_block<1>(op, rows, columns, tile);
    case 2:
      return fold_block<2>(op, rows, columns, tile);
    case 3:
      return fold_block<3>(op, rows, columns, tile);
    case 4:
      return fold_block<4>(op, rows, columns, tile);
    case 5:
      return fold_block<5>(op, rows, columns, tile);
    case 6:
      return fold_block<6>(op, rows, columns, tile);
    case 7:
      return fold_block<7>(op, rows, columns, tile);
    default:
      return fold_block<8>(op, rows, columns, tile);
  }
}

// left[i] = left[i] op right[i]
template <class Op>
HWY_NOINLINE void merge(const Op& op, Carried<Op>* HWY_RESTRICT left,
                        const Carried<Op>* HWY_RESTRICT right, std::int64_t columns) {
  std::int64_t i = 0;
  if constexpr (Lanes<Op>::available) {
    const Lanes<Op> lanes(op);
    const std::int64_t step = lanes.count();
    for (; i + step <= columns; i += step)
      lanes.store(lanes.combine(lanes.load_carried(left + i), lanes.load_carried(right + i)),
                  left + i);
  }
  for (; i < columns; ++i) left[i] = op.combine(left[i], right[i]);
}

template <class Op>
HWY_NOINLINE void lower(const Op& op, const Carried<Op>* HWY_RESTRICT tile, std::int64_t columns,
                        Element<Op>* HWY_RESTRICT out) {
  std::int64_t i = 0;
  if constexpr (Lanes<Op>::lowers) {
    const Lanes<Op> lanes(op);
    const std::int64_t step = lanes.count();
    if (lanes.can_lower())
      for (; i + step <= columns; i += step)
        write<false>(lanes.out_d, lanes.lower(lanes.load_carried(tile + i)), out + i);
  }
  for (; i < columns; ++i) out[i] = op.lower(tile[i]);
}

// The tree over rows [0, ranks) at `columns` columns. `scratch` holds scratch_tiles(ranks) tiles of
// tile_bytes each; returns the one with the result.
template <class Op>
Carried<Op>* fold_columns(const Op& op, const std::byte* in, std::int64_t stride_bytes,
                          std::int64_t ranks, std::int64_t columns, std::byte* scratch) {
  Carried<Op>* levels[64];
  const int tiles = scratch_tiles(ranks);
  for (int k = 0; k < tiles; ++k)
    levels[k] = reinterpret_cast<Carried<Op>*>(scratch + k * tile_bytes);
  Carried<Op>* current = levels[tiles - 1];

  std::int64_t blocks = 0;
  int level = 0;
  for (std::int64_t r = 0; r < ranks; r += block_ranks, ++blocks) {
    const Element<Op>* rows[block_ranks];
    const int m = static_cast<int>(std::min<std::int64_t>(block_ranks, ranks - r));
    for (int k = 0; k < m; ++k)
      rows[k] = reinterpret_cast<const Element<Op>*>(in + (r + k) * stride_bytes);
    fold_rows(op, rows, m, columns, current);
    if (r + block_ranks >= ranks) break;  // the last block joins below
    for (level = 0; blocks >> level & 1; ++level) {
      merge(op, levels[level], current, columns);
      std::swap(levels[level], current);
    }
    std::swap(levels[level], current);
  }
  // The last block is the rightmost leaf of every subtree that is still open.
  for (level = 0; blocks >> level != 0; ++level)
    if (blocks >> level & 1) {
      merge(op, levels[level], current, columns);
      std::swap(levels[level], current);
    }
  return current;
}

// Replaces out[i] wherever the sum tile[i] of a mean is not finite; slow and rare. `in` points at
// the first column of rank 0.
template <class Op>
HWY_NOINLINE void recompute(const Op& op, const Carried<Op>* tile, const std::byte* in,
                            std::int64_t stride_bytes, std::int64_t ranks, std::int64_t columns,
                            Element<Op>* out) {
  const auto* column = reinterpret_cast<const Element<Op>*>(in);
  const std::int64_t stride = stride_bytes / std::int64_t{sizeof(Element<Op>)};
  for (std::int64_t i = 0; i < columns; ++i) {
    if constexpr (Lanes<Op>::available) {
      const Lanes<Op> lanes(op);
      const std::int64_t step = lanes.count();
      while (i + step <= columns && !lanes.must_recompute(lanes.load_carried(tile + i))) i += step;
      if (i == columns) return;
    }
    if (op.must_recompute(tile[i])) out[i] = ar::mean_of_scaled(op, column + i, stride, ranks);
  }
}

template <class Op>
void finish_tile(const Op& op, const Carried<Op>* tile, const TileTask& task,
                 std::int64_t columns) {
  alignas(64) std::byte buffer[tile_bytes];
  Element<Op>* out = reinterpret_cast<Element<Op>*>(buffer);
  lower(op, tile, columns, out);
  const std::int64_t byte_offset = task.first_column * std::int64_t(sizeof(Element<Op>));
  if constexpr (Op::recomputes) {
    if (op.mean)
      recompute(op, tile, task.fold.in + byte_offset, task.fold.in_stride_bytes, task.fold.ranks,
                columns, out);
  }
  write_rows(buffer, columns * std::int64_t(sizeof(Element<Op>)), task.fold.out + byte_offset,
             task.fold.out_stride_bytes, task.fold.out_rows, task.stream_stores);
}

// Up to eight ranks need no tile: combined, lowered and written from registers.
template <int m, bool stream, class Op>
HWY_NOINLINE void fold_in_registers(const Op& op, const TileTask& task, std::int64_t columns) {
  using T = Element<Op>;
  const Lanes<Op> lanes(op);
  const std::int64_t step = lanes.count();
  const std::byte* const in = task.fold.in + task.first_column * std::int64_t(sizeof(T));
  const int out_rows = static_cast<int>(task.fold.out_rows);  // 1 or m
  const T* row[m];
  T* out[m];
  for (int k = 0; k < m; ++k) {
    row[k] = reinterpret_cast<const T*>(in + k * task.fold.in_stride_bytes);
    const std::int64_t used = k < out_rows ? k : 0;
    out[k] =
        reinterpret_cast<T*>(task.fold.out + used * task.fold.out_stride_bytes) + task.first_column;
  }
  const auto combine = [&](auto a, auto b) HWY_ATTR { return lanes.combine(a, b); };
  for (std::int64_t i = 0; i < columns; i += step) {
    const auto leaf = [&](int k) HWY_ATTR {
      if constexpr (m > followed_rows) prefetch_ahead(row[k] + i);
      return lanes.load(row[k] + i);
    };
    const auto carried = tree<0, m>(leaf, combine);
    auto result = lanes.lower(carried);
    if constexpr (Op::recomputes) {
      if (HWY_UNLIKELY(lanes.must_recompute(carried))) {
        alignas(64) Carried<Op> tile[hn::MaxLanes(lanes.out_d)];
        alignas(64) T fixed[hn::MaxLanes(lanes.out_d)];
        lanes.store(carried, tile);
        write<false>(lanes.out_d, result, fixed);
        recompute(op, tile, in + i * std::int64_t(sizeof(T)), task.fold.in_stride_bytes, m, step,
                  fixed);
        result = hn::LoadU(lanes.out_d,
                           reinterpret_cast<const hn::TFromD<decltype(lanes.out_d)>*>(fixed));
      }
    }
    for (int k = 0; k < out_rows; ++k) write<stream>(lanes.out_d, result, out[k] + i);
  }
}

template <bool stream, class Op>
void fold_in_registers(const Op& op, const TileTask& task, std::int64_t columns) {
  switch (task.ranks) {
    case 2:
      return fold_in_registers<2, stream>(op, task, columns);
    case 3:
      return fold_in_registers<3, stream>(op, task, columns);
    case 4:
      return fold_in_registers<4, stream>(op, task, columns);
    case 5:
      return fold_in_registers<5, stream>(op, task, columns);
    case 6:
      return fold_in_registers<6, stream>(op, task, columns);
    case 7:
      return fold_in_registers<7, stream>(op, task, columns);
    case 8:
      return fold_in_registers<8, stream>(op, task, columns);
  }
}

// The part of a task that whole vectors cover goes through registers; what is left of it, at the
// ends, is returned in `rest` as up to two smaller tasks. Returns their number.
template <class Op>
int fold_vectors(const Op& op, const TileTask& task, TileTask* rest) {
  if constexpr (Lanes<Op>::lowers) {
    const Lanes<Op> lanes(op);
    if (task.ranks >= 2 && task.ranks <= block_ranks && lanes.can_lower()) {
      const auto width = static_cast<std::int64_t>(sizeof(Element<Op>));
      const std::int64_t step = lanes.count();
      const std::int64_t vector_bytes = step * width;
      const auto address =
          static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(task.fold.out) +
                                    std::uintptr_t(task.first_column * width));
      const bool rows_alike =
          task.fold.out_rows == 1 || task.fold.out_stride_bytes % vector_bytes == 0;
      const bool stream = task.stream_stores && rows_alike;
      const std::int64_t head =
          stream ? std::min(task.columns,
                            (vector_bytes - address % vector_bytes) % vector_bytes / width)
                 : 0;
      const std::int64_t body = (task.columns - head) / step * step;
      TileTask middle = task;
      middle.first_column += head;
      stream ? fold_in_registers<true>(op, middle, body)
             : fold_in_registers<false>(op, middle, body);
      int count = 0;
      const auto leave = [&](std::int64_t first, std::int64_t columns) {
        if (columns == 0) return;
        rest[count] = task;
        rest[count].first_column = first;
        rest[count++].columns = columns;
      };
      leave(task.first_column, head);
      leave(task.first_column + head + body, task.columns - head - body);
      return count;
    }
  }
  rest[0] = task;
  return 1;
}

template <class Op>
void fold_whole(const Op& op, const TileTask& task) {
  TileTask rest[2];
  const int count = fold_vectors(op, task, rest);
  const std::int64_t tile_columns = tile_bytes / std::int64_t{sizeof(Carried<Op>)};
  for (int k = 0; k < count; ++k) {
    TileTask tile_task = rest[k];
    const std::int64_t end = tile_task.first_column + tile_task.columns;
    for (; tile_task.first_column < end; tile_task.first_column += tile_columns) {
      tile_task.columns = std::min(tile_columns, end - tile_task.first_column);
      const std::byte* in =
          task.fold.in + tile_task.first_column * std::int64_t{sizeof(Element<Op>)};
      const auto* tile = fold_columns(op, in, task.fold.in_stride_bytes, task.ranks,
                                      tile_task.columns, task.scratch);
      finish_tile(op, tile, tile_task, tile_task.columns);
    }
  }
}

// One task: see TileTask.
template <class Op>
void run_task(const TileTask& task) {
  const Op op = Op::of(task.fold);
  const std::int64_t columns = task.columns;
  const std::byte* in = task.fold.in + task.first_rank * task.fold.in_stride_bytes +
                        task.first_column * std::int64_t(sizeof(Element<Op>));
  switch (task.kind) {
    case TileTask::whole:
      return fold_whole(op, task);
    case TileTask::part: {
      const auto* tile =
          fold_columns(op, in, task.fold.in_stride_bytes, task.ranks, columns, task.scratch);
      std::copy_n(tile, columns, reinterpret_cast<Carried<Op>*>(task.parts));
      return;
    }
    case TileTask::join: {
      // Subtrees of equal size, so doubling the distance walks the same tree.
      const auto part = [&](std::int64_t s) {
        return reinterpret_cast<Carried<Op>*>(task.parts + s * tile_bytes);
      };
      for (std::int64_t distance = 1; distance < task.ranks; distance *= 2)
        for (std::int64_t s = 0; s + distance < task.ranks; s += 2 * distance)
          merge(op, part(s), part(s + distance), columns);
      return finish_tile(op, part(0), task, columns);
    }
  }
}

}  // namespace vranks::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
