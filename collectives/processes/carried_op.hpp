// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A combine of carried values as an MPI datatype and operator: MPI's own where it means the same,
// else one that calls our kernels. Empty in builds without MPI.
#pragma once

#if VRANKS_HAVE_MPI

#include "collectives/peers/mpi_call.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks {

class CarriedOp {
 public:
  // `rules` have to live as long.
  explicit CarriedOp(const Arithmetic& rules);
  ~CarriedOp();
  CarriedOp(const CarriedOp&) = delete;
  CarriedOp& operator=(const CarriedOp&) = delete;

  MPI_Datatype type() const { return type_; }
  MPI_Op op() const { return op_; }
  // MPI tells an operator nothing but the elements: before calls that use it, and while they run,
  // this one has to be the one in use.
  void use() const;

 private:
  const Arithmetic& rules_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  bool is_ours_ = false;
};

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
