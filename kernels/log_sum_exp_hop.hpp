// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// log(exp(x0) + exp(x1) + ...): a result is carried as the largest input and the sum of all
// exponentials relative to it, so that nothing overflows.
//
// With u half an ULP of 1 in the carried type, y the result and d the combines on the way of an
// input: each combine rounds a sum that is 1 or more, and an exponential whose argument, at most
// some ln R below where it matters, was rounded; exp and log are off by 2 ULP at most. So
// |error| <= u (|y| + (d + 1)(8 + ln R)), and half an ULP of y where it is narrowed.
#pragma once

#include <cmath>

#include "kernels/arithmetic.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks::arithmetic {

template <class C>
struct ScaledSum {
  C max;
  C sum;  // of exp(x - max)
};

template <class T>
struct LogSumExpHop {
  using Element = T;
  using C = Wide<T>;
  using Carried = ScaledSum<C>;
  using Stored = Carried;

  bool saturate = false;  // 8-bit floats

  static LogSumExpHop of(const Arithmetic& rules) { return {rules.fp8 == Fp8Mode::saturate}; }
  VR_HOST_DEVICE Carried lift(T x, std::int32_t = 0) const { return {widen(x), C{1}}; }
  VR_HOST_DEVICE Carried load(Stored s) const { return s; }
  VR_HOST_DEVICE Stored store(Carried c) const { return c; }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const {
    if (a.max != a.max) return a;
    if (b.max != b.max) return b;
    // Equal infinities have no difference.
    if (a.max == b.max) return {a.max, add(a.sum, b.sum)};
    if (a.max < b.max) return {b.max, add(multiply(a.sum, exponential(add(a.max, -b.max))), b.sum)};
    return {a.max, add(a.sum, multiply(b.sum, exponential(add(b.max, -a.max))))};
  }
  VR_HOST_DEVICE Carried combine_own(T x, std::int32_t, Carried other, bool, bool) const {
    return combine(lift(x), other);
  }
  VR_HOST_DEVICE T lower(Carried c) const {
    const C result = is_finite(c.max) ? add(c.max, logarithm(c.sum)) : c.max;
    if constexpr (sizeof(T) == 1)
      return narrow_8<T>(result, saturate);
    else
      return narrow<T>(result);
  }

 private:
  VR_HOST_DEVICE static float exponential(float x) { return ::expf(x); }
  VR_HOST_DEVICE static double exponential(double x) { return ::exp(x); }
  VR_HOST_DEVICE static float logarithm(float x) { return ::logf(x); }
  VR_HOST_DEVICE static double logarithm(double x) { return ::log(x); }
};

}  // namespace vranks::arithmetic
