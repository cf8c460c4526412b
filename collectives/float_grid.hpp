// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A floating dtype as a grid of numbers on the real line, all of which a double holds.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "collectives/double_double.hpp"
#include "ranks/dtype.hpp"

namespace vranks {

struct FloatGrid {
  int digits;      // bits of a number that is not subnormal, the hidden one included
  int lowest;      // all numbers are multiples of 2^lowest
  int highest;     // exponent of the largest binade
  double largest;  // finite number
  bool has_infinity = true;

  // log2 of the distance to the next larger number; `exponent` is ilogb of the number.
  int spacing(int exponent) const {
    return std::clamp(exponent, lowest + digits - 1, highest) - digits + 1;
  }
  double smallest_normal() const { return std::ldexp(1, lowest + digits - 1); }
  double half_ulp_of_one() const { return std::ldexp(1, -digits); }
};

// Of a complex dtype its parts'. Precondition: `dtype` is floating or complex.
inline const FloatGrid& grid_of(DType dtype) {
  static constexpr FloatGrid f64{53, -1074, 1023, DBL_MAX};
  static constexpr FloatGrid f32{24, -149, 127, FLT_MAX};
  static constexpr FloatGrid f16{11, -24, 15, 65504};
  static constexpr FloatGrid bf16{8, -133, 127, 0x1.fep127};
  static constexpr FloatGrid f8e4m3{4, -9, 8, 448, false};
  static constexpr FloatGrid f8e5m2{3, -16, 15, 57344};
  switch (part_dtype(dtype)) {
    case DType::f64:
      return f64;
    case DType::f32:
      return f32;
    case DType::f16:
      return f16;
    case DType::f8e4m3:
      return f8e4m3;
    case DType::f8e5m2:
      return f8e5m2;
    default:
      return bf16;
  }
}

// value * 2^shift rounded once, to nearest even; infinite beyond the largest number.
inline double nearest(DoubleDouble value, int shift, const FloatGrid& grid) {
  if (!std::isfinite(value.hi) || value.hi == 0) return value.hi;
  const int exponent = std::max(std::ilogb(value.hi) + shift, grid.lowest + grid.digits - 1);
  const int spacing = exponent - grid.digits + 1;
  const double units = std::ldexp(value.hi, shift - spacing);
  double whole = std::nearbyint(units);
  // Where hi lies half-way, lo decides, not the evenness of the neighbour.
  if (units - whole == 0.5 && value.lo > 0) whole += 1;
  if (units - whole == -0.5 && value.lo < 0) whole -= 1;
  const double rounded = std::ldexp(whole, spacing);
  return std::abs(rounded) > grid.largest ? std::copysign(HUGE_VAL, rounded) : rounded;
}

}  // namespace vranks
