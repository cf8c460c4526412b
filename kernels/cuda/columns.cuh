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

// The neighbouring columns that so many bytes hold, of rows that begin anywhere: two aligned packs
// are read for each, and shifted; the second is what the next thread reads first. As many columns
// must exist behind a thread's, so that no pack ends behind the row.
template <class T, int pack_bytes>
struct ShiftedPacks {
  using Aligned = Groups<T, pack_bytes / sizeof(T), 1>;
  using Pack = typename Aligned::Pack;
  static constexpr int columns = Aligned::columns;
  static constexpr int neighbours = columns;
  static constexpr int words = pack_bytes / 4;
  static_assert(words >= 1 && sizeof(T) < pack_bytes);

  struct Raw {
    Pack low, high;
    unsigned beyond;  // bytes of `low` in front of the columns
  };

  static __device__ __forceinline__ int column(int c) { return c; }
  static __device__ __forceinline__ bool exists(int) { return true; }
  __device__ __forceinline__ Raw load(const std::byte* at) const {
    const auto beyond = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(at) % pack_bytes);
    const auto* const packs = reinterpret_cast<const Pack*>(at - beyond);
    Raw raw;
    raw.beyond = beyond;
    raw.low = packs[0];
    raw.high = beyond == 0 ? Pack{} : packs[1];
    return raw;
  }
  static __device__ __forceinline__ Values<T, columns> elements(const Raw& raw) {
    std::uint32_t all[2 * words];
    memcpy(all, &raw.low, pack_bytes);
    memcpy(all + words, &raw.high, pack_bytes);
#pragma unroll
    for (int apart = words / 2; apart > 0; apart /= 2)
#pragma unroll
      for (int w = 0; w < words + apart; ++w)
        if ((raw.beyond & (4 * apart)) != 0) all[w] = all[w + apart];
    if constexpr (sizeof(T) < 4) {
#pragma unroll
      for (int w = 0; w < words; ++w)
        all[w] = __funnelshift_r(all[w], all[w + 1], 8 * (raw.beyond % 4));
    }
    Values<T, columns> loaded;
    memcpy(&loaded, all, pack_bytes);
    return loaded;
  }
  // As wide as the address allows.
  __device__ __forceinline__ void store(const Values<T, columns>& row, std::byte* at) const {
    const auto beyond = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(at) % pack_bytes);
    if (beyond == 0) return Aligned{}.store(row, at);
    if constexpr (sizeof(T) < 4)
      if (beyond % 4 == 0) return store_by<std::uint32_t>(row, at);
    store_by<T>(row, at);
  }

 private:
  template <class Unit>
  static __device__ __forceinline__ void store_by(const Values<T, columns>& row, std::byte* at) {
    Unit units[pack_bytes / sizeof(Unit)];
    memcpy(units, &row, pack_bytes);
#pragma unroll
    for (int k = 0; k < static_cast<int>(pack_bytes / sizeof(Unit)); ++k)
      reinterpret_cast<Unit*>(at)[k] = units[k];
  }
};

template <class Access>
inline constexpr bool is_shifted = false;
template <class T, int pack_bytes>
inline constexpr bool is_shifted<ShiftedPacks<T, pack_bytes>> = true;

}  // namespace vranks::cuda
