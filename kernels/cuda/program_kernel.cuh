// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A fold program as a CUDA kernel. A thread owns a few columns of one tile; it reads all their rows
// before it writes the first result, so results may replace what was read.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/program_columns.cuh"

namespace vranks::cuda {

// Ops that meet a rank's own scaled input with one rounding.
template <class Op>
inline constexpr bool can_fuse = false;
template <class T, class S>
inline constexpr bool can_fuse<arithmetic::FloatHop<T, S, false>> = true;
template <>
inline constexpr bool can_fuse<arithmetic::NanKeepingHop> = true;

// Whether operands may change places without changing bits.
template <class Op>
inline constexpr bool commutes = !std::is_same_v<Op, arithmetic::NanKeepingHop>;

// The next `count` words of code.
template <int count>
__device__ __forceinline__ void read_words(const KernelProgram& program, int at,
                                           std::int32_t (&words)[count]) {
  static_assert(count % 4 == 0);
  if (program.words == nullptr) {
#pragma unroll
    for (int k = 0; k < count; ++k) words[k] = program.few_word[at + k];
  } else {
    const int4* const from = reinterpret_cast<const int4*>(program.words + at);
#pragma unroll
    for (int k = 0; k < count / 4; ++k) {
      const int4 four = __ldg(from + k);
      memcpy(words + 4 * k, &four, sizeof(four));
    }
  }
}

template <class Op, class T, int N>
__device__ __forceinline__ Row<Op, N> lift_row(const Op& op, const Values<T, N>& x) {
  Row<Op, N> row;
#pragma unroll
  for (int c = 0; c < N; ++c) row.values[c] = op.lift(x.values[c]);
  return row;
}

// Calls f with the op. Those that look up at run time what to do look it up once for all columns.
template <class Op, class F>
__device__ __forceinline__ void with_op(const Op& op, const F& f) {
  f(op);
}
template <class T, class S, class F>
__device__ __forceinline__ void with_op(const arithmetic::IntegerHop<T, S>& op, const F& f) {
  arithmetic::IntegerHop<T, S> known = op;
  switch (op.op) {
#define X(name, aliases, meaning) \
  case ReduceOp::name:            \
    known.op = ReduceOp::name;    \
    return f(known);
    VR_REDUCE_OPS(X)
#undef X
  }
}

// A leaf meets the result so far. fused: bit c says that column c's position is one to fuse.
template <class Op, class T, int N>
__device__ __forceinline__ void join_leaf(const Op& op, Row<Op, N>& top, const Values<T, N>& x,
                                          std::uint32_t leaf, std::uint32_t fused) {
  if constexpr (can_fuse<Op>) {
    if ((leaf & leaf_is_fused) != 0) {
#pragma unroll
      for (int c = 0; c < N; ++c)
        top.values[c] = op.combine_own(x.values[c], top.values[c], false, (fused >> c & 1) != 0);
      return;
    }
  }
  const bool first = !commutes<Op> && (leaf & leaf_is_first) != 0;
  with_op(op, [&](const Op& known) {
#pragma unroll
    for (int c = 0; c < N; ++c)
      top.values[c] = first ? known.combine(known.lift(x.values[c]), top.values[c])
                            : known.combine(top.values[c], known.lift(x.values[c]));
  });
}

// The result below the top meets it, on the left unless they swap.
template <class Op, int N>
__device__ __forceinline__ void merge(const Op& op, Row<Op, N>& top, const Row<Op, N>& below,
                                      bool swap) {
  const bool swapped = !commutes<Op> && swap;
  with_op(op, [&](const Op& known) {
#pragma unroll
    for (int c = 0; c < N; ++c)
      top.values[c] = swapped ? known.combine(top.values[c], below.values[c])
                              : known.combine(below.values[c], top.values[c]);
  });
}

// Runs a piece's code on the columns of `access`, whose first in row 0 is at `in`.
template <ProgramKind kind, class Op, class Access>
__device__ __forceinline__ Row<Op, Access::columns> run_code(
    const Op& op, const KernelProgram& program, const KernelPiece& piece, const std::byte* in,
    std::int64_t stride, const Access& access, std::uint32_t fused) {
  constexpr int N = Access::columns;
  constexpr int block = rows_at_once<Op>(kind);
  constexpr int words_each = words_a_leaf(kind);
  constexpr bool is_tree = words_each == 2;

  std::int32_t words[block * words_each];
  read_words(program, piece.code, words);
  Row<Op, N> top;
  [[maybe_unused]] Waiting<Op, N, kind> waiting;
  for (int done = 0; done < piece.leaves; done += block) {
    // All loads, then the next words, before the first use.
    typename Access::Raw x[block];
    const int left = piece.leaves - done;
    if (left >= block) {
#pragma unroll
      for (int k = 0; k < block; ++k) x[k] = access.load(in + words[k * words_each] * stride);
    } else {
#pragma unroll
      for (int k = 0; k < block; ++k)
        if (k < left) x[k] = access.load(in + words[k * words_each] * stride);
    }
    std::uint32_t leaf[block];
#pragma unroll
    for (int k = 0; k < block; ++k)
      leaf[k] = is_tree ? static_cast<std::uint32_t>(words[k * words_each + words_each - 1])
                        : piece.leaf_bits;
    if (left > block) read_words(program, piece.code + (done + block) * words_each, words);

#pragma unroll
    for (int k = 0; k < block; ++k) {
      if (k >= left) break;
      if constexpr (is_tree) {
        if ((leaf[k] & leaf_pushes) != 0) waiting.push(op, top);
        if ((leaf[k] & leaf_starts) != 0)
          top = lift_row(op, access.elements(x[k]));
        else
          join_leaf(op, top, access.elements(x[k]), leaf[k], fused);
        std::uint32_t swaps = leaf[k] >> swaps_at;
        for (std::uint32_t m = leaf[k] >> merges_at & 31; m != 0; --m, swaps >>= 1)
          merge(op, top, waiting.pop(op), (swaps & 1) != 0);
      } else if (k == 0 && done == 0) {
        top = lift_row(op, access.elements(x[k]));
      } else {
        join_leaf(op, top, access.elements(x[k]), leaf[k], fused);
      }
    }
  }
  return top;
}

// Folds the columns of `access`; the first is at `in` in row 0, at `out` in the result's first row,
// and `position` columns behind the origin.
template <ProgramKind kind, class Op, class Access>
__device__ __forceinline__ void fold_columns(const Op& op, const KernelProgram& program,
                                             const KernelPiece& piece, const FoldRows& rows,
                                             const std::byte* in, std::byte* out,
                                             const Access& access, std::int64_t position) {
  using T = typename Op::Element;
  constexpr int N = Access::columns;
  Values<T, N> result;
  const auto run = [&](const Op& same, std::uint32_t fused) {
    const Row<Op, N> row =
        run_code<kind>(same, program, piece, in, rows.in_stride_bytes, access, fused);
#pragma unroll
    for (int c = 0; c < N; ++c) result.values[c] = same.lower(row.values[c]);
  };
  if constexpr (kind == ProgramKind::copy) {
    result = access.elements(access.load(in));
  } else if constexpr (can_fuse<Op>) {
    if (op.premultiply) {
      std::uint32_t fused = program.fuse == Fuse::own ? ~0u : 0u;
      if (program.fuse == Fuse::ll128) {
        // The rule repeats after 1920 bytes.
        const std::int64_t start = position % (1920 / static_cast<std::int64_t>(sizeof(T)));
#pragma unroll
        for (int c = 0; c < N; ++c)
          if (fuses_at(start + access.column(c), sizeof(T))) fused |= 1u << c;
      }
      run(op, fused);
    } else {
      // A sum doesn't ask at every element whether it is a scaled mean.
      Op plain = op;
      plain.premultiply = false;
      run(plain, 0);
    }
  } else {
    run(op, 0);
  }
#pragma unroll 4
  for (int r = 0; r < piece.out_rows; ++r) access.store(result, out + r * rows.out_stride_bytes);
}

__device__ __forceinline__ KernelPiece piece_of(const KernelProgram& program, int tile) {
  if (program.pieces != nullptr) return program.pieces[__ldg(program.piece_of_tile + tile)];
  int piece = 0;
#pragma unroll
  for (int k = 1; k < KernelProgram::few_pieces; ++k) piece += tile >= program.first_tile[k];
  return program.few_piece[piece];
}

// Blocks that a multiprocessor must have registers for, so that it keeps enough loads in flight.
constexpr int blocks_at_once(ProgramKind kind) { return kind == ProgramKind::tree ? 4 : 5; }

template <class Op, ProgramKind kind>
__global__ void __launch_bounds__(block_threads, blocks_at_once(kind))
    program_kernel(const __grid_constant__ KernelProgram program,
                   const __grid_constant__ FoldRows rows, const __grid_constant__ Op op) {
  using T = typename Op::Element;
  constexpr std::int64_t width = sizeof(T);
  constexpr int N = access_columns<Op>(kind);
  constexpr int groups = column_groups(kind);
  const KernelPiece piece = piece_of(program, static_cast<int>(blockIdx.x));
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t columns = piece.end - piece.begin;
  const std::int64_t tile = static_cast<int>(blockIdx.x) - piece.first_tile;
  std::int64_t tile_first = tile * tile_columns<Op>(kind);

  const std::byte* in = rows.in + piece.begin * width;
  std::byte* const out = rows.out + piece.out_row * rows.out_stride_bytes + piece.out_begin * width;
  std::int64_t strides = piece.out_rows > 1 ? rows.out_stride_bytes : 0;
  if constexpr (kind == ProgramKind::copy) {
    std::int32_t words[4];
    read_words(program, piece.code, words);
    in += words[0] * rows.in_stride_bytes;
  } else {
    strides |= rows.in_stride_bytes;
  }
  const auto fold = [&](const auto& access, std::int64_t first) {
    fold_columns<kind>(op, program, piece, rows, in + first * width, out + first * width, access,
                       piece.begin - piece.origin + first);
  };

  // Where all rows lie alike, groups of columns start at aligned addresses, the first perhaps in
  // front of the piece, and only a group that the piece's borders cut is read column by column.
  bool aligned = false;
  if constexpr (kind != ProgramKind::deep) {
    const auto in_at = reinterpret_cast<std::uintptr_t>(in);
    const auto out_at = reinterpret_cast<std::uintptr_t>(out);
    aligned = strides % (N * width) == 0 && (in_at ^ out_at) % (N * width) == 0;
    if (aligned) {
      tile_first -= static_cast<std::int64_t>(in_at % (N * width)) / width;
      const std::int64_t first = tile_first + thread * N;
      if (first >= 0 && first + ((groups - 1) * block_threads + 1) * N <= columns)
        return fold(Groups<T, N, groups>{}, first);
    }
  }

  constexpr int C = N < 4 ? N : 4;
#pragma unroll 1
  for (int k = 0; k < N * groups; k += C) {
    const std::int64_t first = tile_first + (aligned ? (k / N * block_threads + thread) * N + k % N
                                                     : k * block_threads + thread);
    const int apart = aligned ? 1 : block_threads;
    if (first >= columns || first + (C - 1) * apart < 0) continue;
    const std::int64_t end = columns - first;
    fold(SomeColumns<T, C>{apart, first < 0 ? static_cast<int>(-first) : 0,
                           end < C * apart ? static_cast<int>(end) : C * apart},
         first);
  }
}

}  // namespace vranks::cuda
