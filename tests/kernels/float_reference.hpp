// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of floats in a chosen order, written down a second time as plainly as possible:
// all ops but min_loc, max_loc and log_sum_exp.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/arithmetic_rules.hpp"
#include "rounded_once.hpp"

namespace vranks::reference {

// -0 < +0
inline bool is_less(double a, double b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

// Floats; partial results are values of S.
template <class T, class S>
struct FloatRules {
  using Value = double;
  using Stored = S;
  // What S is computed in: weights are of that type, and so are their products before S.
  using Carried = std::conditional_t<sizeof(S) == 8, double, float>;
  Arithmetic rules;
  bool is_rescue = false;  // inputs are scaled down by the power of two at or above the group

  bool keeps_nans() const {
    return std::is_same_v<T, double> && rules.nan_bits != NanBits::one_pattern;
  }
  bool is_mean() const { return rules.divides() || rules.op == ReduceOp::weighted_mean; }
  double scale() const {
    if (is_rescue) return std::ldexp(1.0, -levels());
    if (rules.op == ReduceOp::premul_sum) return fitted<T>(round_to_type<T>(rules.factor));
    const double inverse = 1.0 / static_cast<double>(rules.group);
    return std::is_same_v<T, double>
               ? inverse
               : round_to_type<T>(static_cast<double>(static_cast<float>(inverse)));
  }
  double divisor() const {
    if (rules.op == ReduceOp::weighted_mean) return rules.total_weight;
    const auto group = static_cast<double>(rules.group);
    return is_rescue ? std::ldexp(group, -levels()) : group;
  }

  Value lift(T x, std::int32_t row) const {
    const double value = value_of(x);
    if (rules.op == ReduceOp::weighted_mean)
      return fitted<S>(round_to_type<S>(
          product_once<Carried>(value, rules.weights[static_cast<std::size_t>(row)])));
    if (!rules.premultiplies() && !is_rescue) return value;
    if (keeps_nans()) return std::isnan(value) ? quiet(value) : one(value * scale());
    return fitted<S>(product_once<S>(value, scale()));
  }

  Value combine(Value a, Value b) const {
    if (keeps_nans()) return meet(a, b);
    if (rules.op == ReduceOp::prod) return fitted<S>(product_once<S>(a, b));
    if (!is_ordered(rules.op)) return fitted<S>(sum_once<S>(a, b));
    if (std::isnan(a) || std::isnan(b)) {
      if (rules.nan == NanPolicy::propagate) return std::numeric_limits<double>::quiet_NaN();
      return fitted_input(std::isnan(a) ? b : a);
    }
    return fitted_input(is_less(a, b) == (rules.op == ReduceOp::min) ? a : b);
  }

  // The combining rank's own x on the left or right of a partial result.
  Value combine_own(T x, std::int32_t row, Value other, bool left, bool fuse) const {
    const double value = value_of(x);
    const bool is_fused = fuse && rules.premultiplies() && sizeof(T) > 1;
    if (keeps_nans()) {
      if (is_fused && !std::isnan(value) && !std::isnan(other))
        return one(std::fma(value, scale(), other));
      return meet(lift(x, row), other);
    }
    if (is_fused) return fused_once<S>(value, scale(), other);
    return left ? combine(lift(x, row), other) : combine(other, lift(x, row));
  }

  T lower(Value c) const {
    if (keeps_nans()) {
      const double x = rules.divides() && !std::isnan(c) ? one(c / divisor()) : c;
      T element;
      std::memcpy(&element, &x, sizeof(T));  // T is double
      return element;
    }
    if (is_ordered(rules.op)) return element_of<T>(fitted_input(c));
    return element_of<T>(fitted<T>(round_to_type<T>(is_mean() ? quotient(c) : c)));
  }

  Stored store(Value c) const {
    if (!keeps_nans()) return element_of<S>(is_ordered(rules.op) ? fitted_input(c) : c);
    S stored;
    std::memcpy(&stored, &c, sizeof(S));
    return stored;
  }
  Value load(Stored s) const { return value_of(s); }

  // A mean that has to be formed again from scaled inputs.
  bool must_rescue(Value c) const { return rules.rescues && !std::isfinite(c); }
  FloatRules rescue() const { return {.rules = rules, .is_rescue = true}; }

 private:
  int levels() const { return static_cast<int>(std::ceil(std::log2(rules.group))); }

  // Rounded to what partial results are carried in, but for 8 and 16 bits: the caller rounds to the
  // element's type, once.
  double quotient(double c) const {
    const double by = divisor();
    if (c == 0 || !std::isfinite(c)) return by < 0 ? -c : c;
    if constexpr (sizeof(S) == 8) return c / by;
    const Exact exact = Exact::of(c).divided_by(by);
    if constexpr (sizeof(S) == 4) return rounded<float>(exact);
    return rounded<T>(exact);
  }

  // What an 8-bit float makes of numbers beyond its range.
  template <class E>
  double fitted(double x) const {
    if (sizeof(E) > 1 || !std::isinf(x)) return x;
    if (rules.fp8 == Fp8Mode::saturate) return std::copysign(Format<E>::largest, x);
    return has_infinity<E> ? x : std::numeric_limits<double>::quiet_NaN();
  }
  // An input that is a result.
  double fitted_input(double x) const { return fitted<T>(x); }

  static double quiet(double nan) {
    std::uint64_t bits;
    std::memcpy(&bits, &nan, 8);
    bits |= 0x0008000000000000;
    std::memcpy(&nan, &bits, 8);
    return nan;
  }
  static double one(double x) { return from_carried<double>(x); }
  // NCCL: min and max ignore a NaN; other ops return it as it is, but quiet.
  double meet(double own, double received) const {
    if (std::isnan(own) && std::isnan(received))
      return quiet(rules.nan_bits == NanBits::received ? received : own);
    if (std::isnan(own)) return is_ordered(rules.op) ? received : quiet(own);
    if (std::isnan(received)) return is_ordered(rules.op) ? own : quiet(received);
    if (rules.op == ReduceOp::prod) return one(own * received);
    if (!is_ordered(rules.op)) return one(own + received);
    return is_less(own, received) == (rules.op == ReduceOp::min) ? own : received;
  }
};

}  // namespace vranks::reference
