// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of fold programs do with one row of a thread's columns: lift it, let it meet the
// result so far, merge two results, lower one.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/packed_hop.cuh"
#include "kernels/cuda/program.hpp"

namespace vranks::cuda {

// Ops that may scale their inputs, and those that meet a rank's own scaled input with one rounding.
template <class Op>
inline constexpr bool can_scale = false;
template <class T, class S>
inline constexpr bool can_scale<arithmetic::FloatHop<T, S, false>> = true;
template <>
inline constexpr bool can_scale<arithmetic::NanKeepingHop> = true;
template <class T>
inline constexpr bool can_scale<PackedHop<T>> = true;
template <class Op>
inline constexpr bool can_fuse = can_scale<Op> && sizeof(typename Op::Element) > 1;

// result[k] = f(x[k]...) of 16-bit columns, two at a time.
template <int N, class F, class... Xs>
__device__ __forceinline__ void for_pairs(void* result, const F& f, const Xs&... x) {
  std::uint32_t pairs[N / 2];
  const auto pair = [](const auto& row, int k) {
    std::uint32_t bits;
    memcpy(&bits, row.values + 2 * k, 4);
    return bits;
  };
#pragma unroll
  for (int k = 0; k < N / 2; ++k) pairs[k] = f(pair(x, k)...);
  memcpy(result, pairs, sizeof(pairs));
}

template <class Op, class T, int N>
__device__ __forceinline__ Row<Op, N> lift_row(const Op& op, const Values<T, N>& x, int number) {
  Row<Op, N> row;
  if constexpr (in_pairs<Op, N>) {
    for_pairs<N>(
        &row, [&](auto a) { return op.lift_pair(a); }, x);
  } else {
#pragma unroll
    for (int c = 0; c < N; ++c) row.values[c] = op.lift(x.values[c], number);
  }
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
  if constexpr (!std::is_same_v<T, S>) {
    known.op = ReduceOp::mean;  // no other op is carried wider
    known.is_logical = false;
    return f(known);
  } else {
    switch (op.op) {
#define VR_KNOWN(name, may_be_logical)                  \
  case ReduceOp::name:                                  \
    known.op = ReduceOp::name;                          \
    known.is_logical = may_be_logical && op.is_logical; \
    return f(known);
      VR_KNOWN(prod, false)
      VR_KNOWN(min, false)
      VR_KNOWN(max, false)
      VR_KNOWN(band, true)
      VR_KNOWN(bor, true)
      VR_KNOWN(bxor, true)
      VR_KNOWN(premul_sum, false)
#undef VR_KNOWN
      default:  // a mean is a sum until it is lowered
        known.op = ReduceOp::sum;
        known.is_logical = false;
        return f(known);
    }
  }
}

// The op where no input is scaled: nothing asks for it at every element.
template <class Op>
__device__ __forceinline__ Op unscaled(Op op) {
  if constexpr (requires { op.premultiply; }) op.premultiply = false;
  return op;
}

// A leaf meets the result so far. fused: bit c says that column c's position is one to fuse.
template <class Op, class T, int N>
__device__ __forceinline__ void join_leaf(const Op& op, Row<Op, N>& top, const Values<T, N>& x,
                                          int number, std::uint32_t leaf, std::uint32_t fused) {
  if constexpr (in_pairs<Op, N>) {
    const auto fused_pair = [&](auto a, auto b) { return op.combine_own_pair(a, b); };
    const auto plain_pair = [&](auto a, auto b) { return op.combine_pair(op.lift_pair(a), b); };
    if ((leaf & leaf_is_fused) == 0 || fused == 0) {
      for_pairs<N>(&top, plain_pair, x, top);
    } else if (fused == ~0u) {
      for_pairs<N>(&top, fused_pair, x, top);
    } else {
      std::uint32_t bits = fused;
      for_pairs<N>(
          &top,
          [&](auto a, auto b) {
            const std::uint32_t mask =
                ((bits & 1) != 0 ? 0xffffu : 0u) | ((bits & 2) != 0 ? 0xffff0000u : 0u);
            bits >>= 2;
            return (fused_pair(a, b) & mask) | (plain_pair(a, b) & ~mask);
          },
          x, top);
    }
  } else {
    if constexpr (can_fuse<Op>) {
      if ((leaf & leaf_is_fused) != 0) {
#pragma unroll
        for (int c = 0; c < N; ++c)
          top.values[c] =
              op.combine_own(x.values[c], number, top.values[c], false, (fused >> c & 1) != 0);
        return;
      }
    }
    const bool first = !commutes<Op> && (leaf & leaf_is_first) != 0;
    with_op(op, [&](const Op& known) {
#pragma unroll
      for (int c = 0; c < N; ++c)
        top.values[c] = first ? known.combine(known.lift(x.values[c], number), top.values[c])
                              : known.combine(top.values[c], known.lift(x.values[c], number));
    });
  }
}

// The result below the top meets it, on the left unless they swap.
template <class Op, int N>
__device__ __forceinline__ void merge(const Op& op, Row<Op, N>& top, const Row<Op, N>& below,
                                      bool swap) {
  if constexpr (in_pairs<Op, N>) {
    for_pairs<N>(
        &top, [&](auto a, auto b) { return op.combine_pair(a, b); }, below, top);
  } else {
    const bool swapped = !commutes<Op> && swap;
    with_op(op, [&](const Op& known) {
#pragma unroll
      for (int c = 0; c < N; ++c)
        top.values[c] = swapped ? known.combine(top.values[c], below.values[c])
                                : known.combine(below.values[c], top.values[c]);
    });
  }
}

// The balanced tree over leaves [first, first + count), a power of two of them, of an op to which
// sides are alike.
template <int first, int count, class Access, class Op>
__device__ __forceinline__ Row<Op, Access::columns> subtree(const Op& op,
                                                            const typename Access::Raw* rows,
                                                            const std::int32_t* numbers) {
  if constexpr (count == 1) {
    return lift_row(op, Access::elements(rows[first]), numbers[first]);
  } else {
    const auto left = subtree<first, count / 2, Access>(op, rows, numbers);
    auto right = subtree<first + count / 2, count / 2, Access>(op, rows, numbers);
    merge(op, right, left, false);
    return right;
  }
}

template <class Op, int N>
__device__ __forceinline__ Values<typename Op::Element, N> lower_row(const Op& op,
                                                                     const Row<Op, N>& row) {
  Values<typename Op::Element, N> lowered;
  if constexpr (in_pairs<Op, N>) {
    if (op.lowers_pairs()) {
      for_pairs<N>(
          &lowered, [&](auto c) { return op.lower_pair(c); }, row);
      return lowered;
    }
  }
#pragma unroll
  for (int c = 0; c < N; ++c) lowered.values[c] = op.lower(row.values[c]);
  return lowered;
}

}  // namespace vranks::cuda
