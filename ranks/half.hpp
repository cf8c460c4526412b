// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The 16-bit floats as storage types: f16 (IEEE binary16) and bf16 (the upper half of an f32).
// They hold bits and convert; arithmetic is done in f32. Narrowing rounds to nearest even, keeps
// subnormals, overflows to infinity, and turns every NaN into 7fff: the same on CPU and CUDA.
#pragma once

#include <bit>
#include <cstdint>

#include "ranks/host_device.hpp"

namespace vranks {

struct Half {
  std::uint16_t bits;
};

struct BFloat16 {
  std::uint16_t bits;
};

namespace detail {

VR_HOST_DEVICE float float_from_bits(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

VR_HOST_DEVICE std::uint32_t bits_from_float(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  return std::bit_cast<std::uint32_t>(x);
#endif
}

}  // namespace detail

VR_HOST_DEVICE float to_float(BFloat16 x) {
  return detail::float_from_bits(static_cast<std::uint32_t>(x.bits) << 16);
}

VR_HOST_DEVICE float to_float(Half x) {
#ifdef __CUDA_ARCH__
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
#else
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (x.bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = x.bits & 0x3ffu;
  if (exponent == 0x1f) return detail::float_from_bits(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return detail::float_from_bits(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Subnormal or zero: mantissa * 2^-24 is exact in f32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return detail::float_from_bits(sign | detail::bits_from_float(magnitude));
#endif
}

VR_HOST_DEVICE BFloat16 to_bfloat16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint16_t narrow;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(x));
  return {narrow};
#else
  const std::uint32_t bits = detail::bits_from_float(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return {static_cast<std::uint16_t>(rounded >> 16)};
#endif
}

VR_HOST_DEVICE Half to_half(float x) {
#ifdef __CUDA_ARCH__
  std::uint16_t narrow;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow) : "f"(x));
  return {narrow};
#else
  const std::uint32_t bits = detail::bits_from_float(x);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  if (magnitude > 0x7f800000u) return {0x7fff};
  // 65520 is half-way between the largest f16 and the next step: from there on, infinity.
  if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) {
    // Below 2^-14 the result is subnormal: adding 0.5 leaves a unit of 2^-24 in f32, so that the
    // addition itself rounds to nearest even.
    const float shifted = detail::float_from_bits(magnitude) + 0.5f;
    const std::uint32_t units = detail::bits_from_float(shifted) - detail::bits_from_float(0.5f);
    return {static_cast<std::uint16_t>(sign | units)};
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
#endif
}

}  // namespace vranks
