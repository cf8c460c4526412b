// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/processes/mpi_wait.hpp"

#if VRANKS_HAVE_MPI

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace vranks {

namespace {

enum Tag : int { question, reply, failure };

// Where a process waits for one communicator it answers those who wait for another.
std::vector<MpiWait*>& all_waits() {
  static std::vector<MpiWait*> all;
  return all;
}

std::string host_name() {
  char text[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  VR_MPI(MPI_Get_processor_name(text, &length));
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace

MpiWait::MpiWait(MPI_Comm communicator, double timeout) : timeout_(timeout) {
  VR_MPI(MPI_Comm_dup(communicator, &communicator_));
  VR_MPI(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN));
  VR_MPI(MPI_Comm_rank(communicator_, &process_));
  VR_MPI(MPI_Comm_size(communicator_, &processes_));
  std::string names(static_cast<std::size_t>(processes_) * MPI_MAX_PROCESSOR_NAME, '\0');
  std::string own = host_name();
  own.resize(MPI_MAX_PROCESSOR_NAME);
  VR_MPI(MPI_Allgather(own.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names.data(),
                       MPI_MAX_PROCESSOR_NAME, MPI_CHAR, communicator_));
  for (std::size_t p = 0; p < static_cast<std::size_t>(processes_); ++p)
    hosts_.emplace_back(names.data() + p * MPI_MAX_PROCESSOR_NAME);
  all_waits().push_back(this);
}

MpiWait::~MpiWait() {
  std::erase(all_waits(), this);
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (!is_over) MPI_Comm_free(&communicator_);
}

void MpiWait::until_done(std::span<MPI_Request> requests) {
  happened();
  while (true) {
    int done = 0;
    VR_MPI(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                       MPI_STATUSES_IGNORE));
    if (done) return happened();
    turn();
  }
}

void MpiWait::happened() {
  since_ = Clock::now();
  has_asked_ = false;
  idle_turns_ = 0;
}

void MpiWait::turn() {
  // MPI makes progress only where it is asked, so sleeping comes late; but another process may need
  // this core.
  constexpr auto awake = std::chrono::milliseconds(20);
  constexpr int turns_a_look = 64;
  std::this_thread::yield();
  if (++idle_turns_ % turns_a_look != 0) return;
  for (MpiWait* const each : all_waits()) each->answer();
  const auto idle = Clock::now() - since_;
  if (idle > awake) std::this_thread::sleep_for(std::chrono::microseconds(50));
  // The second half is for their answers; and to say which is missing takes some time as well.
  const std::chrono::duration<double> farewell(std::min(1.0, timeout_.count() / 4));
  if (!has_asked_ && idle > timeout_ / 2) ask();
  if (has_asked_ && Clock::now() - asked_ > timeout_ / 2 - farewell) blame();
}

void MpiWait::answer() {
  while (true) {
    int is_there = 0;
    MPI_Status status;
    VR_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &is_there, &status));
    if (!is_there) return;
    int length = 0;
    VR_MPI(MPI_Get_count(&status, MPI_CHAR, &length));
    std::string text(static_cast<std::size_t>(length), '\0');
    VR_MPI(MPI_Recv(text.data(), length, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, communicator_,
                    MPI_STATUS_IGNORE));
    MPI_Request request = MPI_REQUEST_NULL;
    switch (status.MPI_TAG) {
      case question:
        VR_MPI(MPI_Isend(nullptr, 0, MPI_CHAR, status.MPI_SOURCE, reply, communicator_, &request));
        VR_MPI(MPI_Request_free(&request));  // an empty message needs nothing of ours
        break;
      case reply:
        if (has_asked_) answered_[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
        break;
      default:
        throw ProcessError(ErrorKind::io,
                           fmt::format("{} failed: {}", describe(status.MPI_SOURCE), text));
    }
  }
}

void MpiWait::ask() {
  has_asked_ = true;
  asked_ = Clock::now();
  answered_.assign(static_cast<std::size_t>(processes_), false);
  for (int p = 0; p < processes_; ++p) {
    if (p == process_) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    VR_MPI(MPI_Isend(nullptr, 0, MPI_CHAR, p, question, communicator_, &request));
    VR_MPI(MPI_Request_free(&request));
  }
}

void MpiWait::blame() {
  std::string silent;
  for (int p = 0; p < processes_; ++p)
    if (p != process_ && !answered_[static_cast<std::size_t>(p)])
      silent += (silent.empty() ? "" : ", ") + describe(p);
  throw ProcessError(
      ErrorKind::io,
      silent.empty()
          ? fmt::format("nothing has happened for {:g} s though all processes answer: they wait "
                        "for different things",
                        timeout_.count())
          : fmt::format("no answer for {:g} s (--timeout) from {}", timeout_.count(), silent));
}

std::string MpiWait::describe(int process) const {
  return fmt::format("process {} of {} on {}", process, processes_,
                     hosts_[static_cast<std::size_t>(process)]);
}

void MpiWait::tell_failure(const std::string& problem) noexcept {
  for (int p = 0; p < processes_; ++p)
    if (p != process_)
      MPI_Send(problem.data(), static_cast<int>(std::min<std::size_t>(problem.size(), 1000)),
               MPI_CHAR, p, failure, communicator_);
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
