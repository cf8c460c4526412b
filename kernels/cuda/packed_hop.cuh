// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of 16-bit floats whose partial results are rounded at every step, two columns at a time: the
// bits of FloatHop<T, T, false>, by instructions that round once and know no other NaN than the
// one. An f32 between operands and result changes nothing: it holds more than twice the digits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/float_hop.hpp"

namespace vranks::cuda {

template <class T>
struct PackedHop {
  static_assert(std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>);
  using Plain = arithmetic::FloatHop<T, T, false>;
  using Element = T;
  using Stored = T;
  using Carried = T;
  using Pair = std::uint32_t;  // column 2 k in the lower half, column 2 k + 1 in the upper

  Plain plain;
  bool premultiply = false;
  Pair scale = 0;

  explicit PackedHop(const Plain& hop) : plain(hop), premultiply(hop.premultiply) {
    const std::uint32_t bits = arithmetic::narrow<T>(hop.scale).bits;
    scale = bits << 16 | bits;
  }

  // x * y + z, rounded once.
  static __device__ __forceinline__ Pair fused(Pair x, Pair y, Pair z) {
    Pair result;
    if constexpr (std::is_same_v<T, Half>) {
      asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(z));
    } else {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
      asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(z));
#else
      const auto half = [&](int shift) {
        const auto part = [&](Pair pair) {
          return arithmetic::widen(BFloat16{static_cast<std::uint16_t>(pair >> shift)});
        };
        return std::uint32_t{
            arithmetic::narrow<T>(arithmetic::fused_16<T>(part(x), part(y), part(z))).bits};
      };
      result = half(16) << 16 | half(0);
#endif
    }
    return result;
  }

  // A product and -0 is the product, whatever its sign; one times x is x.
  __device__ __forceinline__ Pair lift_pair(Pair x) const {
    return premultiply ? fused(x, scale, negative_zeros) : x;
  }
  __device__ __forceinline__ Pair combine_pair(Pair a, Pair b) const { return fused(a, ones, b); }
  __device__ __forceinline__ Pair combine_own_pair(Pair x, Pair other) const {
    return premultiply ? fused(x, scale, other) : combine_pair(x, other);
  }
  bool __device__ __forceinline__ lowers_pairs() const { return !plain.divide; }
  __device__ __forceinline__ Pair lower_pair(Pair c) const {
    return fused(c, ones, negative_zeros);  // every NaN gets the one pattern
  }

  __device__ __forceinline__ T lift(T x, std::int32_t = 0) const { return low(lift_pair(x.bits)); }
  __device__ __forceinline__ T load(T s) const { return s; }
  __device__ __forceinline__ T store(T c) const { return c; }
  __device__ __forceinline__ T combine(T a, T b) const { return low(combine_pair(a.bits, b.bits)); }
  __device__ __forceinline__ T combine_own(T x, std::int32_t, T other, bool, bool fuse) const {
    return low(fuse ? combine_own_pair(x.bits, other.bits)
                    : combine_pair(other.bits, lift_pair(x.bits)));
  }
  __device__ __forceinline__ T lower(T c) const { return plain.lower(arithmetic::widen(c)); }

  __device__ __forceinline__ bool must_rescue(T c) const {
    return plain.must_rescue(arithmetic::widen(c));
  }
  __device__ __forceinline__ PackedHop rescued() const {
    PackedHop op = *this;
    op.plain = plain.rescued();
    op.premultiply = true;
    const std::uint32_t bits = arithmetic::narrow<T>(op.plain.scale).bits;
    op.scale = bits << 16 | bits;
    return op;
  }

 private:
  static constexpr Pair ones = std::is_same_v<T, Half> ? 0x3c003c00 : 0x3f803f80;
  static constexpr Pair negative_zeros = 0x80008000;

  static __device__ __forceinline__ T low(Pair pair) { return {static_cast<std::uint16_t>(pair)}; }
};

// Whether N columns are computed in pairs.
template <class Op, int N>
inline constexpr bool in_pairs = N % 2 == 0 && requires {
  typename Op::Pair;
};

// The op as kernels run it.
template <class Op>
Op on_device(const Op& op) {
  return op;
}
template <class T>
requires(sizeof(T) == 2) PackedHop<T> on_device(const arithmetic::FloatHop<T, T, false>& op) {
  return PackedHop<T>(op);
}

}  // namespace vranks::cuda
