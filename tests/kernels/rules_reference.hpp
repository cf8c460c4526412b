// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The plain arithmetic of any rules whose bits are promised: all ops but log_sum_exp, in a chosen
// order; and products of complex numbers.
#pragma once

#include <type_traits>

#include "float_reference.hpp"
#include "integer_reference.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks::reference {

// (a + bi)(c + di) = (ac - bd) + (ad + bc)i, each operation rounded.
template <class T>
struct ComplexRules {
  using Value = Complex<T>;
  using Stored = Complex<T>;
  Arithmetic rules;

  Value lift(Value x, std::int32_t) const { return x; }
  Value combine(Value x, Value y) const {
    const auto times = [](T a, T b) { return product_once<T>(value_of(a), value_of(b)); };
    return {element_of<T>(sum_once<T>(times(x.re, y.re), -times(x.im, y.im))),
            element_of<T>(sum_once<T>(times(x.re, y.im), times(x.im, y.re)))};
  }
  Value combine_own(Value x, std::int32_t, Value other, bool left, bool) const {
    return left ? combine(x, other) : combine(other, x);
  }
  Value lower(Value c) const {
    return {element_of<T>(value_of(c.re)), element_of<T>(value_of(c.im))};
  }
  Stored store(Value c) const { return lower(c); }
  Value load(Stored s) const { return s; }
};

// Calls f with the reference of these rules, whose dtype's storage type is T.
template <class T, class F>
void with_rules(const Arithmetic& rules, const F& f) {
  if constexpr (std::is_same_v<T, Complex<float>>) {
    f(ComplexRules<float>{rules});
  } else if constexpr (std::is_same_v<T, Complex<double>>) {
    f(ComplexRules<double>{rules});
  } else if constexpr (std::is_same_v<T, Bool>) {
    f(RankRules<Bool>{rules});
  } else if (finds_rank(rules.op)) {
    f(RankRules<T>{rules});
  } else if constexpr (is_float<T>) {
    const bool ordered = is_ordered(rules.op);
    if (!ordered && rules.accumulate == Accumulate::f32 && sizeof(T) <= 2)
      return f(FloatRules<T, float>{rules});
    if (!ordered && rules.accumulate == Accumulate::f64) return f(FloatRules<T, double>{rules});
    f(FloatRules<T, T>{rules});
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, Int128, UInt128>;
    using Sum =
        std::conditional_t<sizeof(T) == 8, Wide,
                           std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
    if (rules.op == ReduceOp::mean && rules.accumulate == Accumulate::exact)
      return f(IntegerRules<T, Sum>{rules});
    f(IntegerRules<T, T>{rules});
  }
}

}  // namespace vranks::reference
