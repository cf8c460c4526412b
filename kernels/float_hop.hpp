// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Floats under an algorithm's order: sums, means, products, weighted means, and f64 with the NaNs
// of NCCL. See hop_arithmetic.hpp for what these ops have in common.
#pragma once

#include <limits>
#include <type_traits>

#include "kernels/arithmetic.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks::arithmetic {

// --- results of few bits with one rounding
// --------------------------------------------------------

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

// --- sums, means and products
// ---------------------------------------------------------------------

// Sum, mean, premul_sum and (product) prod of T; partial results are stored as S: T, float or
// double.
template <class T, class S, bool product>
struct FloatHop {
  using Element = T;
  using Stored = S;
  using Carried = Wide<S>;

  bool premultiply = false;
  bool divide = false;
  bool saturate = false;  // 8-bit floats
  Carried scale = 1;      // T(1 / group) or T(factor)
  Divisor<Carried> by_group;
  // Of a mean that is formed once more from scaled inputs; see Arithmetic::rescues.
  bool rescues = false;
  Carried rescue_scale = 1;
  Divisor<Carried> by_fraction;

  static FloatHop of(const Arithmetic& rules) {
    FloatHop op;
    op.premultiply = rules.premultiplies();
    op.divide = rules.divides();
    op.saturate = rules.fp8 == Fp8Mode::saturate;
    if (op.premultiply) {
      // As NCCL makes it: 1/n in f64 for f64, in f32 for all others, then rounded to the dtype. A
      // factor is rounded once.
      const bool is_factor = rules.op == ReduceOp::premul_sum;
      const double factor = is_factor ? rules.factor : 1.0 / static_cast<double>(rules.group);
      if constexpr (std::is_same_v<T, double>) {
        op.scale = factor;
      } else {
        const float near = is_factor && sizeof(T) < sizeof(float) ? float_to_odd(factor)
                                                                  : static_cast<float>(factor);
        op.scale = static_cast<Carried>(widen(op.template narrowed<T>(near)));
      }
    }
    op.by_group = Divisor<Carried>::of(op.divide ? static_cast<double>(rules.group) : 1.0);
    op.rescues = rules.rescues;
    if (rules.rescues) {
      const double down = 1.0 / static_cast<double>(1ull << tree_levels(rules.group));
      op.rescue_scale = static_cast<Carried>(down);
      op.by_fraction = Divisor<Carried>::of(static_cast<double>(rules.group) * down);
    }
    return op;
  }

  VR_HOST_DEVICE FloatHop rescued() const {
    FloatHop op = *this;
    op.premultiply = true;
    op.scale = rescue_scale;
    op.by_group = by_fraction;
    return op;
  }
  VR_HOST_DEVICE bool must_rescue(Carried c) const { return rescues && !is_finite(c); }

  // x as an E, rounded once; 8-bit floats by their mode.
  template <class E>
  VR_HOST_DEVICE E narrowed(Wide<E> x) const {
    return narrow<E>(x, saturate);
  }
  VR_HOST_DEVICE Carried rounded(Carried c) const {
    if constexpr (sizeof(S) <= 2)
      return widen(narrowed<S>(c));
    else
      return c;
  }
  VR_HOST_DEVICE Carried lift(T x, std::int32_t = 0) const {
    const Carried wide = static_cast<Carried>(widen(x));
    return premultiply ? rounded_product(wide, scale) : wide;
  }
  VR_HOST_DEVICE Carried load(S s) const { return widen(s); }
  // Exact: a combine has rounded, and an infinite input that no operation has met yet stays so.
  VR_HOST_DEVICE S store(Carried c) const {
    if constexpr (sizeof(S) == 1)
      return narrow_8<S>(c, false);
    else
      return narrow<S>(c);
  }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const {
    if constexpr (product)
      return rounded_product(a, b);
    else
      return rounded(add(a, b));
  }
  VR_HOST_DEVICE Carried combine_own(T x, std::int32_t, Carried other, bool left, bool fuse) const {
    if constexpr (!product && sizeof(T) > 1)  // 8-bit floats are never fused
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
    if (!divide) return lowered(c);
    if constexpr (sizeof(S) <= 2) {
      if (by_group.inverse != 0) return lowered(multiply(c, by_group.inverse));
      return narrowed<T>(float_to_odd(by_group.round_to_odd(static_cast<double>(c))));
    } else {
      return lowered(by_group.quotient(c));
    }
  }

 protected:
  VR_HOST_DEVICE T lowered(Carried c) const {
    if constexpr (sizeof(T) > 1)
      return narrow_once<T>(c);
    else if constexpr (sizeof(Carried) > 4)
      return narrowed<T>(float_to_odd(c));
    else
      return narrowed<T>(c);
  }
  // The product of two 16-bit floats is exact in f32, but for bf16 below 2^-134, where it becomes 0
  // however it is rounded. (That with a weight is rounded as f32, then as S.)
  VR_HOST_DEVICE Carried rounded_product(Carried a, Carried b) const {
    return rounded(multiply(a, b));
  }
};

// Weighted mean of T: every row's input times the row's weight, added, divided by the sum of
// weights.
template <class T, class S>
struct WeightedHop : FloatHop<T, S, false> {
  using Sum = FloatHop<T, S, false>;
  using typename Sum::Carried;

  const double* weights = nullptr;  // one a row, in memory that the kernel can read

  static WeightedHop of(const Arithmetic& rules) {
    WeightedHop op;
    op.saturate = rules.fp8 == Fp8Mode::saturate;
    op.divide = true;
    op.by_group = Divisor<Carried>::of(rules.total_weight);
    op.weights = rules.weights.data();
    return op;
  }
  VR_HOST_DEVICE Carried lift(T x, std::int32_t row) const {
    return this->rounded_product(static_cast<Carried>(widen(x)),
                                 static_cast<Carried>(weights[row]));
  }
  VR_HOST_DEVICE Carried combine_own(T x, std::int32_t row, Carried other, bool left, bool) const {
    return left ? this->combine(lift(x, row), other) : this->combine(other, lift(x, row));
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
    if (hop.premultiply)
      hop.scale =
          rules.op == ReduceOp::premul_sum ? rules.factor : 1.0 / static_cast<double>(rules.group);
    hop.by_group = Divisor<double>::of(hop.divide ? static_cast<double>(rules.group) : 1.0);
    return hop;
  }

  static VR_HOST_DEVICE bool is_nan(double x) { return x != x; }
  static VR_HOST_DEVICE double quieted(double x) {
    return bits_as<double>(bits_as<std::uint64_t>(x) | (std::uint64_t{1} << 51));
  }
  // `x`, if arithmetic on numbers made it a NaN: the one pattern.
  static VR_HOST_DEVICE double fresh(double x) { return narrow<double>(x); }

  VR_HOST_DEVICE double lift(double x, std::int32_t = 0) const {
    if (!premultiply) return x;
    return is_nan(x) ? quieted(x) : fresh(multiply(x, scale));
  }
  VR_HOST_DEVICE double load(double s) const { return s; }
  VR_HOST_DEVICE double store(double c) const { return c; }
  // Without an own operand the left one counts as the combining rank's.
  VR_HOST_DEVICE double combine(double a, double b) const { return meet(a, b); }
  VR_HOST_DEVICE double combine_own(double x, std::int32_t, double other, bool, bool fuse) const {
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

}  // namespace vranks::arithmetic
