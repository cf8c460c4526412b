// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ops of narrow floats that handle two neighbouring columns by one instruction: the bits of the op
// that they stand for. PairsOf<Op> has
//   Pair                 two elements as they lie in memory
//   Carried              what is carried for both
//   lift, combine        as the op's own
//   lower(c)             two elements
//   part(c, which)       what the op itself would carry for one of them
// and is empty for the other ops.
#pragma once

#include <cstdint>

#include "kernels/arithmetic.hpp"

namespace vranks::cuda {

template <class Op>
struct PairsOf {};

// Two 8-bit floats as two f16, exactly.
template <class T>
__device__ __forceinline__ std::uint32_t widen_codes(std::uint16_t codes) {
  if constexpr (std::is_same_v<T, Float8E5M2>) {
    return __byte_perm(codes, 0, 0x1404);
  } else {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
    std::uint32_t halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(codes));
    return halves;
#else
    const auto half = [](std::uint8_t code) {
      return std::uint32_t{to_half(to_float(Float8E4M3{code})).bits};
    };
    return half(static_cast<std::uint8_t>(codes >> 8)) << 16 |
           half(static_cast<std::uint8_t>(codes));
#endif
  }
}

// Two f32 as two 8-bit floats, rounded once.
template <class T>
__device__ __forceinline__ std::uint16_t narrow_codes(float low, float high, bool saturate) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
  if (saturate) {
    std::uint16_t codes;
    if constexpr (std::is_same_v<T, Float8E4M3>)
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
    else
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
    return codes;
  }
#endif
  return static_cast<std::uint16_t>(arithmetic::narrow_8<T>(high, saturate).bits << 8 |
                                    arithmetic::narrow_8<T>(low, saturate).bits);
}

template <class T>
requires(sizeof(T) == 1) struct PairsOf<arithmetic::FloatSum<T>> {
  using Op = arithmetic::FloatSum<T>;
  using Pair = std::uint16_t;
  using Carried = float2;

  Op op;

  __device__ __forceinline__ Carried lift(Pair x) const {
    const std::uint32_t halves = widen_codes<T>(x);
    return {to_float(Half{static_cast<std::uint16_t>(halves)}),
            to_float(Half{static_cast<std::uint16_t>(halves >> 16)})};
  }
  __device__ __forceinline__ Carried combine(Carried a, Carried b) const {
    return {op.combine(a.x, b.x), op.combine(a.y, b.y)};
  }
  __device__ __forceinline__ Pair lower(Carried c) const {
    if (op.by_ranks.inverse != 0)
      c = {arithmetic::multiply(c.x, op.by_ranks.inverse),
           arithmetic::multiply(c.y, op.by_ranks.inverse)};
    else
      c = {op.by_ranks.quotient(c.x), op.by_ranks.quotient(c.y)};
    return narrow_codes<T>(c.x, c.y, op.saturate);
  }
  __device__ __forceinline__ float part(Carried c, int which) const {
    return which == 0 ? c.x : c.y;
  }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// The instructions order -0 below +0 and give a NaN the one pattern, as MinMax does.
template <class T>
requires(arithmetic::is_float<T> && sizeof(T) <= 2) struct PairsOf<arithmetic::MinMax<T>> {
  using Op = arithmetic::MinMax<T>;
  using Pair = arithmetic::BitsOf<2 * sizeof(T)>;
  using Carried = std::uint32_t;  // two f16 or bf16

  Op op;

  __device__ __forceinline__ Carried lift(Pair x) const {
    if constexpr (sizeof(T) == 1)
      return widen_codes<T>(x) ^ signs();
    else
      return x ^ signs();
  }
  __device__ __forceinline__ Carried combine(Carried a, Carried b) const {
    return less(a, b, op.nan_key == Op::lowest);
  }
  __device__ __forceinline__ Pair lower(Carried c) const {
    c ^= signs();
    if constexpr (sizeof(T) == 1)
      return static_cast<Pair>(narrowed(c >> 16) << 8 | narrowed(c));
    else
      return less(c, c, true);  // a NaN without the sign
  }
  __device__ __forceinline__ typename Op::Carried part(Carried c, int which) const {
    const Pair pair = lower(c);
    return op.lift(arithmetic::bits_as<T>(
        static_cast<arithmetic::Bits<T>>(which == 0 ? pair : pair >> 8 * sizeof(T))));
  }

 private:
  // The largest of numbers is the smallest of their opposites.
  __device__ __forceinline__ Carried signs() const { return op.flip == 0 ? 0 : 0x80008000; }

  // Both ways, and a choice: cheaper than a branch at each.
  static __device__ __forceinline__ Carried less(Carried a, Carried b, bool or_nan) {
    Carried nan, number;
    if constexpr (std::is_same_v<T, BFloat16>) {
      asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(nan) : "r"(a), "r"(b));
      asm("min.bf16x2 %0, %1, %2;" : "=r"(number) : "r"(a), "r"(b));
    } else {
      asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(nan) : "r"(a), "r"(b));
      asm("min.f16x2 %0, %1, %2;" : "=r"(number) : "r"(a), "r"(b));
    }
    return or_nan ? nan : number;
  }
  // Exact, but for an infinity of e5m2.
  __device__ __forceinline__ unsigned narrowed(std::uint32_t half) const {
    return arithmetic::narrow_8<T>(to_float(Half{static_cast<std::uint16_t>(half)}), op.saturate)
        .bits;
  }
};

#endif

}  // namespace vranks::cuda
