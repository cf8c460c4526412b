// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/mpi_barrier.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "collectives/peers/mpi.hpp"
#include "collectives/peers/mpi_call.hpp"

namespace vranks {

#if VRANKS_HAVE_MPI

namespace {

// Linux's monotonic clock, which std::chrono reads, is one for all processes of a machine.
std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

BarrierFinding watch_mpi_barrier() {
  constexpr int most_rounds = 16;
  constexpr std::chrono::milliseconds late{5};
  return_mpi_errors();
  int process = 0, processes = 1;
  VR_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &process));
  VR_MPI(MPI_Comm_size(MPI_COMM_WORLD, &processes));
  MPI_Comm here = MPI_COMM_NULL;
  VR_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
  BarrierFinding finding;
  for (int round = 0; round < std::min(processes, most_rounds); ++round) {
    if (round == process) std::this_thread::sleep_for(late);
    const std::int64_t entered = now();
    VR_MPI(MPI_Barrier(MPI_COMM_WORLD));
    const std::int64_t returned = now();
    std::int64_t last_entered = 0;
    VR_MPI(MPI_Allreduce(&entered, &last_entered, 1, MPI_INT64_T, MPI_MAX, here));
    ++finding.returns;
    if (returned < last_entered) ++finding.early;
  }
  VR_MPI(MPI_Comm_free(&here));
  return finding;
}

#else

BarrierFinding watch_mpi_barrier() {
  mpi_library();  // says what is missing
  return {};
}

#endif

}  // namespace vranks
