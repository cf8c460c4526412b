// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// An MPI library that is wrong: preloaded, it spoils the results of collectives as the environment
// variable VRANKS_FAULT says, and `vranks check` has to see it.
//   bit       (unless said) the lowest bit of element 13 on process 1, or on the root, is flipped
//   nan       all bits of that element are set: a NaN
//   tail      the last third of a reduction on that process is its own input again, unreduced
//   shards    the first two blocks of an all-gather or all-to-all are exchanged there
//   early     a barrier returns at once
//   order     a new communicator's all-reduce is the linear one, whatever Open MPI was told
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "collectives/peers/mpi_call.hpp"

namespace {

bool is_fault(std::string_view name) {
  const char* const fault = std::getenv("VRANKS_FAULT");
  return name == (fault ? fault : "bit");
}

int process_of(MPI_Comm comm) {
  int process = 0;
  PMPI_Comm_rank(comm, &process);
  return process;
}

std::size_t bytes_of(MPI_Datatype type) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  return static_cast<std::size_t>(bytes);
}

// A result of `count` elements on the process that is to be wrong.
void spoil(void* result, int count, MPI_Datatype type, bool is_here) {
  const std::size_t bytes = bytes_of(type);
  if (!is_here || count <= 13) return;
  char* const element = static_cast<char*>(result) + 13 * bytes;
  if (is_fault("bit")) *element ^= 1;
  if (is_fault("nan")) std::memset(element, 0xff, bytes);
}

void unreduce(const void* in, void* result, int count, MPI_Datatype type, bool is_here) {
  if (!is_here || !is_fault("tail") || count <= 13) return;
  const auto first = static_cast<std::size_t>(count) * 2 / 3 * bytes_of(type);
  std::memcpy(static_cast<char*>(result) + first, static_cast<const char*>(in) + first,
              static_cast<std::size_t>(count) * bytes_of(type) - first);
}

// Blocks 0 and 1, of `count` elements each.
void exchange(void* result, int count, MPI_Datatype type, bool is_here) {
  const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of(type);
  if (!is_here || !is_fault("shards") || count <= 13) return;
  char* const first = static_cast<char*>(result);
  std::swap_ranges(first, first + bytes, first + bytes);
}

}  // namespace

extern "C" {

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const int code = PMPI_Allreduce(in, out, count, type, op, comm);
  const bool is_here = process_of(comm) == 1;
  spoil(out, count, type, is_here);
  unreduce(in, out, count, type, is_here);
  return code;
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  const int code = PMPI_Reduce(in, out, count, type, op, root, comm);
  const bool is_here = process_of(comm) == root;
  spoil(out, count, type, is_here);
  unreduce(in, out, count, type, is_here);
  return code;
}

int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Scan(in, out, count, type, op, comm);
  const bool is_here = process_of(comm) == 1;
  spoil(out, count, type, is_here);
  unreduce(in, out, count, type, is_here);
  return code;
}

int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  const int code = PMPI_Reduce_scatter_block(in, out, count, type, op, comm);
  const bool is_here = process_of(comm) == 1;
  spoil(out, count, type, is_here);
  const auto block = static_cast<std::size_t>(count) * bytes_of(type);
  unreduce(static_cast<const char*>(in) + block, out, count, type, is_here);
  return code;
}

int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int count,
                  MPI_Datatype type, MPI_Comm comm) {
  const int code = PMPI_Allgather(in, in_count, in_type, out, count, type, comm);
  const bool is_here = process_of(comm) == 1;
  spoil(out, count, type, is_here);
  exchange(out, count, type, is_here);
  return code;
}

int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int count,
                 MPI_Datatype type, MPI_Comm comm) {
  const int code = PMPI_Alltoall(in, in_count, in_type, out, count, type, comm);
  const bool is_here = process_of(comm) == 1;
  spoil(out, count, type, is_here);
  exchange(out, count, type, is_here);
  return code;
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const int code = PMPI_Bcast(data, count, type, root, comm);
  // `vranks check` passes its own results on as bytes.
  if (type != MPI_BYTE) spoil(data, count, type, process_of(comm) == 1);
  return code;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  int index = 0, count = 0, linear = 1;
  MPI_T_cvar_handle handle;
  if (is_fault("order") &&
      MPI_T_cvar_get_index("coll_tuned_allreduce_algorithm", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS)
    MPI_T_cvar_write(handle, &linear);
  return PMPI_Comm_dup(comm, copy);
}

int MPI_Barrier(MPI_Comm comm) { return is_fault("early") ? MPI_SUCCESS : PMPI_Barrier(comm); }

}  // extern "C"
