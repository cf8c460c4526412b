// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The 8-bit floats as storage types: E4M3 (OCP "fn": largest 448, no infinity, one NaN a sign) and
// E5M2 (the upper half of an f16). They hold bits and convert; arithmetic is done in f32. Narrowing
// rounds once to nearest even, keeps subnormals and turns every NaN into 7f. What lies beyond the
// largest finite value becomes that value (saturate) or, as IEEE 754 has it, an infinity, which
// E4M3 can only write as NaN.
#pragma once

#include <cstdint>

#include "ranks/half.hpp"
#include "ranks/host_device.hpp"

namespace vranks {

struct Float8E4M3 {
  std::uint8_t bits;
};

struct Float8E5M2 {
  std::uint8_t bits;
};

namespace detail {

// The magnitude (bits of an f32 without its sign, no NaN) as a code of a small float with that many
// mantissa bits and that exponent bias, rounded to nearest even and without an upper limit.
VR_HOST_DEVICE std::uint32_t small_float_code(std::uint32_t magnitude, std::uint32_t mantissa_bits,
                                              std::uint32_t bias) {
  const std::uint32_t shift = 23 - mantissa_bits;
  if (magnitude < (128 - bias) << 23) {
    // The result is subnormal: adding a power of two whose last place is the result's unit makes
    // the addition itself round to nearest even.
    const std::uint32_t power = (128 - bias + shift) << 23;
    return bits_from_float(float_from_bits(magnitude) + float_from_bits(power)) - power;
  }
  const std::uint32_t rounded = magnitude + (1u << (shift - 1)) - 1 + ((magnitude >> shift) & 1u);
  return (rounded >> shift) - ((127 - bias) << mantissa_bits);
}

// The f32 as a code of 8 bits. Magnitudes beyond the code `largest` become `beyond`.
VR_HOST_DEVICE std::uint8_t float8_code(float x, std::uint32_t mantissa_bits, std::uint32_t bias,
                                        std::uint32_t largest, std::uint32_t beyond) {
  const std::uint32_t bits = bits_from_float(x);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7f;
  const std::uint32_t code = small_float_code(magnitude, mantissa_bits, bias);
  const std::uint32_t limited = code > largest ? beyond : code;
  // 7f is NaN, which has no sign here.
  return static_cast<std::uint8_t>(limited == 0x7f ? 0x7f : limited | ((bits >> 24) & 0x80u));
}

}  // namespace detail

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define VR_FLOAT8_INSTRUCTIONS 1
#else
#define VR_FLOAT8_INSTRUCTIONS 0
#endif

VR_HOST_DEVICE float to_float(Float8E5M2 x) {
  return to_float(Half{static_cast<std::uint16_t>(x.bits << 8)});
}

VR_HOST_DEVICE float to_float(Float8E4M3 x) {
#if VR_FLOAT8_INSTRUCTIONS
  std::uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<std::uint16_t>(x.bits)));
  return to_float(Half{static_cast<std::uint16_t>(halves)});
#else
  const std::uint32_t sign = x.bits & 0x80u, magnitude = x.bits & 0x7fu;
  if (magnitude == 0x7f) return detail::float_from_bits((sign << 24) | 0x7fc00000u);
  // An f16 with the same digits has a bias that is greater by 8.
  return to_float(Half{static_cast<std::uint16_t>((sign << 8) | (magnitude << 7))}) * 256.0f;
#endif
}

VR_HOST_DEVICE Float8E4M3 to_float8_e4m3(float x, bool saturate) {
#if VR_FLOAT8_INSTRUCTIONS
  std::uint16_t codes;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(0.0f), "f"(x));
  // Half a step above the largest finite value rounds to that value, which is even.
  const bool is_beyond = (detail::bits_from_float(x) & 0x7fffffffu) > 0x43e80000u;
  return {static_cast<std::uint8_t>(x != x || (is_beyond && !saturate) ? 0x7f : codes)};
#else
  return {detail::float8_code(x, 3, 7, 0x7e, saturate ? 0x7e : 0x7f)};
#endif
}

VR_HOST_DEVICE Float8E5M2 to_float8_e5m2(float x, bool saturate) {
#if VR_FLOAT8_INSTRUCTIONS
  if (x != x) return {0x7f};
  std::uint16_t codes;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(0.0f), "f"(x));
  // Half a step above the largest finite value rounds to infinity, which is even.
  const bool is_beyond = (detail::bits_from_float(x) & 0x7fffffffu) >= 0x47700000u;
  return {static_cast<std::uint8_t>(is_beyond && !saturate ? 0x7c | (codes & 0x80) : codes)};
#else
  return {detail::float8_code(x, 2, 15, 0x7b, saturate ? 0x7b : 0x7c)};
#endif
}

#undef VR_FLOAT8_INSTRUCTIONS

}  // namespace vranks
