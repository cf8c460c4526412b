// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The processes that run this command together: one, or those that mpirun started. Whatever one of
// them finds wrong becomes known to all, so that none is left waiting.
//
//   Job job;
//   job.together([&] {
//     job.agree("arguments", {argv + 1, argv + argc});
//     exit_code = command.run(job);
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ranks/error.hpp"

namespace vranks {
class MpiError;
class MpiWait;
}  // namespace vranks

namespace vranks::cli {

// What went wrong between processes: every process has thrown it, and it names processes. Each of
// them prints it, with its label() in front; of any other error the first process prints one copy.
class JobError : public Error {
 public:
  using Error::Error;
};

class Job {
 public:
  // Joins the other processes if mpirun started this one; a plain start stays without MPI, and
  // fast. Throws not_available if there are other processes and this build has no MPI.
  Job();
  // Waits for the other processes, so that mpirun doesn't kill one that is still printing.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int process() const { return process_; }
  int processes() const { return processes_; }
  bool is_first() const { return process_ == 0; }

  // Has MPI initialised for a process that was started alone, too. Nothing happens in a build
  // without MPI.
  void need_mpi();

  // Seconds without any message after which a process is taken for lost: every other one says which
  // it is, and ends with exit code 1.
  void set_timeout(double seconds);
  static constexpr double default_timeout = 600;

  // Runs calls of MPI that only return once the others have made them too, on a thread of their
  // own: meanwhile this one answers the others, and ends the job if one of them is lost.
  void watched(const std::function<void()>& calls) const;

  // "process 2 of 4: ", for the front of a JobError's line; empty if there is one process.
  std::string label() const;

  // Runs `work` and returns once all processes have. If it throws on any of them, all throw: the
  // error itself where everyone's says the same, else one JobError that names the processes and
  // their problems. A process that throws need not wait for the others to come to the same point:
  // they learn of it at their next meeting (together, agree, gather), wherever that is. Hence
  // whatever can fail on one process alone has to be done before a broadcast or an MPI call. Where
  // MPI itself fails, the process says so and ends all.
  void together(const std::function<void()>& work) const;

  // Returns once every process has called it; throws JobError on all of them if a process's
  // `words` differ from process 0's, naming each such process and what both said, the common
  // words left out. `what` names the thing in the message ("arguments").
  void agree(std::string_view what, std::span<const std::string> words) const;
  void agree(std::string_view what, std::initializer_list<std::string> words) const {
    agree(what, std::span(words.begin(), words.size()));
  }

  // Every process's `mine`, in the order of processes.
  template <class T>
  std::vector<T> gather(const T& mine) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &mine, sizeof(T));
    const auto all = meet(Act::gather, bytes);
    std::vector<T> values(all.size());
    for (std::size_t p = 0; p < all.size(); ++p) std::memcpy(&values[p], all[p].data(), sizeof(T));
    return values;
  }

  // Process 0's `bytes` bytes become everyone's. Every process must know the count, and must have
  // its memory: allocate under together() first.
  void broadcast(void* data, std::int64_t bytes) const;

  // `counts[p]` bytes of process p, one behind the other, at `all` in process 0.
  void collect(const void* mine, std::span<const std::int64_t> counts, void* all) const;

 private:
  // Why a process comes to a meeting of all; `failed` brings its problem.
  enum class Act : char { agree = 'a', gather = 'g', done = 'd', failed = 'f' };

#if VRANKS_HAVE_MPI
  // Says what went wrong, and ends this process and with it the job.
  [[noreturn]] void end(const MpiError& error, int exit_code) const;
#endif
  void share_failure(const std::function<void()>& work) const;  // together(), where MPI works

  // The one meeting that all of the above is made of. Returns every process's text; throws JobError
  // on all processes if some of them failed, or if they came for different things.
  std::vector<std::string> meet(Act act, const std::string& text) const;
  std::vector<std::string> all_texts(const std::string& text) const;

  int process_ = 0;
  int processes_ = 1;
  bool has_threads_ = false;  // MPI may be called by several at once
  bool joined_ = false;       // this object initialised MPI and has to finalise it
#if VRANKS_HAVE_MPI
  std::unique_ptr<MpiWait> wait_;  // where there are other processes
#endif
};

}  // namespace vranks::cli
