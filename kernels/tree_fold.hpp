// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel is asked to do: combine element i of R rows along a balanced binary tree over the
// rows, split at the largest power of two below the length, left part first, and write the result
// to one or more rows. For 7 rows: ((x0+x1)+(x2+x3)) + ((x4+x5)+x6).
//
// Elements are carried in: f32 for 8-bit floats, f16, bf16 and f32; f64 for f64; the type itself
// modulo 2^bits for integer sum and prod; 64 bits (128 for i64 and u64) for an integer mean. Every
// combine rounds to the carried type. A mean is one correctly rounded division by R, then one
// narrowing. Where the carried sum of a floating mean is not finite, that element is computed again
// with all inputs scaled by 2^-ceil(log2 R), so that finite inputs never overflow.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/arithmetic_rules.hpp"
#include "ranks/dtype.hpp"
#include "ranks/reduce_op.hpp"

namespace vranks {

struct TreeFold {
  const std::byte* in = nullptr;
  std::int64_t in_stride_bytes = 0;
  std::byte* out = nullptr;
  std::int64_t out_stride_bytes = 0;
  std::int64_t out_rows = 1;  // every one of them gets the same bits
  std::int64_t ranks = 1;     // rows of `in`, at least 1
  std::int64_t elements = 0;  // per row
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  NanPolicy nan = NanPolicy::propagate;
  Fp8Mode fp8 = Fp8Mode::saturate;
};

// ceil(log2 n) for n >= 1: levels of the balanced tree over n rows.
constexpr int tree_levels(std::int64_t n) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
}

}  // namespace vranks
