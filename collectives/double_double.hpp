// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of about 106 bits: an unevaluated sum hi + lo of two doubles, hi being that sum rounded
// to a double. T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput.
// 26(6), 2005. Each operation is off by a few 2^-106 of its operands (of its result for products
// and quotients) as long as nothing over- or underflows.
#pragma once

#include <cmath>
#include <cstdint>

namespace vranks {

struct DoubleDouble {
  double hi = 0;
  double lo = 0;
};

// a + b without any error.
inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// The same where |a| >= |b| or a = 0.
inline DoubleDouble fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

inline DoubleDouble add(DoubleDouble a, double b) {
  const DoubleDouble sum = two_sum(a.hi, b);
  return fast_two_sum(sum.hi, sum.lo + a.lo);
}

inline DoubleDouble add(DoubleDouble a, DoubleDouble b) { return add(add(a, b.lo), b.hi); }

inline DoubleDouble multiply(DoubleDouble a, double b) {
  const double product = a.hi * b;
  return fast_two_sum(product, std::fma(a.hi, b, -product) + a.lo * b);
}

inline DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
  const double product = a.hi * b.hi;
  return fast_two_sum(product, std::fma(a.hi, b.hi, -product) + (a.hi * b.lo + a.lo * b.hi));
}

inline DoubleDouble divide(DoubleDouble a, double b) {
  const double quotient = a.hi / b;
  const double rest = std::fma(-quotient, b, a.hi) + a.lo;
  return fast_two_sum(quotient, rest / b);
}

inline DoubleDouble divide(DoubleDouble a, DoubleDouble b) {
  const double quotient = a.hi / b.hi;
  const DoubleDouble rest = add(a, multiply(b, -quotient));
  return fast_two_sum(quotient, rest.hi / b.hi);
}

inline DoubleDouble scale(DoubleDouble a, int exponent) {
  return {std::ldexp(a.hi, exponent), std::ldexp(a.lo, exponent)};
}

// A product of any number of factors: value * 2^exponent, with |value.hi| kept in [2^-250, 1], so
// that neither large nor small factors ever leave the range of a double.
struct ScaledProduct {
  DoubleDouble value = {1, 0};
  std::int64_t exponent = 0;

  // Precondition: `factor` is finite and not zero.
  void multiply_by(double factor) {
    int shift = 0;
    value = multiply(value, std::frexp(factor, &shift));
    exponent += shift;
    normalise();
  }
  void multiply_by(const ScaledProduct& other) {
    value = multiply(value, other.value);
    exponent += other.exponent;
    normalise();
  }

 private:
  void normalise() {
    if (std::abs(value.hi) >= 0x1p-250) return;
    int shift = 0;
    std::frexp(value.hi, &shift);
    value = scale(value, -shift);
    exponent += shift;
  }
};

}  // namespace vranks
