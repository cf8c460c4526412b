// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs for the judge of results, results of the `direct` order for them, and what the judge says.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "collectives/collectives.hpp"
#include "collectives/exact.hpp"
#include "collectives/float_grid.hpp"
#include "ranks/tensor.hpp"
#include "tests/collectives/rational.hpp"

namespace vranks {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// How the elements of a made input look.
enum class Values { uniform, any_bits, subnormal, cancelling };

inline double element(const Tensor& tensor, std::int64_t i) {
  return element_as_double(tensor.data(), i, tensor.dtype());
}

// Exact where `x` is a number of the tensor's dtype. Precondition: that one isn't complex.
inline void set_element(const Tensor& tensor, std::int64_t i, double x) {
  visit(tensor.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, Half>)
      tensor.as<T>()[i] = to_half(static_cast<float>(x));
    else if constexpr (std::is_same_v<T, BFloat16>)
      tensor.as<T>()[i] = to_bfloat16(static_cast<float>(x));
    else if constexpr (std::is_same_v<T, Float8E4M3>)
      tensor.as<T>()[i] = to_float8_e4m3(static_cast<float>(x), true);
    else if constexpr (std::is_same_v<T, Float8E5M2>)
      tensor.as<T>()[i] = to_float8_e5m2(static_cast<float>(x), true);
    else if constexpr (std::is_arithmetic_v<T>)
      tensor.as<T>()[i] = static_cast<T>(x);
  });
}

inline Tensor make_input(DType dtype, std::int64_t ranks, std::int64_t n, Values values,
                         std::uint64_t seed) {
  Tensor tensor(dtype, {ranks, n});
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < tensor.bytes(); ++i) tensor.data()[i] = std::byte(random());
  if (values == Values::any_bits) return tensor;
  const FloatGrid& grid = grid_of(dtype);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    double x = std::ldexp(static_cast<double>(random() >> 11), -52) - 1;
    if (values == Values::subnormal) x *= 8 * grid.smallest_normal();
    if (values == Values::cancelling && i >= n && random() % 4 != 0) x = -element(tensor, i - n);
    set_element(tensor, i, round_to(cpp_rational(x), dtype));
  }
  return tensor;
}

// The factor and the weights that tests give the ops that take them.
inline double factor_of(ReduceOp op) { return op == ReduceOp::premul_sum ? 3 : 1; }
inline std::vector<double> weights_of(ReduceOp op, std::int64_t ranks) {
  std::vector<double> weights;
  for (std::int64_t r = 0; op == ReduceOp::weighted_mean && r < ranks; ++r)
    weights.push_back(static_cast<double>(1 + r % 5) / 3);
  return weights;
}

inline Tensor direct(const Tensor& in, ReduceOp op, NanPolicy policy = NanPolicy::propagate) {
  Tensor out(in.dtype(), {in.shape()[1]});
  CollectiveOptions options{
      .op = op, .factor = factor_of(op), .weights = weights_of(op, in.shape()[0])};
  if (is_ordered(op) && has_nan(in.dtype())) options.nan = policy;
  reduce_ranks(in.view(), out.view(), options);
  return out;
}

inline Problem problem_of(const Tensor& in, ReduceOp op, NanPolicy policy = NanPolicy::propagate) {
  return {.collective = Collective::reduce,
          .ranks = in.shape()[0],
          .elements = in.shape()[1],
          .dtype = in.dtype(),
          .op = op,
          .nan = policy,
          .factor = factor_of(op),
          .weights = weights_of(op, in.shape()[0])};
}

inline Deviation deviation_of(const Tensor& in, const Tensor& out, ReduceOp op,
                              NanPolicy policy = NanPolicy::propagate) {
  const Problem problem = problem_of(in, op, policy);
  return deviation_from_exact(problem, rows_of(in.view(), "input"), out.data(),
                              direct_bound(problem));
}

// One column of f32 or another dtype, and a result for it.
inline Deviation judge(DType dtype, ReduceOp op, const std::vector<double>& column, double y,
                       NanPolicy policy = NanPolicy::propagate) {
  Tensor in(dtype, {static_cast<std::int64_t>(column.size()), 1});
  Tensor out(dtype, {1});
  for (std::size_t r = 0; r < column.size(); ++r)
    set_element(in, static_cast<std::int64_t>(r), column[r]);
  set_element(out, 0, y);
  return deviation_of(in, out, op, policy);
}

inline bool is_accepted(DType dtype, ReduceOp op, const std::vector<double>& column, double y,
                        NanPolicy policy = NanPolicy::propagate) {
  return judge(dtype, op, column, y, policy).over_bound == 0;
}

}  // namespace vranks
