// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar arithmetic of a fold whose order an algorithm chose, once, for CPU and CUDA. Beside
// lift, combine and lower (see arithmetic.hpp) these ops know how a partial result is stored
// between two combines (Stored), and how a rank's own input meets a partial result.
//
//   lift(x)                      an input, scaled if the mean is premultiplied
//   load(s), store(c)            a stored partial result <-> what it is carried in
//   combine(a, b)                one operation, a on the left, rounded to Stored
//   combine_own(x, other, left, fused)   the combining rank's own input x and a partial result; x
//   is
//                                the left operand if `left`; one rounding for x * scale + other if
//                                `fused`
//   lower(c)                     the result
#pragma once

#include <limits>
#include <type_traits>

#include "kernels/arithmetic.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks::arithmetic {

// --- 16-bit results with one rounding
// -------------------------------------------------------------

// Makes the last bit of a rounded x odd if it isn't exact, so that rounding once more to far fewer
// bits rounds only once in effect. `error` = exact - x, or 0.
template <class C>
VR_HOST_DEVICE C to_odd(C x, double error) {
  if (!(error < 0) && !(error > 0)) return x;
  Bits<C> bits = bits_as<Bits<C>>(x);
  if (x == 0)
    return error < 0 ? -std::numeric_limits<C>::denorm_min() : std::numeric_limits<C>::denorm_min();
  if ((error < 0) != (x < 0)) --bits;  // x lies beyond: step toward zero
  return bits_as<C>(bits | 1);
}

// x in f32, rounded to odd.
VR_HOST_DEVICE float float_to_odd(double x) {
  const float near = static_cast<float>(x);
  if (!is_finite(near))
    return is_finite(x) ? bits_as<float>((bits_as<std::uint32_t>(near) - 1) | 1) : near;
  return to_odd(near, x - static_cast<double>(near));
}

// A carried value as an element, rounded once.
template <class T, class C>
VR_HOST_DEVICE T narrow_once(C x) {
  if constexpr (std::is_same_v<Wide<T>, C>) {
    return narrow<T>(x);
  } else if constexpr (std::is_same_v<T, float>) {
    return narrow<float>(static_cast<float>(x));
  } else {
    return narrow<T>(float_to_odd(x));
  }
}

#ifdef __CUDA_ARCH__
VR_HOST_DEVICE Half fused_once(Half x, Half scale, Half other) {
  Half result;
  asm("fma.rn.f16 %0, %1, %2, %3;"
      : "=h"(result.bits)
      : "h"(x.bits), "h"(scale.bits), "h"(other.bits));
  return result;
}
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
VR_HOST_DEVICE BFloat16 fused_once(BFloat16 x, BFloat16 scale, BFloat16 other) {
  BFloat16 result;
  asm("fma.rn.bf16 %0, %1, %2, %3;"
      : "=h"(result.bits)
      : "h"(x.bits), "h"(scale.bits), "h"(other.bits));
  return result;
}
#endif

// x * scale + other for 16-bit values, rounded once to S; carried in f32.
template <class S>
VR_HOST_DEVICE float fused_16(float x, float scale, float other) {
  // The product of two 16-bit floats is exact in f64; its sum with a third is made so by to_odd.
  const double product = static_cast<double>(x) * static_cast<double>(scale);
  const double addend = static_cast<double>(other);
  const double sum = add(product, addend);
  const double virtual_addend = add(sum, -product);
  const double error = add(add(product, -add(sum, -virtual_addend)), add(addend, -virtual_addend));
  return widen(narrow<S>(float_to_odd(is_finite(sum) ? to_odd(sum, error) : sum)));
}

// --- floats
// ---------------------------------------------------------------------------------------

// Sum, mean and (product) prod of T; partial results are stored as S: T, float or double.
template <class T, class S, bool product>
struct FloatHop {
  using Element = T;
  using Stored = S;
  using Carried = Wide<S>;

  bool premultiply = false;
  bool divide = false;
  Carried scale = 1;  // T(1 / group)
  Divisor<Carried> by_group;

  static FloatHop of(const Arithmetic& rules) {
    FloatHop op;
    op.premultiply = rules.premultiplies();
    op.divide = rules.divides();
    if (op.premultiply) {
      // As NCCL makes it: 1/n in f64 for f64, in f32 for all others, then rounded to the dtype.
      const double inverse = 1.0 / static_cast<double>(rules.group);
      if constexpr (std::is_same_v<T, double>)
        op.scale = inverse;
      else
        op.scale = static_cast<Carried>(widen(narrow<T>(static_cast<float>(inverse))));
    }
    op.by_group = Divisor<Carried>::of(op.divide ? static_cast<double>(rules.group) : 1.0);
    return op;
  }

  VR_HOST_DEVICE static Carried rounded(Carried c) {
    if constexpr (sizeof(S) == 2)
      return widen(narrow<S>(c));
    else
      return c;
  }
  VR_HOST_DEVICE Carried lift(T x) const {
    const Carried wide = static_cast<Carried>(widen(x));
    return premultiply ? rounded_product(wide, scale) : wide;
  }
  VR_HOST_DEVICE Carried load(S s) const { return widen(s); }
  VR_HOST_DEVICE S store(Carried c) const { return narrow<S>(c); }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const {
    if constexpr (product)
      return rounded_product(a, b);
    else
      return rounded(add(a, b));
  }
  VR_HOST_DEVICE Carried combine_own(T x, Carried other, bool left, bool fuse) const {
    if constexpr (!product)
      if (fuse && premultiply) {
        const Carried wide = static_cast<Carried>(widen(x));
        if constexpr (sizeof(S) == 2) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
          return widen(fused_once(narrow<S>(wide), narrow<S>(scale), narrow<S>(other)));
#else
          return fused_16<S>(wide, scale, other);
#endif
        } else {
          return fused(wide, scale, other);
        }
      }
    return left ? combine(lift(x), other) : combine(other, lift(x));
  }
  VR_HOST_DEVICE T lower(Carried c) const {
    if (!divide) return narrow_once<T>(c);
    if constexpr (sizeof(S) == 2) {
      if (by_group.inverse != 0) return narrow_once<T>(multiply(c, by_group.inverse));
      if (!is_finite(c)) return narrow<T>(c);
      return narrow<T>(float_to_odd(by_group.round_to_odd(static_cast<double>(c))));
    } else {
      return narrow_once<T>(by_group.quotient(c));
    }
  }

 private:
  // The product of two 16-bit floats is exact in f32, but for bf16 below 2^-134, where it becomes 0
  // however it is rounded.
  VR_HOST_DEVICE static Carried rounded_product(Carried a, Carried b) {
    return rounded(multiply(a, b));
  }
};

// --- f64 with the NaN bits of NCCL
// ----------------------------------------------------------------

// Every op on f64 where a NaN operand's own bits survive. See NanBits.
struct NanKeepingHop {
  using Element = double;
  using Stored = double;
  using Carried = double;

  ReduceOp op = ReduceOp::sum;
  bool received_wins = false;
  bool premultiply = false;
  bool divide = false;
  double scale = 1;
  Divisor<double> by_group;

  static NanKeepingHop of(const Arithmetic& rules) {
    NanKeepingHop hop;
    hop.op = rules.op;
    hop.received_wins = rules.nan_bits == NanBits::received;
    hop.premultiply = rules.premultiplies();
    hop.divide = rules.divides();
    if (hop.premultiply) hop.scale = 1.0 / static_cast<double>(rules.group);
    hop.by_group = Divisor<double>::of(hop.divide ? static_cast<double>(rules.group) : 1.0);
    return hop;
  }

  static VR_HOST_DEVICE bool is_nan(double x) { return x != x; }
  static VR_HOST_DEVICE double quieted(double x) {
    return bits_as<double>(bits_as<std::uint64_t>(x) | (std::uint64_t{1} << 51));
  }
  // `x`, if arithmetic on numbers made it a NaN: the one pattern.
  static VR_HOST_DEVICE double fresh(double x) { return narrow<double>(x); }

  VR_HOST_DEVICE double lift(double x) const {
    if (!premultiply) return x;
    return is_nan(x) ? quieted(x) : fresh(multiply(x, scale));
  }
  VR_HOST_DEVICE double load(double s) const { return s; }
  VR_HOST_DEVICE double store(double c) const { return c; }
  // Without an own operand the left one counts as the combining rank's.
  VR_HOST_DEVICE double combine(double a, double b) const { return meet(a, b); }
  VR_HOST_DEVICE double combine_own(double x, double other, bool, bool fuse) const {
    if (fuse && premultiply && !is_nan(x) && !is_nan(other)) return fresh(fused(x, scale, other));
    return meet(lift(x), other);
  }
  VR_HOST_DEVICE double lower(double c) const {
    return divide && !is_nan(c) ? fresh(by_group.quotient(c)) : c;
  }

 private:
  VR_HOST_DEVICE double meet(double own, double received) const {
    const bool ordered = op == ReduceOp::min || op == ReduceOp::max;
    if (is_nan(own) || is_nan(received)) {
      if (is_nan(own) && is_nan(received)) return quieted(received_wins ? received : own);
      if (ordered) return is_nan(own) ? received : own;
      return quieted(is_nan(own) ? own : received);
    }
    if (op == ReduceOp::prod) return fresh(multiply(own, received));
    if (!ordered) return fresh(add(own, received));
    // -0 < +0, on either side.
    const bool own_is_less = own < received || (own == received && bits_as<std::int64_t>(own) < 0);
    return own_is_less == (op == ReduceOp::min) ? own : received;
  }
};

// --- min and max; integers
// ------------------------------------------------------------------------

// Min and max of a float type; NaN by policy.
template <class T>
struct MinMaxHop {
  using Element = T;
  using Stored = T;
  using Carried = typename MinMax<T>::Key;

  MinMax<T> op;

  static MinMaxHop of(const Arithmetic& rules) {
    TreeFold fold;
    fold.op = rules.op;
    fold.nan = rules.nan;
    return {MinMax<T>::of(fold)};
  }
  VR_HOST_DEVICE Carried lift(T x) const { return op.lift(x); }
  VR_HOST_DEVICE Carried load(T s) const { return op.lift(s); }
  VR_HOST_DEVICE T store(Carried c) const { return op.lower(c); }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const { return op.combine(a, b); }
  VR_HOST_DEVICE Carried combine_own(T x, Carried other, bool, bool) const {
    return op.combine(op.lift(x), other);
  }
  VR_HOST_DEVICE T lower(Carried c) const { return op.lower(c); }
};

// Every op on integers; S: what partial results are stored as, T (they wrap) or a type that is wide
// enough for the exact sum of a mean.
template <class T, class S>
struct IntegerHop {
  using Element = T;
  using Stored = S;
  using Carried = S;

  ReduceOp op = ReduceOp::sum;
  S group = 1;

  static IntegerHop of(const Arithmetic& rules) {
    // A group that S can't hold is larger than any sum in S, so every quotient is 0; but for the
    // lowest number, which is as large as the first such group: that group is kept as its negative.
    constexpr bool narrow = sizeof(S) < sizeof(std::int64_t);
    const bool fits = !narrow || rules.group <= static_cast<std::int64_t>(largest());
    const bool meets_lowest =
        narrow && std::is_signed_v<S> && rules.group - 1 == static_cast<std::int64_t>(largest());
    return {rules.op, fits || meets_lowest ? static_cast<S>(rules.group) : S{0}};
  }
  VR_HOST_DEVICE Carried lift(T x) const { return static_cast<S>(x); }
  VR_HOST_DEVICE Carried load(S s) const { return s; }
  VR_HOST_DEVICE S store(Carried c) const { return c; }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const {
    // Unsigned arithmetic wraps; what is above the width falls away.
    using Wrapping =
        std::conditional_t<(sizeof(S) > 8), UInt128,
                           std::conditional_t<(sizeof(S) > 4), std::uint64_t, std::uint32_t>>;
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::mean:
        return static_cast<S>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
      case ReduceOp::prod:
        return static_cast<S>(static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
      case ReduceOp::min:
        return b < a ? b : a;
      case ReduceOp::max:
        return a < b ? b : a;
    }
    return a;
  }
  VR_HOST_DEVICE Carried combine_own(T x, Carried other, bool left, bool) const {
    return left ? combine(lift(x), other) : combine(other, lift(x));
  }
  VR_HOST_DEVICE T lower(Carried c) const {
    if (op != ReduceOp::mean) return static_cast<T>(c);
    if constexpr (std::is_signed_v<S> && sizeof(S) < sizeof(std::int64_t))
      if (group < 0) return static_cast<T>(c == group ? -1 : 0);
    // The lowest signed value can't be divided by -1, but a group is positive.
    return static_cast<T>(group == 0 ? S{0} : static_cast<S>(c / group));
  }

 private:
  static constexpr S largest() {
    if constexpr (sizeof(S) > 8)
      return S{0};  // unused
    else
      return std::numeric_limits<S>::max();
  }
};

// --- which op
// ---------------------------------------------------------------------------------------

template <class T>
using ExactSum = typename IntegerMean<T>::Carried;

// Calls f.template operator()<Op>() with the op of these rules, whose dtype's storage type is T.
template <class T, class F>
decltype(auto) visit_hop(const Arithmetic& rules, F&& f) {
  if constexpr (!is_float<T>) {
    if (rules.op == ReduceOp::mean && rules.accumulate == Accumulate::exact)
      return f.template operator()<IntegerHop<T, ExactSum<T>>>();
    return f.template operator()<IntegerHop<T, T>>();
  } else {
    if constexpr (std::is_same_v<T, double>)
      if (rules.nan_bits != NanBits::one_pattern) return f.template operator()<NanKeepingHop>();
    if (rules.op == ReduceOp::min || rules.op == ReduceOp::max)
      return f.template operator()<MinMaxHop<T>>();
    const auto with = [&]<class S>() -> decltype(auto) {
      return rules.op == ReduceOp::prod ? f.template operator()<FloatHop<T, S, true>>()
                                        : f.template operator()<FloatHop<T, S, false>>();
    };
    if constexpr (sizeof(T) == 2)
      if (rules.accumulate == Accumulate::f32) return with.template operator()<float>();
    if constexpr (sizeof(T) < 8)
      if (rules.accumulate == Accumulate::f64) return with.template operator()<double>();
    return with.template operator()<T>();
  }
}

}  // namespace vranks::arithmetic
