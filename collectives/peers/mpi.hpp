// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The same reductions by the real MPI library: the yardstick of `vranks check --against mpi`.
// Nothing here uses our kernels.
#pragma once

#include <cstddef>
#include <string>

#include "collectives/problem.hpp"
#include "ranks/tensor.hpp"

namespace vranks {

// "Open MPI 4.1.4, MPI 3.1". Throws not_available if this build has no MPI.
std::string mpi_library();

// Reductions as the library does them. Every combine is done by an MPI operator, also inside a
// process.
//   f16, bf16, fp8 have no MPI type: they travel as uint16 or uint8 with an operator of our own,
//                  which combines in f32 and rounds to the dtype every time (fp8 saturates)
//   bool           travels as uint8 with MPI's logical operators
//   integer mean   is summed in i64 or u64, and divided truncating toward zero
//   other mean     is MPI_SUM and one division by problem.ranks: in the dtype; for 8- and 16-bit
//                  floats in f32, rounded to the dtype
//   land lor lxor  of one contribution alone, which MPI copies, are made truth values

// Whether MPI can: not complex dtypes, nor ops that MPI has no operator for (premul_sum,
// weighted_mean, log_sum_exp) or none with one result (min_loc, max_loc).
bool mpi_reduces(ReduceOp op, DType dtype);

// The rows of one process (CPU memory, at least one) combined in their order by MPI_Reduce_local.
// Of the dtype that is summed in, shape (n). Throws not_supported unless mpi_reduces(),
// not_available without MPI, MpiError if MPI, which must be initialised, fails.
Tensor mpi_reduce_rows(const Problem& problem, const Rows& rows);

// What `combined` elements of all ranks, of the dtype that is summed in, are as results of
// problem.dtype: divides a mean. `contributions`: how many ranks are in them.
void mpi_finish(const Problem& problem, const Tensor& combined, std::int64_t elements,
                std::int64_t contributions, std::byte* result);

}  // namespace vranks
