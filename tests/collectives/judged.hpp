// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns of any dtype, set and read as f64, and what the judge of exact.hpp says of results for
// them. Elements of complex dtypes count as two: real and imaginary parts, one behind the other.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "collectives/exact.hpp"
#include "collectives/float_grid.hpp"
#include "ranks/tensor.hpp"

namespace vranks {

// The number of a floating dtype nearest to x.
template <class T>
T narrowed(double x, Fp8Mode mode = Fp8Mode::saturate) {
  const bool saturate = mode == Fp8Mode::saturate;
  // Through f32 a number would be rounded twice.
  if constexpr (requires { to_float(T{}); }) x = nearest({x, 0}, 0, grid_of(dtype_of<T>()));
  if constexpr (std::is_same_v<T, Half>)
    return to_half(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, Float8E4M3>)
    return to_float8_e4m3(static_cast<float>(x), saturate);
  else if constexpr (std::is_same_v<T, Float8E5M2>)
    return to_float8_e5m2(static_cast<float>(x), saturate);
  else if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(x);
  else
    return T{};
}

inline void set(const Tensor& tensor, std::int64_t i, double x, Fp8Mode mode = Fp8Mode::saturate) {
  visit(part_dtype(tensor.dtype()), [&]<class T>() {
    if constexpr (std::is_same_v<T, Bool>)
      tensor.as<T>()[i].byte = static_cast<std::uint8_t>(x);
    else
      tensor.as<T>()[i] = narrowed<T>(x, mode);
  });
}

inline double get(const Tensor& tensor, std::int64_t i) {
  return element_as_double(tensor.data(), i, tensor.dtype());
}

inline double rounded(double x, DType dtype, Fp8Mode mode) {
  const Tensor one(dtype, {1});
  set(one, 0, x, mode);
  return get(one, 0);
}

inline Problem problem_for(const Tensor& in, ReduceOp op) {
  return {.collective = Collective::reduce,
          .ranks = in.shape()[0],
          .elements = in.shape()[1],
          .dtype = in.dtype(),
          .op = op};
}

inline Deviation judged(const Problem& problem, const Tensor& in, const Tensor& out,
                        const ErrorBound& bound) {
  return deviation_from_exact(problem, rows_of(in.view(), "input"), out.data(), bound);
}

// How the elements of a made input look.
enum class Values { uniform, any_bits, subnormal, large };

inline Tensor make_input(DType dtype, std::int64_t ranks, std::int64_t n, Values values,
                         std::uint64_t seed) {
  Tensor tensor(dtype, {ranks, n});
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < tensor.bytes(); ++i) tensor.data()[i] = std::byte(random());
  if (values == Values::any_bits) return tensor;
  const FloatGrid& grid = grid_of(dtype);
  const std::int64_t parts = is_complex(dtype) ? 2 : 1;
  for (std::int64_t i = 0; i < parts * tensor.elements(); ++i) {
    double x = std::ldexp(static_cast<double>(random() >> 11), -52) - 1;
    if (values == Values::subnormal) x *= 8 * grid.smallest_normal();
    if (values == Values::large) x *= grid.largest / 4;
    set(tensor, i, x);
  }
  return tensor;
}

}  // namespace vranks
