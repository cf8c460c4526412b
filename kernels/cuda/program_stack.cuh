// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the partial results of a thread's columns wait.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/packed_hop.cuh"
#include "kernels/cuda/program.hpp"

namespace vranks::cuda {

// Results that wait below the top one: in registers (trees), which can't be indexed at run time, or
// in local memory. They are kept as stored partial results, which take the least space.
template <class Op, int N, ProgramKind kind>
class Waiting {
 public:
  __device__ __forceinline__ void push(const Op& op, const Row<Op, N>& row) {
    Entry entry;
    Values<typename Op::Stored, N> stored;
    if constexpr (kept_as_is) {
      memcpy(&stored, &row, sizeof(row));
    } else {
#pragma unroll
      for (int c = 0; c < N; ++c) stored.values[c] = op.store(row.values[c]);
    }
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
    if constexpr (kept_as_is) {
      memcpy(&row, &stored, sizeof(row));
    } else {
#pragma unroll
      for (int c = 0; c < N; ++c) row.values[c] = op.load(stored.values[c]);
    }
    return row;
  }

 private:
  // Taken together, so that pairs of small elements stay pairs.
  static constexpr bool kept_as_is =
      std::is_same_v<typename Op::Stored, typename Op::Carried> && in_pairs<Op, N>;
  static constexpr int levels = kind == ProgramKind::deep ? deep_waiting : tree_waiting;
  // Words, so that small elements share registers.
  static constexpr int words = (N * sizeof(typename Op::Stored) + 3) / 4;
  using Entry = Values<std::uint32_t, words>;
  Entry entries_[levels];
  int depth_ = 0;
};

}  // namespace vranks::cuda
