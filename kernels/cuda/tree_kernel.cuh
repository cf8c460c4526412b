// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The tree fold as a CUDA kernel: a thread owns a few columns of one subtree of ranks and keeps
// the whole tree above them in registers.
//
// Ranks are read in blocks, all loads issued before the first use; block results merge like the
// digits of a binary counter (after block b, counted from 1, as many merges follow as b has
// trailing zero bits), whose digits are registers because the loop over levels is unrolled.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/arithmetic.hpp"
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/overlapping.cuh"
#include "kernels/cuda/pairs.cuh"

namespace vranks::cuda {

// One launch of tree_kernel. FromParts: `in` holds carried values that an earlier launch left,
// which are not lifted again.
template <class Op, bool FromParts>
struct Launch {
  using In = std::conditional_t<FromParts, typename Op::Carried, typename Op::Element>;

  // In the order of their use, for parameters are read from a cold cache.
  const In* in;
  std::int64_t in_stride;  // from row to row, in elements of In
  std::int64_t elements;
  typename Op::Element* out;
  std::int64_t out_stride;
  std::int64_t out_rows;
  Op op;
  std::int64_t ranks;          // rows of `in`
  std::int64_t subtree_ranks;  // rows to one subtree; >= ranks: one subtree
  int block_groups;            // of shared_tree_kernel: groups of columns to a block
  // [subtrees][elements] for carried results, or null: the last launch
  typename Op::Carried* parts;
  // Of shifted packs: the first begins that many columns behind the row's start, where a result can
  // be written whole, and so many follow one another. Each other column is a thread's own.
  std::int64_t packs;
  int lead;
  // The fold's input, from which a mean that overflowed is computed again.
  const typename Op::Element* original;
  std::int64_t original_stride;
  std::int64_t original_ranks;
};

// Whether N columns are carried in pairs.
template <class Op, int N>
inline constexpr bool in_pairs_of = N % 2 == 0 && requires {
  typename PairsOf<Op>::Pair;
};

// What is carried for N columns.
template <class Op, int N>
struct TreeRow {
  typename Op::Carried values[N];
  __device__ __forceinline__ typename Op::Carried part(const Op&, int c) const { return values[c]; }
};
template <class Op, int N>
requires in_pairs_of<Op, N>
struct TreeRow<Op, N> {
  typename PairsOf<Op>::Carried values[N / 2];
  __device__ __forceinline__ typename Op::Carried part(const Op& op, int c) const {
    return PairsOf<Op>{op}.part(values[c / 2], c % 2);
  }
};

template <bool FromParts, class Op, class In, int N>
__device__ __forceinline__ TreeRow<Op, N> lift(const Op& op, const Values<In, N>& loaded) {
  TreeRow<Op, N> row;
  if constexpr (in_pairs_of<Op, N>) {
    static_assert(!FromParts);
    typename PairsOf<Op>::Pair pairs[N / 2];
    memcpy(pairs, &loaded, sizeof(pairs));
#pragma unroll
    for (int p = 0; p < N / 2; ++p) row.values[p] = PairsOf<Op>{op}.lift(pairs[p]);
  } else {
#pragma unroll
    for (int c = 0; c < N; ++c) {
      if constexpr (FromParts)
        row.values[c] = loaded.values[c];
      else
        row.values[c] = op.lift(loaded.values[c]);
    }
  }
  return row;
}

template <class Op, int N>
__device__ __forceinline__ TreeRow<Op, N> combine(const Op& op, const TreeRow<Op, N>& a,
                                                  const TreeRow<Op, N>& b) {
  TreeRow<Op, N> row;
  if constexpr (in_pairs_of<Op, N>) {
#pragma unroll
    for (int p = 0; p < N / 2; ++p)
      row.values[p] = PairsOf<Op>{op}.combine(a.values[p], b.values[p]);
  } else {
#pragma unroll
    for (int c = 0; c < N; ++c) row.values[c] = op.combine(a.values[c], b.values[c]);
  }
  return row;
}

// The tree over rows [first, first + count).
template <int first, int count, bool FromParts, class Access, class Op>
__device__ __forceinline__ TreeRow<Op, Access::columns> tree_of(const Op& op,
                                                                const typename Access::Raw* rows) {
  if constexpr (count == 1) {
    return lift<FromParts>(op, Access::elements(rows[first]));
  } else {
    constexpr int left = 1 << (std::bit_width(unsigned{count - 1}) - 1);
    const auto a = tree_of<first, left, FromParts, Access>(op, rows);
    const auto b = tree_of<first + left, count - left, FromParts, Access>(op, rows);
    return combine(op, a, b);
  }
}

template <class Op, int N>
__device__ __forceinline__ Values<typename Op::Element, N> lower(const Op& op,
                                                                 const TreeRow<Op, N>& row) {
  Values<typename Op::Element, N> lowered;
  if constexpr (in_pairs_of<Op, N>) {
    typename PairsOf<Op>::Pair pairs[N / 2];
#pragma unroll
    for (int p = 0; p < N / 2; ++p) pairs[p] = PairsOf<Op>{op}.lower(row.values[p]);
    memcpy(&lowered, pairs, sizeof(pairs));
    return lowered;
  } else {
    if constexpr (Op::recomputes) {
      // One look at the divisor for all columns: sums, and means of a power of two of ranks.
      if (op.by_ranks.inverse != 0) {
#pragma unroll
        for (int c = 0; c < N; ++c)
          lowered.values[c] = arithmetic::narrow<typename Op::Element>(
              arithmetic::multiply(row.values[c], op.by_ranks.inverse));
        return lowered;
      }
    }
#pragma unroll
    for (int c = 0; c < N; ++c) lowered.values[c] = op.lower(row.values[c]);
    return lowered;
  }
}

// x * 0 is 0 for finite x and NaN for all others, and NaN stays.
template <class T, int N>
__device__ __forceinline__ bool all_finite(const T (&values)[N]) {
  T zero = 0;
#pragma unroll
  for (int c = 0; c < N; ++c) zero = arithmetic::fused(values[c], T{0}, zero);
  return zero == 0;
}

// Kept out of line: rare, and its stack would cost the kernel registers.
template <class Op>
__device__ __noinline__ typename Op::Element recompute(const Op& op,
                                                       const typename Op::Element* column,
                                                       std::int64_t stride, std::int64_t ranks) {
  return arithmetic::mean_of_scaled(op, column, stride, ranks);
}

// The result of a thread's columns as elements; `first` is the first column.
template <class Op, bool FromParts, class Access>
__device__ __forceinline__ Values<typename Op::Element, Access::columns> lowered_result(
    const Launch<Op, FromParts>& launch, const Access& access, std::int64_t first,
    const TreeRow<Op, Access::columns>& result) {
  constexpr int N = Access::columns;
  const Op& op = launch.op;
  Values<typename Op::Element, N> lowered = lower(op, result);
  if constexpr (Op::recomputes) {
    if (op.mean && !all_finite(result.values)) {
#pragma unroll
      for (int c = 0; c < N; ++c)
        if (access.exists(c) && op.must_recompute(result.values[c]))
          lowered.values[c] = recompute(op, launch.original + first + access.column(c),
                                        launch.original_stride, launch.original_ranks);
    }
  }
  return lowered;
}

// Writes them to every `apart`-th row from `row` on.
template <class Op, bool FromParts, class Access>
__device__ __forceinline__ void write_rows(
    const Launch<Op, FromParts>& launch, const Access& access, std::int64_t first,
    const Values<typename Op::Element, Access::columns>& lowered, std::int64_t row,
    std::int64_t apart) {
  auto* const out = reinterpret_cast<std::byte*>(launch.out + first);
  const std::int64_t stride =
      launch.out_stride * static_cast<std::int64_t>(sizeof(typename Op::Element));
#pragma unroll 4
  for (std::int64_t r = row; r < launch.out_rows; r += apart)
    access.store(lowered, out + r * stride);
}

template <class Op, bool FromParts, class Access>
__device__ __forceinline__ void finish(const Launch<Op, FromParts>& launch, const Access& access,
                                       std::int64_t first,
                                       const TreeRow<Op, Access::columns>& result) {
  write_rows(launch, access, first, lowered_result(launch, access, first, result), 0, 1);
}

template <class Access>
__device__ __forceinline__ std::int64_t first_column() {
  return std::int64_t{blockIdx.x} * block_threads * Access::columns +
         std::int64_t{threadIdx.x} * Access::neighbours;
}

// Threads that read one row of a subtree.
template <class Access, class Op, bool FromParts>
__host__ __device__ __forceinline__ std::int64_t threads_a_row(
    const Launch<Op, FromParts>& launch) {
  if constexpr (is_shifted<Access>)
    return launch.elements - launch.packs * (Access::columns - 1);
  else
    return (launch.elements + Access::columns - 1) / Access::columns;
}

// All of R ranks at once, in as few registers as that takes.
template <int R, class Access, class Op>
__global__ void __launch_bounds__(block_threads)
    few_ranks_kernel(const __grid_constant__ Launch<Op, false> launch) {
  using T = typename Op::Element;
  const Access access;
  const std::int64_t first = first_column<Access>();
  if (first >= launch.elements) return;
  const auto* const at = reinterpret_cast<const std::byte*>(launch.in + first);
  const std::int64_t stride = launch.in_stride * static_cast<std::int64_t>(sizeof(T));
  await_previous_kernel();
  typename Access::Raw rows[R];
#pragma unroll
  for (int r = 0; r < R; ++r) rows[r] = access.load(at + r * stride);
  finish(launch, access, first, tree_of<0, R, false, Access>(launch.op, rows));
}

// The tree over a thread's columns of `ranks` rows from `at` on. Levels: merge levels above blocks
// of that many rows; at most block_ranks << Levels of them.
template <int Levels, int block_ranks, class Op, bool FromParts, class Access>
__device__ __forceinline__ TreeRow<Op, Access::columns> walk(const Launch<Op, FromParts>& launch,
                                                             const Access& access,
                                                             const std::byte* at,
                                                             std::int64_t ranks) {
  constexpr int N = Access::columns;
  const Op& op = launch.op;
  const std::int64_t stride =
      launch.in_stride * static_cast<std::int64_t>(sizeof(typename Launch<Op, FromParts>::In));
  TreeRow<Op, N> levels[Levels + 1];
  const std::int64_t blocks = ranks / block_ranks;
  for (std::int64_t block = 0; block < blocks; ++block) {
    typename Access::Raw rows[block_ranks];
#pragma unroll
    for (int k = 0; k < block_ranks; ++k) rows[k] = access.load(at + k * stride);
    at += block_ranks * stride;
    TreeRow<Op, N> current = tree_of<0, block_ranks, FromParts, Access>(op, rows);
    bool placed = false;
#pragma unroll
    for (int level = 0; level <= Levels; ++level) {
      if (placed) continue;
      placed = !(block >> level & 1);
      if (placed)
        levels[level] = current;
      else
        current = combine(op, levels[level], current);
    }
  }

  // What is left of a block, like 7 = 4 + (2 + 1): the smallest subtree is the rightmost. Then the
  // subtrees that are still open, smallest first.
  TreeRow<Op, N> result;
  bool started = false;
  const auto join = [&](const TreeRow<Op, N>& before) {
    result = started ? combine(op, before, result) : before;
    started = true;
  };
  const int rest = static_cast<int>(ranks % block_ranks);
  if (rest != 0) {
    typename Access::Raw eights[8], fours[4], twos[2], ones[1];
    const auto load = [&](auto& rows, auto rank_count) {
      constexpr int count = decltype(rank_count)::value;
      if (!(rest & count)) return;
#pragma unroll
      for (int k = 0; k < count; ++k) rows[k] = access.load(at + k * stride);
      at += count * stride;
    };
    const auto join_rows = [&](const auto& rows, auto rank_count) {
      constexpr int count = decltype(rank_count)::value;
      if (rest & count) join(tree_of<0, count, FromParts, Access>(op, rows));
    };
    if constexpr (block_ranks > 8) load(eights, std::integral_constant<int, 8>{});
    if constexpr (block_ranks > 4) load(fours, std::integral_constant<int, 4>{});
    if constexpr (block_ranks > 2) load(twos, std::integral_constant<int, 2>{});
    load(ones, std::integral_constant<int, 1>{});
    join_rows(ones, std::integral_constant<int, 1>{});
    if constexpr (block_ranks > 2) join_rows(twos, std::integral_constant<int, 2>{});
    if constexpr (block_ranks > 4) join_rows(fours, std::integral_constant<int, 4>{});
    if constexpr (block_ranks > 8) join_rows(eights, std::integral_constant<int, 8>{});
  }
#pragma unroll
  for (int level = 0; level <= Levels; ++level)
    if (blocks >> level & 1) join(levels[level]);
  return result;
}

// Blocks that a multiprocessor must have registers for, so that it keeps enough loads in flight.
constexpr int blocks_at_once(int levels, int rows) {
  if (levels > some_levels) return 1;
  return rows == 2 ? 8 : rows == 4 ? 6 : 4;
}

template <int Levels, int block_ranks, class Access, class Op, bool FromParts>
__global__ void __launch_bounds__(block_threads, blocks_at_once(Levels, block_ranks))
    tree_kernel(const __grid_constant__ Launch<Op, FromParts> launch) {
  using In = typename Launch<Op, FromParts>::In;
  await_previous_kernel();
  // Which columns of which subtree. Short rows share a block, so threads are counted through.
  std::int64_t subtree = 0;
  std::int64_t first = first_column<Access>();
  if (launch.subtree_ranks < launch.ranks || is_shifted<Access>) {
    const std::int64_t thread = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
    const std::int64_t threads = threads_a_row<Access>(launch);
    subtree = thread / threads;
    first = (thread - subtree * threads) * Access::columns;
    if (subtree * launch.subtree_ranks >= launch.ranks) return;
  }
  const std::int64_t first_rank = subtree * launch.subtree_ranks;
  const std::int64_t ranks = min(launch.ranks - first_rank, launch.subtree_ranks);
  const auto fold = [&](const auto& access, std::int64_t column) {
    const auto result = walk<Levels, block_ranks>(
        launch, access,
        reinterpret_cast<const std::byte*>(launch.in + first_rank * launch.in_stride + column),
        ranks);
    if (launch.parts == nullptr) return finish(launch, access, column, result);
    auto* const part = launch.parts + subtree * launch.elements + column;
#pragma unroll
    for (int c = 0; c < access.columns; ++c)
      if (access.exists(c)) part[access.column(c)] = result.part(launch.op, c);
  };
  if constexpr (is_shifted<Access>) {
    const std::int64_t pack = first / Access::columns;
    if (pack < launch.packs) return fold(Access{}, launch.lead + first);
    std::int64_t column = pack - launch.packs;
    if (column >= launch.lead) column += launch.packs * Access::columns;
    fold(SomeColumns<In, 1>{.apart = 1, .begin = 0, .end = 1}, column);
  } else {
    if (first >= launch.elements) return;
    if constexpr (std::is_same_v<Access, SomeColumns<In, Access::columns>>) {
      constexpr int reach = (Access::columns - 1) * block_threads + 1;
      const std::int64_t left = launch.elements - first;
      fold(Access{.apart = block_threads,
                  .begin = 0,
                  .end = static_cast<int>(min(left, std::int64_t{reach}))},
           first);
    } else {
      fold(Access{}, first);
    }
  }
}

// Few columns of many ranks: the threads of a block share groups of columns. Each folds an aligned
// subtree of them, and the subtrees' results meet in shared memory.
template <class Access, class Op>
__global__ void __launch_bounds__(block_threads, blocks_at_once(few_levels, block_ranks))
    shared_tree_kernel(const __grid_constant__ Launch<Op, false> launch) {
  __shared__ TreeRow<Op, Access::columns> parts[block_threads];
  __shared__ Values<typename Op::Element, Access::columns> results[block_threads];
  await_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x), groups = launch.block_groups;
  const int subtree = thread / groups, group = thread % groups;
  const std::int64_t first = (std::int64_t{blockIdx.x} * groups + group) * Access::columns;
  const std::int64_t first_rank = subtree * launch.subtree_ranks;
  const bool exists = first < launch.elements;
  const Access access;
  if (exists && first_rank < launch.ranks)
    parts[thread] = walk<few_levels, block_ranks>(
        launch, access,
        reinterpret_cast<const std::byte*>(launch.in + first_rank * launch.in_stride + first),
        min(launch.ranks - first_rank, launch.subtree_ranks));
  for (int apart = 1; apart * launch.subtree_ranks < launch.ranks; apart *= 2) {
    __syncthreads();
    if (exists && subtree % (2 * apart) == 0 &&
        (subtree + apart) * launch.subtree_ranks < launch.ranks)
      parts[thread] = combine(launch.op, parts[thread], parts[thread + apart * groups]);
  }
  // All is read before the first row is written, which may be an input.
  if (exists && subtree == 0) results[group] = lowered_result(launch, access, first, parts[group]);
  __syncthreads();
  if (exists) write_rows(launch, access, first, results[group], subtree, block_threads / groups);
}

}  // namespace vranks::cuda
