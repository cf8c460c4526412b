// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of every dtype, read and written from their definitions alone: bits to exact values and
// back, rounded to nearest even. No conversion of the library is used, so that tests can judge it.
// long double holds every number of every dtype (64 digits or more), __int128 every sum of
// integers.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "ranks/dtype.hpp"

namespace vranks::plain {

using Real = long double;
__extension__ using Integer = __int128;
using Code = std::uint64_t;  // the bits of an element or of a part of a complex one

// A binary float: code = sign, exponent field, mantissa.
struct Format {
  int bits;          // of all
  int digits;        // of a mantissa, with the hidden one
  int min_exponent;  // 2^min_exponent is the least normal number
  Code infinity;     // 0: has none
  Code largest;      // of finite numbers
  Code nan;          // the one pattern that arithmetic gives

  Code sign_bit() const { return Code{1} << (bits - 1); }
  // Half the distance from 1 to the next number.
  Real unit() const { return std::ldexp(Real{1}, -digits); }
  Real least() const { return std::ldexp(Real{1}, min_exponent - digits + 1); }
};

// Of a floating dtype, or of the parts of a complex one.
inline Format format_of(DType dtype) {
  switch (part_dtype(dtype)) {
    case DType::f64:
      return {64, 53, -1022, 0x7ff0000000000000, 0x7fefffffffffffff, 0xfff8000000000000};
    case DType::f16:
      return {16, 11, -14, 0x7c00, 0x7bff, 0x7fff};
    case DType::bf16:
      return {16, 8, -126, 0x7f80, 0x7f7f, 0x7fff};
    case DType::f8e4m3:
      return {8, 4, -6, 0, 0x7e, 0x7f};
    case DType::f8e5m2:
      return {8, 3, -14, 0x7c, 0x7b, 0x7f};
    default:
      return {32, 24, -126, 0x7f800000, 0x7f7fffff, 0x7fffffff};
  }
}

inline Real value_of(const Format& format, Code code) {
  const bool negative = (code & format.sign_bit()) != 0;
  const Code magnitude = code & (format.sign_bit() - 1);
  const auto signed_value = [&](Real x) { return negative ? -x : x; };
  if (magnitude > format.largest)
    return magnitude == format.infinity ? signed_value(std::numeric_limits<Real>::infinity())
                                        : std::numeric_limits<Real>::quiet_NaN();
  const int stored = format.digits - 1;
  const auto exponent = static_cast<int>(magnitude >> stored);
  const Code mantissa = magnitude & ((Code{1} << stored) - 1);
  if (exponent == 0) return signed_value(static_cast<Real>(mantissa) * format.least());
  return signed_value(std::ldexp(static_cast<Real>(mantissa + (Code{1} << stored)),
                                 format.min_exponent + exponent - 1 - stored));
}

// Rounded to nearest even. What is too large becomes infinity, or with `saturates`, or where there
// is none, the largest number.
inline Code code_of(const Format& format, Real x, bool saturates = false) {
  if (std::isnan(x)) return format.nan;
  const Code sign = std::signbit(x) ? format.sign_bit() : 0;
  const Real magnitude = std::abs(x);
  if (magnitude == 0) return sign;
  const Code beyond = saturates || format.infinity == 0 ? format.largest : format.infinity;
  if (std::isinf(x)) return sign | beyond;
  const int stored = format.digits - 1;
  const int exponent = std::max(std::ilogb(magnitude), format.min_exponent);
  // In units of the last place; std::rint rounds to nearest even. A carry into the next exponent
  // is right in the code too.
  const auto mantissa = static_cast<Code>(std::rint(std::ldexp(magnitude, stored - exponent)));
  const Code code = (static_cast<Code>(exponent - format.min_exponent) << stored) + mantissa;
  return sign | (code > format.largest ? beyond : code);
}

inline Code load(const std::byte* from, std::size_t bytes) {
  Code code = 0;
  std::memcpy(&code, from, bytes);
  return code;
}

// A part (0: real, 1: imaginary) of an element.
inline Real real_at(DType dtype, const std::byte* element, std::size_t part = 0) {
  const Format format = format_of(dtype);
  const auto bytes = static_cast<std::size_t>(format.bits) / 8;
  return value_of(format, load(element + part * bytes, bytes));
}

inline void put_real(DType dtype, Real x, std::byte* element, std::size_t part = 0) {
  const Format format = format_of(dtype);
  const auto bytes = static_cast<std::size_t>(format.bits) / 8;
  const Code code = code_of(format, x);
  std::memcpy(element + part * bytes, &code, bytes);
}

inline bool is_signed(DType dtype) { return info(dtype).kind == DTypeKind::signed_integer; }

inline Integer integer_at(DType dtype, const std::byte* element) {
  const auto bits = static_cast<int>(8 * size_bytes(dtype));
  const auto value = static_cast<Integer>(load(element, size_bytes(dtype)));
  const Integer half = Integer{1} << (bits - 1);
  return is_signed(dtype) && value >= half ? value - 2 * half : value;
}

// Modulo 2^bits.
inline void put_integer(DType dtype, Integer x, std::byte* element) {
  const auto code = static_cast<Code>(x);
  std::memcpy(element, &code, size_bytes(dtype));
}

inline Integer least_integer(DType dtype) {
  return is_signed(dtype) ? -(Integer{1} << (8 * size_bytes(dtype) - 1)) : 0;
}
inline Integer largest_integer(DType dtype) {
  return (Integer{1} << (8 * size_bytes(dtype) - (is_signed(dtype) ? 1 : 0))) - 1;
}

}  // namespace vranks::plain
