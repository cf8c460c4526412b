// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A fold program as a CUDA kernel. A thread owns a few columns of one tile; it reads all their rows
// before it writes the first result, so results may replace what was read.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/program_row.cuh"
#include "kernels/cuda/program_stack.cuh"

namespace vranks::cuda {

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

__device__ __forceinline__ int first_word(const KernelProgram& program, int at) {
  return program.words == nullptr ? program.few_word[at] : __ldg(program.words + at);
}

// The rows that a thread reads, from its first column on.
struct InRows {
  const std::byte* first;  // in row 0, where rows are at equal distances
  std::int64_t stride;
  std::byte* const* table;
  std::int64_t offset;  // of the column in a row of the table

  __device__ __forceinline__ const std::byte* row(int r) const {
    return table == nullptr ? first + r * stride : table[r] + offset;
  }
};

// Runs a piece's code on the columns of `access`. store(out row, result so far): of a running fold.
template <ProgramKind kind, class Op, class Access, class Store>
__device__ __forceinline__ Row<Op, Access::columns> run_code(
    const Op& op, const KernelProgram& program, const KernelPiece& piece, const InRows& in,
    const Access& access, std::uint32_t fused, const Store& store) {
  constexpr int N = Access::columns;
  constexpr int block = rows_at_once<Op>(kind);
  constexpr int words_each = words_a_leaf(kind);
  constexpr bool is_tree = kind == ProgramKind::tree || kind == ProgramKind::deep;

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
      for (int k = 0; k < block; ++k) x[k] = access.load(in.row(words[k * words_each]));
    } else {
#pragma unroll
      for (int k = 0; k < block; ++k)
        if (k < left) x[k] = access.load(in.row(words[k * words_each]));
    }
    std::uint32_t leaf[block];
    std::int32_t number[block];
#pragma unroll
    for (int k = 0; k < block; ++k) {
      leaf[k] = words_each == 2 ? static_cast<std::uint32_t>(words[k * words_each + words_each - 1])
                                : piece.leaf_bits;
      number[k] = words[k * words_each];
    }
    if (left > block) read_words(program, piece.code + (done + block) * words_each, words);

    [[maybe_unused]] const auto merge_waiting = [&](std::uint32_t bits,
                                                    std::uint32_t done_already) {
      std::uint32_t swaps = bits >> swaps_at;
      for (std::uint32_t m = (bits >> merges_at & 31) - done_already; m != 0; --m, swaps >>= 1)
        merge(op, top, waiting.pop(op), (swaps & 1) != 0);
    };
    if constexpr (folds_subtrees<Op>(kind)) {
      if ((leaf[0] & leaf_begins_subtree) == leaf_begins_subtree) {
        if ((leaf[0] & leaf_pushes) != 0) waiting.push(op, top);
        top = subtree<0, block, Access>(op, x, number);
        merge_waiting(leaf[block - 1], 2);
        continue;
      }
    }
#pragma unroll
    for (int k = 0; k < block; ++k) {
      if (k >= left) break;
      if constexpr (is_tree) {
        if ((leaf[k] & leaf_pushes) != 0) waiting.push(op, top);
        if ((leaf[k] & leaf_starts) != 0)
          top = lift_row(op, access.elements(x[k]), number[k]);
        else
          join_leaf(op, top, access.elements(x[k]), number[k], leaf[k], fused);
        merge_waiting(leaf[k], 0);
      } else {
        if (k == 0 && done == 0)
          top = lift_row(op, access.elements(x[k]), number[k]);
        else
          join_leaf(op, top, access.elements(x[k]), number[k], leaf[k], fused);
        if constexpr (kind == ProgramKind::running)
          if (const auto to = static_cast<std::int32_t>(leaf[k]) >> stores_at; to != stores_nothing)
            store(to, top);
      }
    }
  }
  return top;
}

// Folds the columns of `access`; the first is `first` columns behind the start of the piece.
template <ProgramKind kind, class Op, class Access>
__device__ __forceinline__ void fold_columns(const Op& op, const KernelProgram& program,
                                             const KernelPiece& piece, const KernelTensors& tensors,
                                             const InRows& in, std::int64_t first,
                                             const Access& access) {
  using T = typename Op::Element;
  constexpr int N = Access::columns;
  const std::int64_t out_column = piece.out_begin + first;
  const auto write = [&](std::int64_t r, const Values<T, N>& values) {
    access.store(values, tensors.out.row(r) + out_column * static_cast<std::int64_t>(sizeof(T)));
  };
  [[maybe_unused]] const auto write_ranks = [&](std::int64_t r, const auto& rank_of) {
    auto* ranks = reinterpret_cast<std::int32_t*>(tensors.ranks.row(r)) + out_column;
#pragma unroll
    for (int c = 0; c < N; ++c)
      if (access.exists(c)) ranks[access.column(c)] = rank_of(c);
  };
  if constexpr (kind == ProgramKind::copy) {
    Values<T, N> result;
    if (piece.leaves != 0) {
      result = access.elements(access.load(in.first));
    } else {
      T filling;
      memcpy(&filling, program.filling, sizeof(T));
#pragma unroll
      for (int c = 0; c < N; ++c) result.values[c] = filling;
    }
#pragma unroll 4
    for (int r = piece.out_row; r < piece.out_row + piece.out_rows; ++r) {
      write(r, result);
      if (piece.leaves == 0 && tensors.ranks.exist())
        write_ranks(r, [](int) { return FoldProgram::no_rank; });
    }
    return;
  } else {
    Values<T, N> result;
    const auto write_row = [&](std::int64_t r, const Row<Op, N>& row) {
      write(r, result);
      if constexpr (arithmetic::tells_rank<Op>)
        if (tensors.ranks.exist())
          write_ranks(r, [&](int c) { return op.lower_rank(row.values[c], piece.first_row); });
    };
    const auto lower = [&](const Op& same, const Row<Op, N>& row) {
      result = lower_row(same, row);
    };
    const auto run = [&](const Op& same, std::uint32_t fused) {
      return run_code<kind>(same, program, piece, in, access, fused,
                            [&](std::int64_t r, const Row<Op, N>& row) {
                              lower(same, row);
                              write_row(r, row);
                            });
    };
    const auto fused_columns = [&] {
      if (!can_fuse<Op> || program.fuse == Fuse::never) return 0u;
      if (program.fuse == Fuse::own) return ~0u;
      std::uint32_t fused = 0;
      // The rule repeats after 1920 bytes.
      const std::int64_t start =
          (piece.begin - piece.origin + first) % (1920 / static_cast<std::int64_t>(sizeof(T)));
#pragma unroll
      for (int c = 0; c < N; ++c)
        if (fuses_at(start + access.column(c), sizeof(T))) fused |= 1u << c;
      return fused;
    };
    const auto write_all = [&](const Row<Op, N>& row) {
#pragma unroll 4
      for (int r = piece.out_row; r < piece.out_row + piece.out_rows; ++r) write_row(r, row);
    };
    if constexpr (kind == ProgramKind::running) {
      run(op, fused_columns());  // no mean, so nothing to rescue
    } else if constexpr (can_scale<Op>) {
      // A sum doesn't ask at every element whether it is a scaled mean.
      std::uint32_t again = op.premultiply ? ~0u : 0u;
      Op scaled = op;
      if (!op.premultiply) {
        const Op plain = unscaled(op);
        const Row<Op, N> row = run(plain, 0);
        lower(plain, row);
        if constexpr (arithmetic::can_rescue<Op>) {
#pragma unroll
          for (int c = 0; c < N; ++c)
            if (op.must_rescue(row.values[c])) again |= 1u << c;
          if (again != 0) scaled = op.rescued();
        }
      }
      if (again != 0) {
        const Row<Op, N> row = run(scaled, op.premultiply ? fused_columns() : 0u);
#pragma unroll
        for (int c = 0; c < N; ++c)
          if ((again >> c & 1) != 0) result.values[c] = scaled.lower(row.values[c]);
      }
      write_all(Row<Op, N>{});  // these ops tell no ranks
    } else {
      const Op plain = unscaled(op);
      const Row<Op, N> row = run(plain, 0);
      lower(plain, row);
      write_all(row);
    }
  }
}

__device__ __forceinline__ KernelPiece piece_of(const KernelProgram& program, int tile) {
  if (program.pieces != nullptr) return program.pieces[__ldg(program.piece_of_tile + tile)];
  int piece = 0;
#pragma unroll
  for (int k = 1; k < KernelProgram::few_pieces; ++k) piece += tile >= program.first_tile[k];
  return program.few_piece[piece];
}

// Blocks that a multiprocessor must have registers for, so that it keeps enough loads in flight;
// fewer where so little would be left for each that it would spill.
template <class Op>
constexpr int blocks_at_once(ProgramKind kind) {
  const bool wide = sizeof(typename Op::Carried) > sizeof(typename Op::Element);
  const bool small = sizeof(typename Op::Element) <= 2;
  const bool simple = kind == ProgramKind::copy || kind == ProgramKind::linear ||
                      (kind == ProgramKind::few && !small);
  return simple && !wide ? 5 : 4;
}

template <class Op, ProgramKind kind>
__global__ void __launch_bounds__(block_threads, blocks_at_once<Op>(kind))
    program_kernel(const __grid_constant__ KernelProgram program,
                   const __grid_constant__ KernelTensors tensors, const __grid_constant__ Op op) {
  using T = typename Op::Element;
  constexpr std::int64_t width = sizeof(T);
  constexpr int N = access_columns<Op>(kind);
  constexpr int groups = column_groups(kind);
  await_previous_kernel();
  const KernelPiece piece = piece_of(program, static_cast<int>(blockIdx.x));
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t columns = piece.end - piece.begin;
  const std::int64_t tile = static_cast<int>(blockIdx.x) - piece.first_tile;
  std::int64_t tile_first = tile * tile_columns<Op>(kind);

  // A copy reads one row, others several.
  InRows in{.first = tensors.in.data + piece.begin * width,
            .stride = tensors.in.stride_bytes,
            .table = tensors.in.table,
            .offset = piece.begin * width};
  std::uint32_t distances = tensors.in.distances;
  if constexpr (kind == ProgramKind::copy) {
    if (piece.leaves != 0) {
      std::int32_t words[4];
      read_words(program, piece.code, words);
      in.first = in.row(words[0]);
    } else {
      in.first = tensors.out.row(piece.out_row) + piece.out_begin * width;  // not read
    }
    distances = 0;
  }
  const auto fold = [&](const auto& access, std::int64_t first) {
    InRows from = in;
    from.first += first * width;
    from.offset += first * width;
    fold_columns<kind>(op, program, piece, tensors, from, first, access);
  };

  // Where all rows lie alike, groups of columns start at aligned addresses, the first perhaps in
  // front of the piece, and only a group that the piece's borders cut is read column by column.
  bool aligned = false;
  if constexpr (kind != ProgramKind::deep) {
    if (kind == ProgramKind::running || piece.out_rows != 1) distances |= tensors.out.distances;
    const auto in_at = reinterpret_cast<std::uintptr_t>(
        kind == ProgramKind::copy
            ? in.first
            : tensors.in.row(tensors.in.table == nullptr ? 0 : first_word(program, piece.code)) +
                  piece.begin * width);
    const auto out_at =
        reinterpret_cast<std::uintptr_t>(tensors.out.row(piece.out_row) + piece.out_begin * width);
    // Complex numbers may lie at multiples of their parts.
    aligned = (distances | (in_at ^ out_at)) % (N * width) == 0 && in_at % width == 0;
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
