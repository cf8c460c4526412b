// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Data on which a comparison of bits means something: another order of combining, or another place
// of rounding, shows in the last bits of most elements.
#pragma once

#include <cstdint>

#include "ranks/reduce_op.hpp"
#include "ranks/tensor_view.hpp"

namespace vranks {

// Fills a contiguous tensor (R, n) in CPU memory; an element is a hash of (seed, rank, place).
//   floats    of either sign, all bits of the mantissa random, between 2^-8 and 2^8; 8-bit ones
//             between 2^-4 and 2^4; for prod between 1/2 and 2, so that no product of many ranks
//             leaves its range
//   integers  all bits random, so that sums wrap
// Throws not_supported for other dtypes.
void fill_order_data(const TensorView& tensor, std::uint64_t seed, ReduceOp op);

// The same, but one element of 16 is a special value of either sign: zero, the least and the
// largest subnormal, the least normal and the largest number, infinity, NaN. Floats only.
void fill_special_data(const TensorView& tensor, std::uint64_t seed, ReduceOp op);

}  // namespace vranks
