// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The tree fold as a CUDA kernel: a thread owns a few columns of one subtree of ranks and keeps
// the whole tree above them in registers.
//
// Ranks are read in blocks of eight, all loads issued before the first use; block results merge
// like the digits of a binary counter (after block b, counted from 1, as many merges follow as b
// has trailing zero bits), whose digits are registers because the loop over levels is unrolled.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/arithmetic.hpp"
#include "kernels/cuda/plan.hpp"

namespace vranks::cuda {

inline constexpr int block_ranks = 8;

// One launch of tree_kernel. FromParts: `in` holds carried values that an earlier launch left,
// which are not lifted again.
template <class Op, bool FromParts>
struct Launch {
  using In = std::conditional_t<FromParts, typename Op::Carried, typename Op::Element>;

  Op op;
  const In* in;
  std::int64_t in_stride;      // from row to row, in elements of In
  std::int64_t ranks;          // rows of `in`
  std::int64_t subtree_ranks;  // rows to one subtree; >= ranks: one subtree
  std::int64_t elements;
  typename Op::Carried*
      parts;  // [subtrees][elements] for carried results, or null: the last launch
  typename Op::Element* out;
  std::int64_t out_stride;
  std::int64_t out_rows;
  // The fold's input, from which a mean that overflowed is computed again.
  const typename Op::Element* original;
  std::int64_t original_stride;
  std::int64_t original_ranks;
};

// A thread's columns: one aligned 16-byte access a row.
struct Vectors {
  static constexpr bool whole_row = true;
  template <class In>
  static constexpr int columns = 16 / sizeof(In);
  static constexpr std::int64_t apart = 1;
};

// A thread's columns: single elements, a block's width apart, for rows that aren't aligned to 16
// bytes. Columns behind the end of the row are neither read nor written.
template <int N>
struct Singles {
  static constexpr bool whole_row = false;
  template <class In>
  static constexpr int columns = N;
  static constexpr std::int64_t apart = block_threads;
};

template <class T, int N>
struct Values {
  T values[N];
};

template <class Access, class T, int N>
__device__ __forceinline__ Values<T, N> load(const T* at, std::int64_t left) {
  Values<T, N> loaded;
  if constexpr (Access::whole_row) {
    const uint4 bits = __ldcs(reinterpret_cast<const uint4*>(at));
    memcpy(loaded.values, &bits, 16);
  } else {
#pragma unroll
    for (int c = 0; c < N; ++c)
      if (c * Access::apart < left) loaded.values[c] = at[c * Access::apart];
  }
  return loaded;
}

template <class Access, class T, int N>
__device__ __forceinline__ void store(const Values<T, N>& row, T* at, std::int64_t left) {
  if constexpr (Access::whole_row && sizeof(T) * N == 16) {
    uint4 bits;
    memcpy(&bits, row.values, 16);
    __stcs(reinterpret_cast<uint4*>(at), bits);
  } else {
#pragma unroll
    for (int c = 0; c < N; ++c)
      if (c * Access::apart < left) at[c * Access::apart] = row.values[c];
  }
}

template <class Op, int N>
using Row = Values<typename Op::Carried, N>;

template <bool FromParts, class Op, class In, int N>
__device__ __forceinline__ Row<Op, N> lift(const Op& op, const Values<In, N>& loaded) {
  Row<Op, N> row;
#pragma unroll
  for (int c = 0; c < N; ++c) {
    if constexpr (FromParts)
      row.values[c] = loaded.values[c];
    else
      row.values[c] = op.lift(loaded.values[c]);
  }
  return row;
}

template <class Op, int N>
__device__ __forceinline__ Row<Op, N> combine(const Op& op, const Row<Op, N>& a,
                                              const Row<Op, N>& b) {
  Row<Op, N> row;
#pragma unroll
  for (int c = 0; c < N; ++c) row.values[c] = op.combine(a.values[c], b.values[c]);
  return row;
}

// The tree over 2^log rows.
template <int log, bool FromParts, class Op, class In, int N>
__device__ __forceinline__ Row<Op, N> full_tree(const Op& op, const Values<In, N>* rows) {
  if constexpr (log == 0) {
    return lift<FromParts>(op, rows[0]);
  } else {
    const Row<Op, N> a = full_tree<log - 1, FromParts>(op, rows);
    const Row<Op, N> b = full_tree<log - 1, FromParts>(op, rows + (1 << (log - 1)));
    return combine(op, a, b);
  }
}

template <class Op, int N>
__device__ __forceinline__ Values<typename Op::Element, N> lower(const Op& op,
                                                                 const Row<Op, N>& row) {
  Values<typename Op::Element, N> lowered;
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

// x * 0 is 0 for finite x and NaN for all others, and NaN stays.
template <class T, int N>
__device__ __forceinline__ bool all_finite(const Values<T, N>& row) {
  T zero = 0;
#pragma unroll
  for (int c = 0; c < N; ++c) zero = arithmetic::fused(row.values[c], T{0}, zero);
  return zero == 0;
}

// Kept out of line: rare, and its stack would cost the kernel registers.
template <class Op>
__device__ __noinline__ typename Op::Element recompute(const Op& op,
                                                       const typename Op::Element* column,
                                                       std::int64_t stride, std::int64_t ranks) {
  return arithmetic::mean_of_scaled(op, column, stride, ranks);
}

// Levels: merge levels above blocks of eight; a subtree has at most 8 << Levels ranks.
template <int Levels, class Access, class Op, bool FromParts>
__global__ void __launch_bounds__(block_threads)
    tree_kernel(const __grid_constant__ Launch<Op, FromParts> launch) {
  using T = typename Op::Element;
  using In = typename Launch<Op, FromParts>::In;
  constexpr int N = Access::template columns<In>;
  // Stays in constant memory, also where its address is taken.
  const Op& op = launch.op;

  // Which columns of which subtree. Short rows share a block, so threads are counted through.
  std::int64_t subtree = 0;
  std::int64_t first;
  const std::int64_t thread = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (launch.subtree_ranks < launch.ranks) {
    const std::int64_t threads_a_row = (launch.elements + N - 1) / N;
    subtree = thread / threads_a_row;
    first = (thread - subtree * threads_a_row) * N;
    if (subtree * launch.subtree_ranks >= launch.ranks) return;
  } else {
    first =
        Access::whole_row ? thread * N : std::int64_t{blockIdx.x} * block_threads * N + threadIdx.x;
    if (first >= launch.elements) return;
  }
  const std::int64_t left = launch.elements - first;
  const std::int64_t first_rank = subtree * launch.subtree_ranks;
  const std::int64_t ranks_left = launch.ranks - first_rank;
  const std::int64_t ranks = min(ranks_left, launch.subtree_ranks);
  const In* at = launch.in + first_rank * launch.in_stride + first;

  Row<Op, N> levels[Levels + 1];
  const std::int64_t blocks = ranks / block_ranks;
  for (std::int64_t block = 0; block < blocks; ++block) {
    Values<In, N> loaded[block_ranks];
#pragma unroll
    for (int k = 0; k < block_ranks; ++k)
      loaded[k] = load<Access, In, N>(at + k * launch.in_stride, left);
    at += block_ranks * launch.in_stride;
    Row<Op, N> current = full_tree<3, FromParts>(op, loaded);
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

  // 0 to 7 ranks are left; like 7 = 4 + (2 + 1), the smallest subtree is the rightmost. Then the
  // subtrees that are still open, smallest first.
  Row<Op, N> result;
  bool started = false;
  const auto join = [&](const Row<Op, N>& before) {
    result = started ? combine(op, before, result) : before;
    started = true;
  };
  const int rest = static_cast<int>(ranks % block_ranks);
  if (rest != 0) {
    Values<In, N> fours[4], twos[2], ones[1];
    if (rest & 4)
#pragma unroll
      for (int k = 0; k < 4; ++k) fours[k] = load<Access, In, N>(at + k * launch.in_stride, left);
    const In* const behind_fours = at + (rest & 4) * launch.in_stride;
    if (rest & 2)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        twos[k] = load<Access, In, N>(behind_fours + k * launch.in_stride, left);
    if (rest & 1) ones[0] = load<Access, In, N>(behind_fours + (rest & 2) * launch.in_stride, left);
    if (rest & 1) join(full_tree<0, FromParts>(op, ones));
    if (rest & 2) join(full_tree<1, FromParts>(op, twos));
    if (rest & 4) join(full_tree<2, FromParts>(op, fours));
  }
#pragma unroll
  for (int level = 0; level <= Levels; ++level)
    if (blocks >> level & 1) join(levels[level]);

  if (launch.parts != nullptr)
    return store<Access>(result, launch.parts + subtree * launch.elements + first, left);

  Values<T, N> lowered = lower(op, result);
  if constexpr (Op::recomputes) {
    if (op.mean && !all_finite(result)) {
#pragma unroll
      for (int c = 0; c < N; ++c) {
        const std::int64_t column = c * Access::apart;
        if (column < left && op.must_recompute(result.values[c]))
          lowered.values[c] = recompute(op, launch.original + first + column,
                                        launch.original_stride, launch.original_ranks);
      }
    }
  }
  T* const out = launch.out + first;
#pragma unroll 4
  for (std::int64_t r = 0; r < launch.out_rows; ++r)
    store<Access>(lowered, out + r * launch.out_stride, left);
}

}  // namespace vranks::cuda
