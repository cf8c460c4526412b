// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/job.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <new>
#include <thread>

#include "cli/job_message.hpp"
#include "collectives/peers/mpi_call.hpp"
#include "collectives/processes/mpi_wait.hpp"

namespace vranks::cli {

namespace {

// What launchers set in the environment of the processes they start, and where the number of
// processes stands (Slurm's PMIx plugin sets no PMIX_SIZE).
struct Launcher {
  const char* mark;
  const char* size;
};
constexpr Launcher launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"},  // Open MPI's mpirun
    {"PMI_RANK", "PMI_SIZE"},                          // MPICH, Intel MPI, srun --mpi=pmi2
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},    // MVAPICH2
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},             // srun --mpi=pmix
};

const Launcher* launcher() {
  for (const Launcher& each : launchers)
    if (std::getenv(each.mark)) return &each;
  return nullptr;
}

// What a process ends with at once: where another one is lost, and where MPI itself fails.
constexpr int exit_lost = 1;
constexpr int exit_failed = 2;

#if VRANKS_HAVE_MPI
// Processes that mpirun didn't bind to cores of their own each see all cores of the machine. With
// that many threads each they would wait for each other: 15 s instead of 1 s for a check by 4
// processes on 2 cores.
void share_cores() {
  MPI_Comm here = MPI_COMM_NULL;
  VR_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
  int processes_here = 1;
  VR_MPI(MPI_Comm_size(here, &processes_here));
  VR_MPI(MPI_Comm_free(&here));
  const bool is_bound = omp_get_num_procs() < sysconf(_SC_NPROCESSORS_ONLN);
  if (is_bound || std::getenv("OMP_NUM_THREADS")) return;
  omp_set_num_threads(std::max(1, omp_get_num_procs() / processes_here));
}
#endif

}  // namespace

Job::Job() {
  const Launcher* const started_by = launcher();
  if (!started_by) return;
#if VRANKS_HAVE_MPI
  need_mpi();
#else
  const char* const size = std::getenv(started_by->size);
  if (size && std::atoi(size) > 1)
    throw Error(ErrorKind::not_available,
                fmt::format("mpirun started {} processes, but this build has no MPI, so that each "
                            "would do all the work; apt install libopenmpi-dev openmpi-bin, then "
                            "configure and build again, or start without mpirun",
                            size));
#endif
}

void Job::need_mpi() {
#if VRANKS_HAVE_MPI
  if (joined_) return;
  int provided = 0;
  // The kernels' threads don't call MPI; see watched() for who does.
  VR_MPI(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided));
  has_threads_ = provided == MPI_THREAD_MULTIPLE;
  joined_ = true;
  return_mpi_errors();
  VR_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &process_));
  VR_MPI(MPI_Comm_size(MPI_COMM_WORLD, &processes_));
  share_cores();
  if (processes_ > 1) wait_ = std::make_unique<MpiWait>(MPI_COMM_WORLD, default_timeout);
#endif
}

void Job::set_timeout([[maybe_unused]] double seconds) {
#if VRANKS_HAVE_MPI
  if (wait_) wait_->set_timeout(seconds);
#endif
}

Job::~Job() {
#if VRANKS_HAVE_MPI
  if (!joined_) return;
  std::fflush(nullptr);
  try {
    if (wait_) {
      MPI_Request request = MPI_REQUEST_NULL;
      VR_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
      wait_->until_done(request);
    }
  } catch (const MpiError& error) {
    end(error, exit_lost);
  }
  wait_.reset();
  MPI_Finalize();
#endif
}

std::string Job::label() const {
  return processes_ == 1 ? std::string() : fmt::format("process {} of {}: ", process_, processes_);
}

void Job::together(const std::function<void()>& work) const {
#if VRANKS_HAVE_MPI
  try {
    share_failure(work);
  } catch (const ProcessError& error) {
    end(error, exit_lost);
  } catch (const MpiError& error) {
    // The others may be waiting in the call that failed here, where no meeting can reach them.
    end(error, exit_failed);
  }
#else
  share_failure(work);
#endif
}

#if VRANKS_HAVE_MPI
void Job::end(const MpiError& error, int exit_code) const {
  fmt::print(stderr, "vranks: {}{}\n", label(), error.what());
  std::fflush(nullptr);
  // The others find out at about the same time, and may say so before mpirun ends them.
  if (exit_code == exit_lost) std::this_thread::sleep_for(std::chrono::seconds(1));
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}
#endif

void Job::share_failure(const std::function<void()>& work) const {
  std::exception_ptr thrown;
  std::string problem;
  const auto note = [&](ErrorKind kind, const char* what) {
    thrown = std::current_exception();
    problem = static_cast<char>('0' + static_cast<int>(kind)) + std::string(what);
  };
  try {
    work();
  } catch (const JobError&) {
    throw;  // all processes have it already
#if VRANKS_HAVE_MPI
  } catch (const MpiError&) {
    throw;
#endif
  } catch (const Error& error) {
    note(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    note(ErrorKind::not_available, "there is not enough memory");
  } catch (const std::exception& error) {
    note(ErrorKind::bad_argument, error.what());
  }

  const std::vector<std::string> problems = meet(thrown ? Act::failed : Act::done, problem);
  if (!thrown) return;
  if (std::ranges::count(problems, problem) != processes_) throw error_of(problems);
  std::rethrow_exception(thrown);
}

void Job::agree(std::string_view what, std::span<const std::string> words) const {
  const std::string found = differences(meet(Act::agree, pack(words)));
  if (!found.empty())
    throw JobError(
        ErrorKind::bad_argument,
        fmt::format("the processes have different {}: {}; start all of them with the same", what,
                    found));
}

void Job::broadcast([[maybe_unused]] void* data, [[maybe_unused]] std::int64_t bytes) const {
#if VRANKS_HAVE_MPI
  if (!joined_) return;
  constexpr std::int64_t most = std::int64_t{1} << 30;  // MPI counts are ints
  for (std::int64_t first = 0; wait_ && first < bytes; first += most) {
    MPI_Request request = MPI_REQUEST_NULL;
    VR_MPI(MPI_Ibcast(static_cast<std::byte*>(data) + first,
                      static_cast<int>(std::min(most, bytes - first)), MPI_BYTE, 0, MPI_COMM_WORLD,
                      &request));
    wait_->until_done(request);
  }
#endif
}

void Job::watched(const std::function<void()>& calls) const {
#if VRANKS_HAVE_MPI
  if (!wait_ || !has_threads_) return calls();
  std::exception_ptr thrown;
  std::atomic<bool> is_done = false;
  std::thread thread([&] {
    try {
      calls();
    } catch (...) {
      thrown = std::current_exception();
    }
    is_done = true;
  });
  wait_->happened();
  try {
    while (!is_done) {
      wait_->turn();
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // the core is the other's
    }
  } catch (const MpiError& error) {
    end(error, exit_lost);  // the thread will not come back
  }
  thread.join();
  wait_->happened();
  if (thrown) std::rethrow_exception(thrown);
#else
  calls();
#endif
}

void Job::collect(const void* mine, std::span<const std::int64_t> counts, void* all) const {
  if (is_first()) std::memcpy(all, mine, static_cast<std::size_t>(counts[0]));
#if VRANKS_HAVE_MPI
  constexpr std::int64_t most = std::int64_t{1} << 30;  // MPI counts are ints
  constexpr int tag = 0;
  auto* to = static_cast<std::byte*>(all);
  for (int p = 0; p < processes_; ++p) {
    const std::int64_t bytes = counts[static_cast<std::size_t>(p)];
    for (std::int64_t first = 0; p > 0 && first < bytes; first += most) {
      const int count = static_cast<int>(std::min(most, bytes - first));
      MPI_Request request = MPI_REQUEST_NULL;
      if (is_first())
        VR_MPI(MPI_Irecv(to + first, count, MPI_BYTE, p, tag, MPI_COMM_WORLD, &request));
      if (p == process_)
        VR_MPI(MPI_Isend(static_cast<const std::byte*>(mine) + first, count, MPI_BYTE, 0, tag,
                         MPI_COMM_WORLD, &request));
      if (request != MPI_REQUEST_NULL) wait_->until_done(request);
    }
    if (to != nullptr) to += bytes;
  }
#endif
}

// A process that failed meets the others wherever they are next: all of them learn why.
std::vector<std::string> Job::meet(Act act, const std::string& text) const {
  std::vector<std::string> texts = all_texts(static_cast<char>(act) + text);
  const auto failed_here = [](const std::string& each) {
    return each[0] == static_cast<char>(Act::failed);
  };
  const bool is_same_act =
      std::ranges::all_of(texts, [&](const std::string& each) { return each[0] == texts[0][0]; });
  if (!is_same_act && std::ranges::none_of(texts, failed_here))
    throw JobError(ErrorKind::bad_argument,
                   "the processes came to different points of the program (this is a bug)");
  for (std::string& each : texts) each.erase(0, is_same_act || failed_here(each) ? 1 : each.size());
  if (!is_same_act) throw error_of(texts);
  return texts;
}

std::vector<std::string> Job::all_texts(const std::string& text) const {
  if (processes_ == 1) return {text};
  std::vector<std::string> texts(static_cast<std::size_t>(processes_));
#if VRANKS_HAVE_MPI
  const auto length = static_cast<std::int64_t>(text.size());
  std::vector<std::int64_t> lengths(texts.size());
  MPI_Request request = MPI_REQUEST_NULL;
  VR_MPI(MPI_Iallgather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, MPI_COMM_WORLD,
                        &request));
  wait_->until_done(request);
  std::vector<int> counts, offsets;
  std::int64_t total = 0;
  for (const std::int64_t each : lengths) {
    counts.push_back(static_cast<int>(each));
    offsets.push_back(static_cast<int>(total));
    total += each;
  }
  if (total > std::numeric_limits<int>::max())
    throw JobError(ErrorKind::not_supported,
                   fmt::format("what the {} processes have to tell each other is {} bytes long, "
                               "more than MPI carries at once",
                               processes_, total));
  std::string all(static_cast<std::size_t>(total), '\0');
  VR_MPI(MPI_Iallgatherv(text.data(), static_cast<int>(length), MPI_CHAR, all.data(), counts.data(),
                         offsets.data(), MPI_CHAR, MPI_COMM_WORLD, &request));
  wait_->until_done(request);
  for (std::size_t p = 0; p < texts.size(); ++p)
    texts[p] =
        all.substr(static_cast<std::size_t>(offsets[p]), static_cast<std::size_t>(lengths[p]));
#endif
  return texts;
}

}  // namespace vranks::cli
