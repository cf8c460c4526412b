// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar arithmetic of a fold whose order an algorithm chose, once, for CPU and CUDA. Beside
// lift, combine and lower (see arithmetic.hpp) these ops know how a partial result is stored
// between two combines (Stored), and how a rank's own input meets a partial result.
//
//   lift(x, row)         an input of that row, scaled or weighted where the op says so
//   load(s), store(c)    a stored partial result <-> what it is carried in
//   combine(a, b)        one operation, a on the left, rounded to Stored
//   combine_own(x, row, other, left, fused)
//                        the combining rank's own input x and a partial result; x is the left
//                        operand if `left`; one rounding for x * scale + other if `fused`
//   lower(c)             the result
//   lower_rank(c, first_row)
//                        of ops that find a rank: the rank, where first_row is rank 0
#pragma once

#include "kernels/complex_hop.hpp"
#include "kernels/float_hop.hpp"
#include "kernels/integer_hop.hpp"
#include "kernels/log_sum_exp_hop.hpp"
#include "kernels/rank_hop.hpp"

namespace vranks::arithmetic {

// Whether the op also tells the rank of its result.
template <class Op>
inline constexpr bool tells_rank = requires {
  Op::finds_rank;
};
// Whether what an input is lifted to depends on its row.
template <class Op>
inline constexpr bool reads_row = tells_rank<Op>;
template <class T, class S>
inline constexpr bool reads_row<WeightedHop<T, S>> = true;
// Whether a result can be formed once more from scaled inputs.
template <class Op>
inline constexpr bool can_rescue = requires(Op op) {
  op.rescued();
}
&&!reads_row<Op>;

template <class T>
using ExactSum = typename IntegerMean<T>::Carried;

// Calls f.template operator()<Op>() with the op of these rules, whose dtype's storage type is T.
// Complex numbers come here to be multiplied only, truth values for their ranks: otherwise both are
// computed with by their parts.
template <class T, class F>
decltype(auto) visit_hop(const Arithmetic& rules, F&& f) {
  if constexpr (std::is_same_v<T, Complex<float>>) {
    return f.template operator()<ComplexProductHop<float>>();
  } else if constexpr (std::is_same_v<T, Complex<double>>) {
    return f.template operator()<ComplexProductHop<double>>();
  } else if constexpr (std::is_same_v<T, Bool>) {
    if (finds_rank(rules.op)) return f.template operator()<RankHop<std::uint8_t>>();
    return f.template operator()<IntegerHop<std::uint8_t, std::uint8_t>>();
  } else {
    if (finds_rank(rules.op)) return f.template operator()<RankHop<Bits<T>>>();
    if constexpr (!is_float<T>) {
      if (rules.op == ReduceOp::mean && rules.accumulate == Accumulate::exact)
        return f.template operator()<IntegerHop<T, ExactSum<T>>>();
      return f.template operator()<IntegerHop<T, T>>();
    } else {
      if constexpr (std::is_same_v<T, double>)
        if (rules.nan_bits != NanBits::one_pattern) return f.template operator()<NanKeepingHop>();
      if (rules.op == ReduceOp::log_sum_exp) return f.template operator()<LogSumExpHop<T>>();
      if (rules.op == ReduceOp::min || rules.op == ReduceOp::max)
        return f.template operator()<MinMaxHop<T>>();
      const auto with = [&]<class S>() -> decltype(auto) {
        if (rules.op == ReduceOp::weighted_mean) return f.template operator()<WeightedHop<T, S>>();
        return rules.op == ReduceOp::prod ? f.template operator()<FloatHop<T, S, true>>()
                                          : f.template operator()<FloatHop<T, S, false>>();
      };
      if constexpr (sizeof(T) <= 2)
        if (rules.accumulate == Accumulate::f32) return with.template operator()<float>();
      if constexpr (sizeof(T) < 8)
        if (rules.accumulate == Accumulate::f64) return with.template operator()<double>();
      return with.template operator()<T>();
    }
  }
}

}  // namespace vranks::arithmetic
