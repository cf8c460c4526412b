// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of complex numbers. (Sums are those of their parts.)
#pragma once

#include "kernels/arithmetic.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks::arithmetic {

// (a + bi)(c + di) = (ac - bd) + (ad + bc)i, each operation rounded.
template <class T>
struct ComplexProductHop {
  using Element = Complex<T>;
  using Stored = Complex<T>;
  using Carried = Complex<T>;

  static ComplexProductHop of(const Arithmetic&) { return {}; }
  VR_HOST_DEVICE Carried lift(Element x, std::int32_t = 0) const { return x; }
  VR_HOST_DEVICE Carried load(Stored s) const { return s; }
  VR_HOST_DEVICE Stored store(Carried c) const { return lower(c); }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const {
    return {add(multiply(a.re, b.re), -multiply(a.im, b.im)),
            add(multiply(a.re, b.im), multiply(a.im, b.re))};
  }
  VR_HOST_DEVICE Carried combine_own(Element x, std::int32_t, Carried other, bool left,
                                     bool) const {
    return left ? combine(x, other) : combine(other, x);
  }
  VR_HOST_DEVICE Element lower(Carried c) const { return {narrow<T>(c.re), narrow<T>(c.im)}; }
};

}  // namespace vranks::arithmetic
