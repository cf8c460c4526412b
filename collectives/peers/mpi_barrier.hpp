// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether the real MPI_Barrier is one: it has no result that could be compared.
#pragma once

#include <cstdint>

namespace vranks {

struct BarrierFinding {
  std::int64_t returns = 0;  // of this process from MPI_Barrier
  std::int64_t early = 0;    // of them before a process of this machine had entered
};

// Every process calls it: a barrier for each of the first processes, which comes late to it, by the
// clock that the processes of one machine share. Throws MpiError; not_available without MPI.
BarrierFinding watch_mpi_barrier();

}  // namespace vranks
