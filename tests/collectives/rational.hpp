// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact arithmetic for tests: every double is a fraction, and nothing rounds until round_to().
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdlib>

#include "collectives/float_grid.hpp"

namespace vranks {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

inline cpp_rational two_to(int exponent) {
  const cpp_rational power(cpp_int(1) << std::abs(exponent));
  return exponent < 0 ? 1 / power : power;
}

// Off by less than 2^-60 of x, but for what a double can't hold.
inline double to_double(const cpp_rational& x) {
  if (x == 0) return 0;
  const cpp_int numerator = abs(boost::multiprecision::numerator(x));
  const cpp_int denominator = boost::multiprecision::denominator(x);
  const int shift = 64 + static_cast<int>(msb(denominator)) - static_cast<int>(msb(numerator));
  const cpp_int quotient = shift >= 0 ? cpp_int((numerator << shift) / denominator)
                                      : cpp_int(numerator / (denominator << -shift));
  const double magnitude = std::ldexp(quotient.convert_to<double>(), -shift);
  return x < 0 ? -magnitude : magnitude;
}

// The number of `dtype` nearest to x, ties to even, found by exact distances from candidates.
inline double round_to(const cpp_rational& x, DType dtype) {
  const FloatGrid& grid = grid_of(dtype);
  const double near = to_double(x);
  const int spacing = near == 0 ? grid.lowest : grid.spacing(std::ilogb(near));
  const cpp_rational units = abs(x) / two_to(spacing);
  const cpp_int below =
      cpp_int(boost::multiprecision::numerator(units) / boost::multiprecision::denominator(units));
  const cpp_rational rest = units - cpp_rational(below);
  const cpp_rational half(1, 2);
  const bool goes_up = rest > half || (rest == half && below % 2 == 1);
  const cpp_int rounded = goes_up ? cpp_int(below + 1) : below;
  const double magnitude = std::ldexp(rounded.convert_to<double>(), spacing);
  return std::copysign(magnitude > grid.largest ? HUGE_VAL : magnitude, near);
}

}  // namespace vranks
