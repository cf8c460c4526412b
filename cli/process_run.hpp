// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The collective of `vranks run` over the processes that mpirun started: each owns a block of the
// ranks; the first one gets all results.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/job.hpp"
#include "cli/outcome.hpp"
#include "collectives/processes/communicator.hpp"
#include "kernels/backend.hpp"

namespace vranks::cli {

struct ProcessCallRequest {
  Collective collective = Collective::all_reduce;
  CollectiveOptions call = {};
  Engine engine = Engine::schedule;
  double timeout = Job::default_timeout;
  std::string nccl_library = {};  // of engine nccl; empty: the system's
  Shape shape = {};               // of all ranks' input
  Device device = {};             // of this process
};

class ProcessRun {
 public:
  // `input`: the ranks of this process, on the host. Allocates all that this process needs; throws
  // not_available where this build has no MPI.
  ProcessRun(const Job& job, const ProcessCallRequest& request, const TensorView& input);
  ~ProcessRun();

  // Every process calls these at the same point.
  // Throws as Communicator::run().
  Provenance run();
  // Results of all ranks in their order; on process 0 `out` and `ranks` are of all of them.
  void collect(const Tensor& out, const Tensor& ranks) const;
  // Of the library that passed the messages: "Open MPI 4.1.4, MPI 3.1", "NCCL 2.30.7".
  std::string library() const;
  // Seconds that the slowest process took for each of several calls, sorted.
  std::vector<double> time();

 private:
  class Memory;
  const Job& job_;
  ProcessCallRequest request_;
  std::unique_ptr<Memory> memory_;
};

// The device of this process: `wanted`, but of several CUDA devices, where no index was given, one
// for each process of a machine in turns.
Device device_of_process(const Job& job, const std::optional<Device>& wanted);

// Lets processes share a device, where NCCL is to join them and some have the same one: a setting
// of NCCL's environment, before its first use. All processes call it, each with its device.
void allow_shared_devices(const Job& job, Device device);

}  // namespace vranks::cli
