// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a result is from the exact one, and how far it may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "collectives/problem.hpp"
#include "kernels/arithmetic_rules.hpp"
#include "ranks/tensor_view.hpp"

namespace vranks {

// y is an element of the result; exact is the same without any rounding; reference is exact
// rounded once to y's dtype. Real and imaginary part of a complex element count as two.
struct Deviation {
  std::int64_t compared = 0;    // elements
  std::int64_t different = 0;   // y is not the reference, be it in the sign of a zero
  std::int64_t over_bound = 0;  // outside the bound; must be 0
  // Not the reference, and nothing is wrong with that: partial results may leave the range of what
  // they are carried in, and then an order gives infinities, NaN or saturated sums of its own. The
  // numbers below are about all others.
  std::int64_t unjudged = 0;
  double max_abs = 0;         // max |y - exact|
  double max_ulp = 0;         // the same in units in the last place of y's dtype at exact
  double max_bound_used = 0;  // max |y - exact| / bound
  std::int64_t worst = -1;    // element that uses most of its bound; -1: none is off
  double worst_y = 0;         // there: what came out,
  double worst_exact = 0;     // what is right,
  double worst_bound = 0;     // and how far they may be apart
};

// Rounding steps an order may take on the way to one element, and the type it rounds to. With u
// half a unit in the last place of 1 in that type, an element of a floating dtype may be off by
//   sum            steps * u * sum|x|
//   mean           steps * u * mean|x| + half the spacing of that type's subnormals
//   prod           ((1 + u)^steps - 1) * |prod| + what partial products that underflow lose
//   premul_sum     steps * u * sum|f x| and a rounding of each product among the subnormals
//   weighted_mean  steps * u * sum|w x| / |sum w|, the same, and what the sum of the weights in f64
//                  is off by
//   log_sum_exp    u * (|y| + (steps + 1) * (8 + log R)): exp and log are taken to be off by 2 ULP
// plus half a unit in the last place of y where y's dtype is narrower. Parts of complex elements
// are such elements each; of a prod both are off by ((1 + sqrt(5) u)^steps - 1) * |prod| and what
// underflow loses. Integers, truth values, min and max (with ranks or without) must be exact. The
// factor f is rounded to the dtype, the weights w to `weights_in`.
// A NaN or an infinity must come where the exact result is one, and nowhere else, but where a
// partial sum or product can leave that type (a mean never may), where an infinity saturates on the
// way, and where a factor of a complex product isn't finite. What saturates at L on the way takes
// no more from a sum than its terms of one sign exceed L by, and from a product no more than its
// factors above 1 exceed L by.
struct ErrorBound {
  std::int64_t steps = 0;
  DType rounded_in = DType::f32;
  // Of orders other than `direct`: steps * u becomes (1 + u)^steps - 1, which differs where steps
  // are many and the type is narrow, and
  bool compounds = false;
  bool mean_may_overflow = false;   // a mean's partial results may leave the type
  bool premultiplies = false;       // a mean's inputs are scaled before they are combined
  bool wraps = false;               // an integer mean's sum wraps before it is divided
  std::int64_t tiny_roundings = 1;  // of products: roundings that may fall among the subnormals
  double scale_error = 0;           // of a premultiplied mean whose scale is subnormal
  DType weights_in = DType::f32;
  Fp8Mode fp8 = Fp8Mode::saturate;
  bool computes_alone = false;  // the op has an effect on a single rank's elements

  bool saturates(const Problem& problem) const {
    return is_float8(problem.dtype) && fp8 == Fp8Mode::saturate;
  }
  // An infinity counts as the largest number from its first op on.
  bool saturates_inputs(const Problem& problem) const {
    return saturates(problem) && (problem.ranks > 1 || computes_alone);
  }
};

// What the `direct` order promises for that problem.
ErrorBound direct_bound(const Problem& problem, Fp8Mode fp8 = Fp8Mode::saturate);

// What holds for any order whose arithmetic follows these rules.
ErrorBound fold_bound(const Problem& problem, const Arithmetic& rules);

// Compares `result` (problem.elements of the problem's dtype, CPU memory) with the exact reduction
// of `in` (CPU memory): integers, truth values, min and max exactly; floats in double-double
// arithmetic, whose own error is below R * 2^-104 of sum|x| (sum, mean) or of |prod|; log_sum_exp
// in long double. Gives the same on any number of threads.
Deviation deviation_from_exact(const Problem& problem, const Rows& in, const std::byte* result,
                               ErrorBound bound);

// The bound of a reduction over the first ranks, as many as it is called with.
using BoundOf = std::function<ErrorBound(std::int64_t ranks)>;
// The same for a scan, in one pass over the ranks: results[k] is compared with the reduction over
// rows 0 to k of `in`, which has as many rows as there are results.
Deviation scan_deviation_from_exact(const Problem& problem, const Rows& in,
                                    std::span<const std::byte* const> results,
                                    const BoundOf& bound_of);

// The distance between |a| and the next larger number of a floating dtype; behind the largest one
// it stays the same; of a complex dtype its parts'. 1 for integer dtypes and bool. Precondition:
// `a` is not NaN.
double ulp_at(double a, DType dtype);

// Element i of `data` as a double (64-bit integers are rounded; true is 1). Of a complex dtype i
// counts parts.
double element_as_double(const std::byte* data, std::int64_t i, DType dtype);

}  // namespace vranks
