// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements of any dtype from numbers and back, for tests that go over all dtypes.
#pragma once

#include <vector>

#include "tests/collectives/reference_numbers.hpp"

namespace vranks {

// The element nearest to x; truth values are x != 0, complex numbers have no imaginary part.
template <class T>
T element(double x) {
  constexpr DType dtype = dtype_of<T>();
  std::byte bytes[16] = {};
  if (dtype == DType::boolean)
    bytes[0] = std::byte{x != 0};
  else if (is_integer(dtype))
    plain::put_integer(dtype, static_cast<plain::Integer>(x), bytes);
  else
    plain::put_real(dtype, static_cast<plain::Real>(x), bytes);
  T result;
  std::memcpy(&result, bytes, sizeof result);
  return result;
}

template <class T>
std::vector<T> elements(const std::vector<double>& numbers) {
  std::vector<T> all;
  for (const double x : numbers) all.push_back(element<T>(x));
  return all;
}

// The real part, for complex numbers.
template <class T>
double number(const T& x) {
  constexpr DType dtype = dtype_of<T>();
  const auto* const bytes = reinterpret_cast<const std::byte*>(&x);
  if (dtype == DType::boolean) return bytes[0] != std::byte{0};
  if (is_integer(dtype)) return static_cast<double>(plain::integer_at(dtype, bytes));
  return static_cast<double>(plain::real_at(dtype, bytes));
}

template <class T>
std::vector<double> numbers(const std::vector<T>& elements) {
  std::vector<double> all;
  for (const T& x : elements) all.push_back(number(x));
  return all;
}

// Calls f.template operator()<T>() for every dtype that `wanted` accepts.
template <class Wanted, class F>
void for_each_dtype(const Wanted& wanted, const F& f) {
  for (const DTypeInfo& dtype : dtypes())
    if (wanted(dtype.dtype)) visit(dtype.dtype, f);
}

}  // namespace vranks
