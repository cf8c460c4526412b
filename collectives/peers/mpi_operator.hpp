// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A dtype and an op as MPI's types and operators. Empty in builds without MPI.
#pragma once

#if VRANKS_HAVE_MPI

#include "collectives/peers/mpi_call.hpp"
#include "ranks/dtype.hpp"
#include "ranks/reduce_op.hpp"

namespace vranks {

// Floats of 8 and 16 bits have no MPI type and travel as unsigned integers, as truth values do.
MPI_Datatype mpi_type(DType dtype);

// The operator for elements of `dtype`: MPI's own; for floats of 8 and 16 bits one of ours, which
// combines in f32 and rounds. A mean is a sum until its division. Precondition: mpi_reduces(op,
// dtype). Throws MpiError.
class MpiOperator {
 public:
  MpiOperator(DType dtype, ReduceOp op);
  ~MpiOperator();
  MpiOperator(const MpiOperator&) = delete;
  MpiOperator& operator=(const MpiOperator&) = delete;

  MPI_Op get() const { return op_; }

 private:
  void create(MPI_User_function* function);

  MPI_Op op_;
  bool is_ours_ = false;
};

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
