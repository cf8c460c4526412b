// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One transfer on real data: what the step-by-step executor hands to a backend. Partial results
// lie in memory in the carried type: the dtype itself (accumulate storage), f32, f64, or a wide
// integer (exact).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/arithmetic_rules.hpp"

namespace vranks {

struct Hop {
  enum class Kind : std::uint8_t {
    copy,     // dst = a, carried; a leaf is lifted
    combine,  // dst = op(a, b), carried
    lower,    // dst = the element that carried a stands for; a leaf's bits are kept
  };
  Kind kind = Kind::copy;
  bool a_is_leaf = false, b_is_leaf = false;  // an input's elements; otherwise carried values
  std::uint8_t own = 0;                       // 1: a, 2: b is the combining rank's own input
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::int32_t a_row = 0, b_row = 0;  // of leaves: the rank whose input it is
  std::byte* dst = nullptr;           // overlaps no operand of any hop of the same call
  std::byte* ranks = nullptr;  // of lower with min_loc and max_loc: i32, the rank of the result
  std::int64_t elements = 0;
  std::int64_t position = 0;  // of the first element, from its origin
};

// Bytes of a carried value of that arithmetic.
std::size_t carried_bytes(const Arithmetic& arithmetic);

}  // namespace vranks
