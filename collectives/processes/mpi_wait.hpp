// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Waiting for MPI without hanging: whoever waits answers the others' questions whether it is still
// there, and asks them where nothing happens for too long. Empty in builds without MPI.
#pragma once

#if VRANKS_HAVE_MPI

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "collectives/peers/mpi_call.hpp"

namespace vranks {

// Another process stopped answering, or failed: whoever learns of it can only end.
class ProcessError : public MpiError {
 public:
  using MpiError::MpiError;
};

class MpiWait {
 public:
  // Every process of `communicator` makes one at the same point. `timeout`: seconds without any
  // message after which the others are asked.
  MpiWait(MPI_Comm communicator, double timeout);
  ~MpiWait();
  MpiWait(const MpiWait&) = delete;
  MpiWait& operator=(const MpiWait&) = delete;

  void set_timeout(double seconds) { timeout_ = std::chrono::duration<double>(seconds); }
  // Returns when all of them are done.
  void until_done(std::span<MPI_Request> requests);
  void until_done(MPI_Request request) { until_done({&request, 1}); }

  // A turn of waiting, for loops that look themselves whether anything happened. Throws
  // ProcessError if a process doesn't answer, naming it, or if one has said that it failed.
  void turn();
  // Something happened: time starts anew.
  void happened();

  // Tells all others, who wait or will, that this process can't go on.
  void tell_failure(const std::string& problem) noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  void answer();
  void ask();
  [[noreturn]] void blame();
  std::string describe(int process) const;

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int process_ = 0, processes_ = 1;
  std::vector<std::string> hosts_;
  std::chrono::duration<double> timeout_;
  Clock::time_point since_ = Clock::now();
  bool has_asked_ = false;
  Clock::time_point asked_ = {};
  std::vector<bool> answered_;
  int idle_turns_ = 0;
};

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
