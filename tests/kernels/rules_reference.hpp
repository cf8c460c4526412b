// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of folds in a chosen order, written down a second time as plainly as possible.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/arithmetic_rules.hpp"
#include "rounded_once.hpp"

namespace vranks::reference {

// Floats; partial results are values of S.
template <class T, class S>
struct FloatRules {
  using Value = double;
  using Stored = S;
  Arithmetic rules;

  bool ordered() const { return rules.op == ReduceOp::min || rules.op == ReduceOp::max; }
  bool keeps_nans() const {
    return std::is_same_v<T, double> && rules.nan_bits != NanBits::one_pattern;
  }
  double scale() const {
    const double inverse = 1.0 / static_cast<double>(rules.group);
    return std::is_same_v<T, double>
               ? inverse
               : round_to_type<T>(static_cast<double>(static_cast<float>(inverse)));
  }

  Value lift(T x) const {
    const double value = value_of(x);
    if (!rules.premultiplies()) return value;
    if (keeps_nans()) return std::isnan(value) ? quiet(value) : one(value * scale());
    return product_once<S>(value, scale());
  }

  Value combine(Value a, Value b) const {
    if (keeps_nans()) return meet(a, b);
    switch (rules.op) {
      case ReduceOp::sum:
      case ReduceOp::mean:
        return sum_once<S>(a, b);
      case ReduceOp::prod:
        return product_once<S>(a, b);
      default:
        break;
    }
    if (std::isnan(a) || std::isnan(b)) {
      if (rules.nan == NanPolicy::propagate) return std::numeric_limits<double>::quiet_NaN();
      return std::isnan(a) ? b : a;
    }
    return lesser_first(a, b) == (rules.op == ReduceOp::min) ? a : b;
  }

  // The combining rank's own x on the left or right of a partial result.
  Value combine_own(T x, Value other, bool left, bool fuse) const {
    const double value = value_of(x);
    if (keeps_nans()) {
      if (fuse && rules.premultiplies() && !std::isnan(value) && !std::isnan(other))
        return one(std::fma(value, scale(), other));
      return meet(lift(x), other);
    }
    if (fuse && rules.premultiplies()) return fused_once<S>(value, scale(), other);
    return left ? combine(lift(x), other) : combine(other, lift(x));
  }

  T lower(Value c) const {
    if (keeps_nans()) {
      const double x =
          rules.divides() && !std::isnan(c) ? one(c / static_cast<double>(rules.group)) : c;
      T element;
      std::memcpy(&element, &x, sizeof(T));  // T is double
      return element;
    }
    if (!rules.divides() || c == 0 || !std::isfinite(c)) return element_of<T>(round_to_type<T>(c));
    if constexpr (sizeof(S) == 2)
      return element_of<T>(rounded<T>(Exact::of(c).divided_by(rules.group)));
    else
      return element_of<T>(round_to_type<T>(
          static_cast<double>(static_cast<S>(static_cast<S>(c) / static_cast<S>(rules.group)))));
  }

  Stored store(Value c) const {
    if (!keeps_nans()) return element_of<S>(c);
    S stored;
    std::memcpy(&stored, &c, sizeof(S));
    return stored;
  }
  Value load(Stored s) const { return value_of(s); }

 private:
  // -0 < +0
  static bool lesser_first(double a, double b) {
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  }
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
    if (std::isnan(own)) return ordered() ? received : quiet(own);
    if (std::isnan(received)) return ordered() ? own : quiet(received);
    if (rules.op == ReduceOp::prod) return one(own * received);
    if (!ordered()) return one(own + received);
    return lesser_first(own, received) == (rules.op == ReduceOp::min) ? own : received;
  }
};

// Integers, computed without bounds; partial results wrap to T unless they are exact.
template <class T>
struct IntegerRules {
  __extension__ using Value = __int128;
  Arithmetic rules;

  bool exact() const { return rules.op == ReduceOp::mean && rules.accumulate == Accumulate::exact; }

  Value lift(T x) const { return static_cast<Value>(x); }
  Value combine(Value a, Value b) const {
    __extension__ using Bits = unsigned __int128;
    switch (rules.op) {
      case ReduceOp::sum:
      case ReduceOp::mean:
        return wrap(a + b);
      case ReduceOp::prod:
        return wrap(static_cast<Value>(static_cast<Bits>(a) * static_cast<Bits>(b)));
      case ReduceOp::min:
        return a < b ? a : b;
      case ReduceOp::max:
        return a > b ? a : b;
    }
    return 0;
  }
  Value combine_own(T x, Value other, bool, bool) const { return combine(lift(x), other); }
  T lower(Value c) const {
    return static_cast<T>(rules.op == ReduceOp::mean ? c / static_cast<Value>(rules.group) : c);
  }

 private:
  Value wrap(Value c) const { return exact() ? c : static_cast<Value>(static_cast<T>(c)); }
};

// Integers with the type that a partial result is stored as.
template <class T, class S>
struct StoredIntegerRules : IntegerRules<T> {
  using Stored = S;
  using Value = typename IntegerRules<T>::Value;
  Stored store(Value c) const { return static_cast<S>(c); }
  Value load(Stored s) const { return static_cast<Value>(s); }
};

// Calls f with the reference of these rules, whose dtype's storage type is T.
template <class T, class F>
void with_rules(const Arithmetic& rules, const F& f) {
  if constexpr (is_float<T>) {
    const bool ordered = rules.op == ReduceOp::min || rules.op == ReduceOp::max;
    if (!ordered && rules.accumulate == Accumulate::f32 && sizeof(T) == 2)
      return f(FloatRules<T, float>{rules});
    if (!ordered && rules.accumulate == Accumulate::f64) return f(FloatRules<T, double>{rules});
    return f(FloatRules<T, T>{rules});
  } else {
    __extension__ using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    using Sum =
        std::conditional_t<sizeof(T) == 8, Wide,
                           std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
    if (rules.op == ReduceOp::mean && rules.accumulate == Accumulate::exact)
      return f(StoredIntegerRules<T, Sum>{{rules}});
    return f(StoredIntegerRules<T, T>{{rules}});
  }
}

}  // namespace vranks::reference
