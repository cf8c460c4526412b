// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One NCCL rank in each process. Empty in builds without MPI, by which the processes find each
// other.
#pragma once

#if VRANKS_HAVE_MPI

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "collectives/peers/nccl.hpp"
#include "collectives/processes/mpi_wait.hpp"

namespace vranks {

class NcclProcesses {
 public:
  // `given`: the caller's ncclComm_t, or null.
  NcclProcesses(std::string library, void* given);
  ~NcclProcesses();
  NcclProcesses(const NcclProcesses&) = delete;
  NcclProcesses& operator=(const NcclProcesses&) = delete;

  // Loads the library, once. Throws not_available.
  const Nccl& load();
  // Throws bad_argument for another device than that with which this process has joined.
  void need_device(Device device) const;
  // Joins the other processes, once; all call it.
  void join(MPI_Comm communicator, MpiWait& wait, Device device);

  // What comes next waits until the device has done what was asked of it outside of NCCL.
  void follow_device() const;
  void group(const std::function<void()>& calls) const;
  void check(Nccl::Result result, const char* doing) const;
  // Returns when the stream has come to the mark. Throws NcclError if NCCL failed meanwhile.
  void set_mark(int slot) const;
  void wait_for_mark(int slot, MpiWait& wait) const;

  const Nccl& nccl() const { return *nccl_; }
  // "NCCL 2.30.7" once it is loaded.
  std::string version() const { return nccl_ ? "NCCL " + nccl_->version_text() : std::string(); }
  Nccl::Communicator communicator() const { return communicator_; }
  Stream stream() const;

 private:
  struct Events;
  std::string library_;
  std::optional<Nccl> nccl_;
  Nccl::Communicator communicator_ = nullptr;
  bool is_ours_ = false;
  Device device_ = {};
  std::unique_ptr<Events> events_;  // of the device that was joined with
};

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
