// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Data for tests and for runs without input. An element's value is a hash of (seed, rank, index in
// the slice): the same whichever thread or process makes it, and however the ranks are cut over
// processes.
#pragma once

#include <cstdint>

#include "ranks/reduce_op.hpp"
#include "ranks/tensor_view.hpp"

namespace vranks {

// Slice i of `tensor` gets the data of rank first_rank + i.
//   f64, f32        uniform in [-1, 1): k * 2^-52 and k * 2^-23
//   f16, bf16, fp8  the f32 value rounded, so 1 can occur
//   signed ints     uniform in [-100, 100]: a sum over a few ranks stays readable
//   unsigned ints   uniform in [0, 200]
//   bool            0 or 1
//   c64, c128       both parts as f32, f64; the real one's is the same number
// The tensor is on the CPU and as rows_of() accepts it; bad_argument or not_supported otherwise.
void fill_random(const TensorView& tensor, std::uint64_t seed, std::int64_t first_rank = 0);

// Whole numbers that make any order of `op` over all `ranks` ranks exact, although each step rounds
// to the tensor's dtype: the right answer is then one bit pattern for every algorithm. Let L be the
// dtype's largest exact whole number (2^3 for f8e5m2, 2^4 for f8e4m3, 2^8 for bf16, 2^11 for f16,
// 2^24 for f32 and c64, 2^53 for f64 and c128, the largest value of an integer). At each element,
// over all ranks,
//   prod            values are 2, 1 and -1 (unsigned, complex: 2 and 1), at most log2(L) of them 2
//   all other ops   the sum of |x| is at most L, and |x| at most 100, in both parts of a complex x
//   any, bool       one rank at most decides: it holds a 1 among zeros, or a 0 among ones where the
//                   op is an and (band land prod min min_loc); any values for an exclusive or
// so that neither overflow nor saturation can happen on the way. (A mean rounds once, in its
// division; premul_sum and weighted_mean are exact for factors and weights that are; log_sum_exp
// never is.) With many ranks most hold 0, or 1 and -1: one rank in each run of ceil(ranks / L)
// (for prod, ceil(ranks / log2(L))), picked by the hash, gets a larger value. Slice i belongs to
// rank first_rank + i, and first_rank + R <= ranks is demanded. Throws as fill_random.
void fill_whole_numbers(const TensorView& tensor, std::uint64_t seed, std::int64_t ranks,
                        ReduceOp op, std::int64_t first_rank = 0);

}  // namespace vranks
