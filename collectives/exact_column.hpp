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
  void merge(const SumColumn& other) {
    sum = add(sum, other.sum);
    magnitude += other.magnitude;
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

}  // namespace vranks
