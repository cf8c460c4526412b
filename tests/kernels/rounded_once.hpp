// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One rounded operation each, of any float type; operands and results are doubles that hold values
// of the type. f32 and f64 are the processor's own; narrower results are rounded from exact ones.
#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>
#include <type_traits>

#include "reference.hpp"

namespace vranks::reference {

// --- numbers of few bits -------------------------------------------------------------------------

using boost::multiprecision::cpp_int;

// units * 2^exponent; `more`: and a little more, in magnitude.
struct Exact {
  cpp_int units;
  int exponent = 0;
  bool more = false;

  static Exact of(double x) {
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    return {cpp_int(static_cast<std::int64_t>(std::ldexp(fraction, 53))), exponent - 53};
  }
  friend Exact operator*(const Exact& a, const Exact& b) {
    return {a.units * b.units, a.exponent + b.exponent};
  }
  friend Exact operator+(const Exact& a, const Exact& b) {
    const int exponent = std::min(a.exponent, b.exponent);
    return {(a.units << (a.exponent - exponent)) + (b.units << (b.exponent - exponent)), exponent};
  }
  Exact divided_by(double divisor) const {
    const Exact by = of(divisor);
    const cpp_int wide = units << 160;
    return {wide / by.units, exponent - 160 - by.exponent, wide % by.units != 0};
  }
};

// digits: with the leading one; smallest: exponent of the least number; infinity: bits of what
// comes behind the largest number, all larger ones are NaNs.
template <class T>
struct Format;
template <>
struct Format<double> {
  static constexpr int digits = 53, smallest = -1074;
  static constexpr double largest = std::numeric_limits<double>::max();
};
template <>
struct Format<float> {
  static constexpr int digits = 24, smallest = -149;
  static constexpr double largest = std::numeric_limits<float>::max();
};
template <>
struct Format<Half> {
  static constexpr int digits = 11, smallest = -24, mantissa_bits = 10, infinity = 0x7c00;
  static constexpr double largest = 65504;
};
template <>
struct Format<BFloat16> {
  static constexpr int digits = 8, smallest = -133, mantissa_bits = 7, infinity = 0x7f80;
  static constexpr double largest = 0x1.fep127;
};
template <>
struct Format<Float8E4M3> {  // has a NaN where others have infinity
  static constexpr int digits = 4, smallest = -9, mantissa_bits = 3, infinity = 0x7f;
  static constexpr double largest = 448;
};
template <>
struct Format<Float8E5M2> {
  static constexpr int digits = 3, smallest = -16, mantissa_bits = 2, infinity = 0x7c;
  static constexpr double largest = 57344;
};
template <class T>
inline constexpr bool has_infinity = !std::is_same_v<T, Float8E4M3>;

// The number of T nearest to x, which isn't 0; ties to even, and infinity beyond the largest.
template <class T>
double rounded(const Exact& x) {
  const cpp_int magnitude = abs(x.units);
  const int bits = static_cast<int>(msb(magnitude)) + 1;
  const int unit = std::max(bits + x.exponent - Format<T>::digits, Format<T>::smallest);
  const int dropped = unit - x.exponent;
  double result;
  if (dropped <= 0) {
    result = std::ldexp(magnitude.convert_to<double>(), x.exponent);
  } else {
    cpp_int kept = magnitude >> dropped;
    const cpp_int rest = magnitude - (kept << dropped);
    const cpp_int half = cpp_int(1) << (dropped - 1);
    if (rest > half || (rest == half && (x.more || kept % 2 == 1))) ++kept;
    result = std::ldexp(kept.convert_to<double>(), unit);
  }
  if (result > Format<T>::largest) result = HUGE_VAL;
  return x.units < 0 ? -result : result;
}

// --- elements as doubles, which hold the values of all float types -------------------------------

template <class T>
double value_of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(x);
  } else {
    constexpr int mantissa_bits = Format<T>::mantissa_bits, sign = 1 << (8 * sizeof(T) - 1);
    const int bits = x.bits & (sign - 1);
    double magnitude;
    if (bits >= Format<T>::infinity)
      magnitude = has_infinity<T> && bits == Format<T>::infinity
                      ? HUGE_VAL
                      : std::numeric_limits<double>::quiet_NaN();
    else if (bits >> mantissa_bits == 0)
      magnitude = std::ldexp(bits, Format<T>::smallest);
    else
      magnitude = std::ldexp((bits & ((1 << mantissa_bits) - 1)) + (1 << mantissa_bits),
                             Format<T>::smallest + (bits >> mantissa_bits) - 1);
    return (x.bits & sign) != 0 ? -magnitude : magnitude;
  }
}

// The element whose value is x; of a NaN the one pattern.
template <class T>
T element_of(double x) {
  if constexpr (std::is_floating_point_v<T>) {
    return from_carried<T>(static_cast<T>(x));
  } else {
    constexpr int mantissa_bits = Format<T>::mantissa_bits, sign = 1 << (8 * sizeof(T) - 1);
    using Bits = decltype(T::bits);
    if (std::isnan(x)) return {static_cast<Bits>(sign - 1)};
    int bits;
    const double magnitude = std::abs(x);
    if (std::isinf(x)) {
      bits = Format<T>::infinity;
    } else {
      const int normal = Format<T>::smallest + mantissa_bits;  // exponent of the least
      const int exponent = magnitude == 0 ? normal : std::max(std::ilogb(magnitude), normal);
      // With the leading one.
      bits = static_cast<int>(std::ldexp(magnitude, mantissa_bits - exponent));
      bits += (exponent - normal) << mantissa_bits;
    }
    return {static_cast<Bits>(bits | (std::signbit(x) ? sign : 0))};
  }
}

// x, a value of any float type, rounded to T.
template <class T>
double round_to_type(double x) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(static_cast<T>(x));
  else
    return x == 0 || !std::isfinite(x) ? x : rounded<T>(Exact::of(x));
}

// a * b + c, rounded once to T. Special cases and signs of zero are those of f64, where neither the
// product of two 16-bit numbers nor its sum with a third turns into 0 by rounding.
template <class T>
double fused_once(double a, double b, double c) {
  if constexpr (std::is_same_v<T, double>) return std::fma(a, b, c);
  if constexpr (std::is_same_v<T, float>)
    return static_cast<double>(
        std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
  if constexpr (sizeof(T) <= 2) {
    const double in_f64 = std::fma(a, b, c);
    if (in_f64 == 0 || !std::isfinite(in_f64)) return in_f64;
    return rounded<T>(Exact::of(a) * Exact::of(b) + Exact::of(c));
  }
}
template <class T>
double sum_once(double a, double b) {
  if constexpr (sizeof(T) > 2)
    return static_cast<double>(static_cast<T>(static_cast<T>(a) + static_cast<T>(b)));
  else
    return fused_once<T>(a, 1, b);
}
template <class T>
double product_once(double a, double b) {
  if constexpr (sizeof(T) > 2)
    return static_cast<double>(static_cast<T>(static_cast<T>(a) * static_cast<T>(b)));
  else  // exact in f64
    return round_to_type<T>(a * b);
}

}  // namespace vranks::reference
