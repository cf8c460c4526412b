// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Real NCCL ranks, one in each process. Empty in builds without MPI.
#pragma once

#if VRANKS_HAVE_MPI

#include <string>

#include "collectives/peers/nccl_ranks.hpp"
#include "collectives/processes/nccl_processes.hpp"

namespace vranks {

class NcclProcessRanks : public NcclRunner {
 public:
  // All processes of `communicator` make one at the same point; each is the rank of its number, on
  // `device`. `timeout`: seconds without a sign of life after which a process is taken for lost.
  // This and run() throw NcclError if NCCL fails here, and ProcessError, which names the process,
  // if one is lost or NCCL failed there.
  NcclProcessRanks(MPI_Comm communicator, const std::string& library, Device device,
                   double timeout);

  // Every process makes the same call, with the rows of all ranks on its own device. Its rank reads
  // its own row; the results of all ranks come into the rows of `out` of all processes.
  void run(const NcclCall& call) override;

  // The texts of all processes, one behind the other. All call it.
  std::string texts(const std::string& mine);

 private:
  // What fails here is told to the others, who wait.
  template <class Work>
  void telling_others(Work&& work);
  void run_own(const NcclCall& call);

  MPI_Comm communicator_;
  int process_ = 0, processes_ = 1;
  Device device_;
  MpiWait wait_;
  NcclProcesses nccl_;
};

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
