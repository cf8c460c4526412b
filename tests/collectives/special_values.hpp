// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Input that is about NaN, infinities, zeros of both signs, subnormal numbers and, of 8-bit floats,
// what saturates.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "ranks/tensor.hpp"
#include "tests/collectives/reference_ops.hpp"

namespace vranks {

// A well mixed hash of k; `salt` tells choices apart that have nothing to do with each other.
inline std::uint64_t mixed(std::uint64_t k, std::uint64_t salt) {
  std::uint64_t z = (k + 1) * 0x9e3779b97f4a7c15u + salt * 0xd1342543de82ef95u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Each column has one kind of special values, on a quarter of the ranks, so that a result is
// about one of them. Columns 0, 6, ... have none but zeros and subnormal numbers.
inline plain::Real special_number(DType dtype, ReduceOp op, std::int64_t rank, std::int64_t i) {
  const plain::Format format = plain::format_of(dtype);
  const bool is_float8 = format.bits == 8;
  const std::uint64_t column = static_cast<std::uint64_t>(i);
  const std::uint64_t h = mixed(column * 4096 + static_cast<std::uint64_t>(rank), 11);
  // Parts of complex products would meet zeros, or infinities of either sign.
  const bool is_special = h % 4 == 0 && !(is_complex(dtype) && op == ReduceOp::prod);
  const bool is_negative = (h >> 8) % 2 != 0;
  const plain::Real infinity = std::numeric_limits<plain::Real>::infinity();
  switch (is_special ? column % 6 : 0) {
    case 1:
      return infinity;
    case 2:
      return -infinity;
    case 3:
      return std::numeric_limits<plain::Real>::quiet_NaN();
    case 4:
      return is_negative ? -infinity : infinity;
    case 5:
      if (is_float8)
        return std::copysign(plain::value_of(format, format.largest), is_negative ? -1.0L : 1.0L);
      break;
    default:
      break;
  }
  // Products must neither overflow nor underflow, nor be 0 times infinity.
  const plain::Real sign = is_negative ? -1 : 1;
  if (op == ReduceOp::prod) return column % 6 == 0 && h % 32 == 0 ? 0 * sign : sign;
  constexpr plain::Real magnitudes[] = {0, 0, 1, 2, 0.5L};
  const std::uint64_t which = (h >> 16) % 6;
  return sign * (which == 5 ? format.least() : magnitudes[which]);
}

inline void fill_special(const Tensor& numbers, ReduceOp op, bool combines) {
  const DType dtype = numbers.dtype();
  const auto width = static_cast<std::int64_t>(size_bytes(dtype));
  const std::int64_t parts = is_complex(dtype) ? 2 : 1;
  const std::int64_t ranks = numbers.shape()[0], columns = numbers.shape()[1];
  for (std::int64_t r = 0; r < ranks; ++r)
    for (std::int64_t i = 0; i < columns; ++i) {
      std::byte* const element = numbers.data() + (r * columns + i) * width;
      if (!combines || !(is_floating(dtype) || is_complex(dtype))) {
        for (std::int64_t b = 0; b < width; ++b)
          element[b] = static_cast<std::byte>(
              mixed(static_cast<std::uint64_t>((r * columns + i) * width + b), 12));
        continue;
      }
      for (std::int64_t p = 0; p < parts; ++p)
        plain::put_real(dtype, special_number(dtype, op, r, parts * i + p), element,
                        static_cast<std::size_t>(p));
    }
}

}  // namespace vranks
