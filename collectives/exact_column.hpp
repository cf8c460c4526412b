// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The reduction of one element over the ranks without rounding, rank by rank and block by block:
// whatever an op's right answer and its bound depend on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "collectives/double_double.hpp"

namespace vranks {

__extension__ typedef __int128 Int128;

struct SumColumn {
  DoubleDouble sum;
  double magnitude = 0;  // sum of |x|

  void add_element(double x) {
    sum = add(sum, x);
    magnitude += std::abs(x);
  }
  void add_element(double x, double factor) {
    const double product = x * factor;
    sum = add(sum, DoubleDouble{product, std::fma(x, factor, -product)});
    magnitude += std::abs(product);
  }
  void merge(const SumColumn& other) {
    sum = add(sum, other.sum);
    magnitude += other.magnitude;
  }
};

// The same sum for a second look, where the first meets an infinity, a NaN, or a sum beyond the
// largest or near the smallest double.
struct SumLook {
  SumColumn down;             // of the finite x, times 2^-256
  SumColumn up;               // times 2^256; right if that is in the range of a double
  double zero = -0.0;         // the sum in doubles: -0 only if all terms are
  double special = 0;         // what the terms that aren't finite add up to
  bool has_nan = false;       // among the terms, and
  bool has_infinity[2] = {};  // positive, negative

  void add_element(double x, double factor) {
    zero += x * factor;
    // Whichever of the two is small.
    std::abs(x) < 1 ? up.add_element(std::ldexp(x, 256), factor)
                    : up.add_element(x, std::ldexp(factor, 256));
    if (std::isfinite(x)) return down.add_element(std::ldexp(x, -256), factor);
    const double term = x * factor;
    has_nan |= std::isnan(term);
    if (std::isinf(term)) has_infinity[std::signbit(term)] = true;
    special += term;
  }
};

struct ProductColumn {
  // Apart, because they tell how far partial products can go up and down in any order.
  ScaledProduct large;  // of all |x| > 1
  ScaledProduct small;  // of all |x| <= 1
  bool is_negative = false;
  bool has_nan = false;
  bool has_infinity = false;
  bool has_zero = false;

  void add_element(double x) {
    is_negative ^= std::signbit(x);
    has_nan |= std::isnan(x);
    has_infinity |= std::isinf(x);
    has_zero |= x == 0;
    if (std::isfinite(x) && x != 0) (std::abs(x) > 1 ? large : small).multiply_by(std::abs(x));
  }
  void merge(const ProductColumn& other) {
    large.multiply_by(other.large);
    small.multiply_by(other.small);
    is_negative ^= other.is_negative;
    has_nan |= other.has_nan;
    has_infinity |= other.has_infinity;
    has_zero |= other.has_zero;
  }
};

struct ComplexProductColumn {
  // Real and imaginary part, both times 2^-exponent; the larger one is in [2^-250, 1].
  DoubleDouble re = {1, 0};
  DoubleDouble im = {0, 0};
  std::int64_t exponent = 0;
  ScaledProduct large;  // of all |z| > 1: how far partial products can go up in any order
  bool is_finite = true;
  bool has_zero = false;

  void add_element(double x, double y) {
    is_finite &= std::isfinite(x) && std::isfinite(y);
    has_zero |= x == 0 && y == 0;
    if (!is_finite || has_zero) return;
    const int shift = std::ilogb(std::max(std::abs(x), std::abs(y))) + 2;
    const double small_x = std::ldexp(x, -shift), small_y = std::ldexp(y, -shift);
    const double magnitude = std::hypot(small_x, small_y);
    if (std::ldexp(magnitude, std::min(shift, 9)) > 1) {
      large.multiply_by(magnitude);
      large.exponent += shift;
    }
    multiply_by({small_x, 0}, {small_y, 0}, shift);
  }
  void merge(const ComplexProductColumn& other) {
    is_finite &= other.is_finite;
    has_zero |= other.has_zero;
    large.multiply_by(other.large);
    multiply_by(other.re, other.im, other.exponent);
  }

 private:
  void multiply_by(DoubleDouble x, DoubleDouble y, std::int64_t shift) {
    const DoubleDouble real = add(multiply(re, x), negative(multiply(im, y)));
    im = add(multiply(re, y), multiply(im, x));
    re = real;
    exponent += shift;
    const double larger = std::max(std::abs(re.hi), std::abs(im.hi));
    if (larger >= 0x1p-250 || larger == 0) return;
    const int up = std::ilogb(larger) + 1;
    re = scale(re, -up);
    im = scale(im, -up);
    exponent += up;
  }
  static DoubleDouble negative(DoubleDouble x) { return {-x.hi, -x.lo}; }
};

// log(exp(x0) + exp(x1) + ...) as the largest number and the sum of exp(x - largest).
struct LogSumColumn {
  long double largest = -HUGE_VALL;
  long double sum = 0;
  bool has_nan = false;

  void add_element(double x) { add_term(x, 1); }
  void merge(const LogSumColumn& other) {
    has_nan |= other.has_nan;
    add_term(other.largest, other.sum);
  }
  long double result() const { return std::isinf(largest) ? largest : largest + std::log(sum); }

 private:
  void add_term(long double x, long double count) {
    has_nan |= std::isnan(x);
    if (std::isnan(x) || x == -HUGE_VALL) return;
    if (x <= largest) {
      if (!std::isinf(largest)) sum += count * std::exp(x - largest);
      return;
    }
    sum = count + (largest == -HUGE_VALL || std::isinf(x) ? 0 : sum * std::exp(largest - x));
    largest = x;
  }
};

struct ExtremesColumn {
  double smallest = HUGE_VAL;
  double largest = -HUGE_VAL;
  bool has_number = false;
  bool has_nan = false;

  static bool is_less(double a, double b) {
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  }
  void add_element(double x) {
    has_nan |= std::isnan(x);
    has_number |= !std::isnan(x);
    if (is_less(x, smallest)) smallest = x;
    if (is_less(largest, x)) largest = x;
  }
  void merge(const ExtremesColumn& other) {
    has_nan |= other.has_nan;
    has_number |= other.has_number;
    if (is_less(other.smallest, smallest)) smallest = other.smallest;
    if (is_less(largest, other.largest)) largest = other.largest;
  }
};

struct IntegerColumn {
  Int128 sum = 0;             // exact: fewer than 2^63 ranks of 64-bit numbers
  std::uint64_t product = 1;  // modulo 2^64, hence right modulo any smaller power
  Int128 smallest = std::numeric_limits<std::uint64_t>::max();
  Int128 largest = std::numeric_limits<std::int64_t>::min();

  void add_element(Int128 x) {
    sum += x;
    product *= static_cast<std::uint64_t>(x);
    smallest = std::min(smallest, x);
    largest = std::max(largest, x);
  }
  void merge(const IntegerColumn& other) {
    sum += other.sum;
    product *= other.product;
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
  }
};

// Bits of integers, or truth values as 0 and 1.
struct BitsColumn {
  std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t any = 0;
  std::uint64_t odd = 0;

  void add_element(std::uint64_t x) { merge({x, x, x}); }
  void merge(const BitsColumn& other) {
    all &= other.all;
    any |= other.any;
    odd ^= other.odd;
  }
};

}  // namespace vranks
