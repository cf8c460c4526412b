// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// An MPI library that is wrong: preloaded, it flips one bit of one element of every MPI_Allreduce
// and MPI_Reduce on one process. `vranks check` has to see it.
#include "collectives/peers/mpi_call.hpp"

namespace {

// The lowest bit of element 13 on process 1, or on process 0 of a reduce.
void spoil(void* result, int count, MPI_Datatype type, int process_to_spoil) {
  int process = 0;
  int bytes = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &process);
  PMPI_Type_size(type, &bytes);
  if (process == process_to_spoil && count > 13) static_cast<char*>(result)[13 * bytes] ^= 1;
}

}  // namespace

extern "C" {

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const int code = PMPI_Allreduce(in, out, count, type, op, comm);
  spoil(out, count, type, 1);
  return code;
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  const int code = PMPI_Reduce(in, out, count, type, op, root, comm);
  spoil(out, count, type, root);
  return code;
}

}  // extern "C"
