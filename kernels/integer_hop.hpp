// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every op on integers, and min and max of floats, under an algorithm's order. See
// hop_arithmetic.hpp for what these ops have in common.
#pragma once

#include <limits>
#include <type_traits>

#include "kernels/arithmetic.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks::arithmetic {

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
    fold.fp8 = rules.fp8;
    return {MinMax<T>::of(fold)};
  }
  VR_HOST_DEVICE Carried lift(T x, std::int32_t = 0) const { return op.lift(x); }
  VR_HOST_DEVICE Carried load(T s) const { return op.lift(s); }
  VR_HOST_DEVICE T store(Carried c) const { return lower(c); }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const { return op.combine(a, b); }
  VR_HOST_DEVICE Carried combine_own(T x, std::int32_t, Carried other, bool, bool) const {
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
  // Unsigned arithmetic wraps; what is above the width falls away.
  using Wrapping =
      std::conditional_t<(sizeof(S) > 8), UInt128,
                         std::conditional_t<(sizeof(S) > 4), std::uint64_t, std::uint32_t>>;

  ReduceOp op = ReduceOp::sum;
  S group = 1;
  S factor = 1;             // of premul_sum; wraps
  bool is_logical = false;  // elements count as 0 or 1

  static IntegerHop of(const Arithmetic& rules) {
    // A group that S can't hold is larger than any sum in S, so every quotient is 0; but for the
    // lowest number, which is as large as the first such group: that group is kept as its negative.
    constexpr bool narrow = sizeof(S) < sizeof(std::int64_t);
    const bool fits = !narrow || rules.group <= static_cast<std::int64_t>(largest());
    const bool meets_lowest =
        narrow && std::is_signed_v<S> && rules.group - 1 == static_cast<std::int64_t>(largest());
    IntegerHop hop{rules.op, fits || meets_lowest ? static_cast<S>(rules.group) : S{0}};
    if (rules.op == ReduceOp::premul_sum) hop.factor = static_cast<S>(static_cast<T>(rules.factor));
    // What is 0 or 1 is combined bit by bit.
    hop.is_logical =
        rules.op == ReduceOp::land || rules.op == ReduceOp::lor || rules.op == ReduceOp::lxor;
    if (rules.op == ReduceOp::land) hop.op = ReduceOp::band;
    if (rules.op == ReduceOp::lor) hop.op = ReduceOp::bor;
    if (rules.op == ReduceOp::lxor) hop.op = ReduceOp::bxor;
    return hop;
  }
  VR_HOST_DEVICE Carried lift(T x, std::int32_t = 0) const {
    if (is_logical) return static_cast<S>(x != T{0});
    if (op == ReduceOp::premul_sum)
      return static_cast<S>(static_cast<Wrapping>(x) * static_cast<Wrapping>(factor));
    return static_cast<S>(x);
  }
  VR_HOST_DEVICE Carried load(S s) const { return s; }
  VR_HOST_DEVICE S store(Carried c) const { return c; }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const {
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::mean:
      case ReduceOp::premul_sum:
        return static_cast<S>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
      case ReduceOp::prod:
        return static_cast<S>(static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
      case ReduceOp::min:
        return b < a ? b : a;
      case ReduceOp::max:
        return a < b ? b : a;
      case ReduceOp::band:
        return static_cast<S>(a & b);
      case ReduceOp::bor:
        return static_cast<S>(a | b);
      case ReduceOp::bxor:
        return static_cast<S>(a ^ b);
      default:
        break;  // of no other op
    }
    return a;
  }
  VR_HOST_DEVICE Carried combine_own(T x, std::int32_t, Carried other, bool left, bool) const {
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

}  // namespace vranks::arithmetic
