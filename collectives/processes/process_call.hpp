// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A call over the ranks of several processes, as one of them sees it, checked and ready to run.
// Empty in builds without MPI.
#pragma once

#if VRANKS_HAVE_MPI

#include <functional>
#include <memory>
#include <vector>

#include "collectives/plan.hpp"
#include "collectives/processes/engine.hpp"
#include "collectives/processes/kept_memory.hpp"
#include "collectives/processes/mpi_wait.hpp"

namespace vranks {

class NcclProcesses;

struct ProcessCall {
  PlanKey key = {};                       // over all ranks
  std::vector<std::int64_t> firsts = {};  // rank of each process, and behind the last one R
  int process = 0;
  // One pointer a rank, null for those that live elsewhere; of collectives that end at the root one
  // of the output a group.
  std::vector<std::byte*> in = {}, out = {}, ranks = {};
  MPI_Comm communicator = MPI_COMM_NULL;  // of the library's own
  MpiWait* wait = nullptr;
  KeptMemory* memory = nullptr;
  NcclProcesses* nccl = nullptr;  // of engine nccl
  std::int64_t piece_bytes = 0;

  int processes() const { return static_cast<int>(firsts.size()) - 1; }
  std::int64_t first() const { return firsts[static_cast<std::size_t>(process)]; }
  std::int64_t behind() const { return firsts[static_cast<std::size_t>(process) + 1]; }
  int process_of(std::int64_t rank) const;
};

// An engine at work: made, and with the memory of its results, before the first message.
class EngineRun {
 public:
  virtual ~EngineRun() = default;
  virtual void run() = 0;
};

// Both keep a reference to the call. Throw as Communicator::run().
std::unique_ptr<EngineRun> make_schedule_engine(const ProcessCall& call);
std::unique_ptr<EngineRun> make_collective_engine(const ProcessCall& call, Engine engine);

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
