// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The columns that a thread folds, as memory and as registers: how a row of them is read and
// written. An access has
//   columns            how many columns a thread folds at once; column(c) is their distance from
//                      the first, exists(c) whether the row has that one
//   neighbours         how many of them lie side by side: the next thread's first follows them
//   load(at)           reads them from a row, as they lie in memory; elements(raw) takes them apart
//   store(values, at)  writes them to a row
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/arithmetic.hpp"
#include "kernels/cuda/plan.hpp"

namespace vranks::cuda {

template <class T, int N>
struct Values {
  T values[N];
};

template <class Op, int N>
using Row = Values<typename Op::Carried, N>;

// Groups of N neighbouring columns that one access reads, a block's width of groups apart. All of
// them exist.
template <class T, int N, int groups>
struct Groups {
  static constexpr int columns = N * groups;
  static constexpr int neighbours = N;
  static constexpr int bytes = N * sizeof(T);
  using Pack = std::conditional_t<
      bytes == 16, uint4,
      std::conditional_t<bytes == 8, uint2, arithmetic::BitsOf<bytes <= 4 ? bytes : 4>>>;
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
  static constexpr int neighbours = 1;
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
  // Of any type: results may be stored as another than was read.
  template <class S>
  __device__ __forceinline__ void store(const Values<S, N>& row, std::byte* at) const {
#pragma unroll
    for (int c = 0; c < N; ++c)
      if (exists(c)) reinterpret_cast<S*>(at)[column(c)] = row.values[c];
  }
};

// Groups of the neighbouring columns that four bytes hold, a block's width of groups apart, of rows
// that begin anywhere: two aligned words are read for each, and shifted. All of them exist, and as
// many behind each, so that no word is read which holds nothing of the row.
template <class T, int groups>
struct ShiftedGroups : Groups<T, 4 / sizeof(T), groups> {
  static_assert(sizeof(T) < 4);
  using Base = Groups<T, 4 / sizeof(T), groups>;
  using typename Base::Raw;
  static constexpr int behind = Base::neighbours;  // columns that must exist behind the last

  __device__ __forceinline__ Raw load(const std::byte* at) const {
    const auto beyond = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(at) % 4);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(at - beyond);
    Raw raw;
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      const std::uint32_t low = words[g * block_threads];
      const std::uint32_t high = beyond == 0 ? 0 : words[g * block_threads + 1];
      raw.packs[g] = __funnelshift_r(low, high, 8 * beyond);
    }
    return raw;
  }
  __device__ __forceinline__ void store(const Values<T, Base::columns>& row, std::byte* at) const {
#pragma unroll
    for (int c = 0; c < Base::columns; ++c)
      reinterpret_cast<T*>(at)[Base::column(c)] = row.values[c];
  }
};

}  // namespace vranks::cuda
