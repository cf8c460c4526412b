// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The columns that a thread folds, as memory and as registers: how a row of them is read and
// written, and where partial results wait.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/program.hpp"
#include "kernels/cuda/tree_kernel.cuh"

namespace vranks::cuda {

// --- access to columns ---------------------------------------------------------------------------

// Groups of N neighbouring columns that one access reads, a block's width of groups apart. All of
// them exist.
template <class T, int N, int groups>
struct Groups {
  static constexpr int columns = N * groups;
  static constexpr int bytes = N * sizeof(T);
  using Pack =
      std::conditional_t<bytes == 16, uint4, std::conditional_t<bytes == 8, uint2, unsigned>>;
  static_assert(sizeof(Pack) == bytes);

  static __device__ __forceinline__ int column(int c) {
    return c / N * (block_threads * N) + c % N;
  }
  static __device__ __forceinline__ bool exists(int) { return true; }
  // As loaded: elements are taken apart only where they are used.
  struct Raw {
    Pack packs[groups];
  };
  __device__ __forceinline__ Raw load(const std::byte* at) const {
    Raw raw;
#pragma unroll
    for (int g = 0; g < groups; ++g)
      raw.packs[g] = __ldcs(reinterpret_cast<const Pack*>(at) + g * block_threads);
    return raw;
  }
  static __device__ __forceinline__ Values<T, columns> elements(const Raw& raw) {
    Values<T, columns> loaded;
    memcpy(&loaded, &raw, sizeof(raw));
    return loaded;
  }
  __device__ __forceinline__ void store(const Values<T, columns>& row, std::byte* at) const {
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      Pack pack;
      memcpy(&pack, row.values + g * N, bytes);
      __stcs(reinterpret_cast<Pack*>(at) + g * block_threads, pack);
    }
  }
};

// Single columns, `apart` from one to the next. Those from `begin` to `end` exist, counted from the
// first.
template <class T, int N>
struct SomeColumns {
  static constexpr int columns = N;
  int apart, begin, end;

  using Raw = Values<T, N>;
  __device__ __forceinline__ int column(int c) const { return c * apart; }
  __device__ __forceinline__ bool exists(int c) const {
    return column(c) >= begin && column(c) < end;
  }
  __device__ __forceinline__ Raw load(const std::byte* at) const {
    Raw loaded;
#pragma unroll
    for (int c = 0; c < N; ++c)
      loaded.values[c] = exists(c) ? reinterpret_cast<const T*>(at)[column(c)] : T{};
    return loaded;
  }
  static __device__ __forceinline__ Raw elements(const Raw& raw) { return raw; }
  __device__ __forceinline__ void store(const Values<T, columns>& row, std::byte* at) const {
#pragma unroll
    for (int c = 0; c < N; ++c)
      if (exists(c)) reinterpret_cast<T*>(at)[column(c)] = row.values[c];
  }
};

// --- the stack -----------------------------------------------------------------------------------

// Results that wait below the top one: in registers (trees), which can't be indexed at run time, or
// in local memory. They are kept as stored partial results, which take the least space.
template <class Op, int N, ProgramKind kind>
class Waiting {
 public:
  __device__ __forceinline__ void push(const Op& op, const Row<Op, N>& row) {
    Entry entry;
    Values<typename Op::Stored, N> stored;
#pragma unroll
    for (int c = 0; c < N; ++c) stored.values[c] = op.store(row.values[c]);
    memcpy(&entry, &stored, sizeof(stored));
    if constexpr (kind == ProgramKind::deep) {
      entries_[depth_] = entry;
    } else {
      // Every word is read and written, so that none needs an address.
#pragma unroll
      for (int level = 0; level < levels; ++level)
#pragma unroll
        for (int w = 0; w < words; ++w) {
          const std::uint32_t kept = entries_[level].values[w];
          entries_[level].values[w] = level == depth_ ? entry.values[w] : kept;
        }
    }
    ++depth_;
  }
  __device__ __forceinline__ Row<Op, N> pop(const Op& op) {
    --depth_;
    Entry entry = entries_[0];
    if constexpr (kind == ProgramKind::deep) {
      entry = entries_[depth_];
    } else {
#pragma unroll
      for (int level = 1; level < levels; ++level)
#pragma unroll
        for (int w = 0; w < words; ++w) {
          const std::uint32_t kept = entries_[level].values[w];
          entry.values[w] = level == depth_ ? kept : entry.values[w];
        }
    }
    Values<typename Op::Stored, N> stored;
    memcpy(&stored, &entry, sizeof(stored));
    Row<Op, N> row;
#pragma unroll
    for (int c = 0; c < N; ++c) row.values[c] = op.load(stored.values[c]);
    return row;
  }

 private:
  static constexpr int levels = kind == ProgramKind::deep ? deep_waiting : tree_waiting;
  // Words, so that small elements share registers.
  static constexpr int words = (N * sizeof(typename Op::Stored) + 3) / 4;
  using Entry = Values<std::uint32_t, words>;
  Entry entries_[levels];
  int depth_ = 0;
};

}  // namespace vranks::cuda
