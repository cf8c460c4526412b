// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/nccl_ranks.hpp"

#include <fmt/format.h>

namespace vranks {

namespace {

void check_has(const Nccl& nccl, const NcclCall& call) {
  const bool has_collective =
      call.collective == Collective::all_reduce || call.collective == Collective::reduce ||
      call.collective == Collective::reduce_scatter || call.collective == Collective::all_gather ||
      call.collective == Collective::broadcast;
  const bool has_op = !reduces(call.collective) || nccl_reduces(call.op, call.dtype, nccl.version);
  if (!has_collective || !has_op || !nccl_dtype(call.dtype))
    throw Error(ErrorKind::not_supported,
                fmt::format("NCCL {} has no {} {} of {}", nccl.version_text(),
                            name(call.collective), name(call.op), name(call.dtype)));
}

}  // namespace

std::string nccl_name(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "ncclAllReduce";
    case Collective::reduce:
      return "ncclReduce";
    case Collective::reduce_scatter:
      return "ncclReduceScatter";
    case Collective::all_gather:
      return "ncclAllGather";
    default:
      return "ncclBroadcast";
  }
}

Nccl::Result enqueue(const Nccl& nccl, const NcclCall& call, const void* in, void* out,
                     Nccl::Communicator communicator, Stream stream) {
  check_has(nccl, call);
  const auto count = static_cast<std::size_t>(call.count);
  const int dtype = *nccl_dtype(call.dtype), op = nccl_op(call.op).value_or(0);
  const int root = static_cast<int>(call.root);
  switch (call.collective) {
    case Collective::all_reduce:
      return nccl.all_reduce(in, out, count, dtype, op, communicator, stream);
    case Collective::reduce:
      return nccl.reduce(in, out, count, dtype, op, root, communicator, stream);
    case Collective::reduce_scatter:
      return nccl.reduce_scatter(in, out, count, dtype, op, communicator, stream);
    case Collective::all_gather:
      return nccl.all_gather(in, out, count, dtype, communicator, stream);
    default:
      return nccl.broadcast(in, out, count, dtype, root, communicator, stream);
  }
}

}  // namespace vranks

#if VRANKS_HAVE_CUDA

#include <algorithm>
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda_error.hpp"

namespace vranks {

namespace {

using Clock = std::chrono::steady_clock;
using cuda::check_cuda;

// Once a rank has failed, the others get that long to notice.
constexpr std::chrono::seconds grace{3};

// Which of the threads of all ranks have finished one piece of work, and what went wrong.
class Roll {
 public:
  explicit Roll(int ranks) : done_(static_cast<std::size_t>(ranks)) {}

  void finish(int rank, std::string failure) {
    const std::lock_guard lock(mutex_);
    done_[static_cast<std::size_t>(rank)] = true;
    if (!failure.empty() && failed_ < 0) {
      failed_ = rank;
      failure_ = std::move(failure);
    }
    changed_.notify_all();
  }
  // Returns once all are done, one has failed, or the time is over.
  void wait_until(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return failed_ >= 0 || all_done(); });
  }
  // Returns once all are done or the time is over.
  void wait_for_all(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return all_done(); });
  }

  // "rank 2: NCCL failed while ..."; "ranks 1, 3 of 4 did not finish ... within 60 s"; or nothing.
  std::string problem(const std::string& doing, std::chrono::milliseconds patience) {
    const std::lock_guard lock(mutex_);
    if (failed_ >= 0) return fmt::format("rank {}: {}: {}", failed_, doing, failure_);
    if (all_done()) return {};
    std::string waiting;
    for (std::size_t r = 0; r < done_.size(); ++r)
      if (!done_[r]) waiting += fmt::format("{}{}", waiting.empty() ? "" : ", ", r);
    const auto count = std::ranges::count(done_, false);
    return fmt::format("{} {} of {} did not finish {} within {:g} s", count == 1 ? "rank" : "ranks",
                       waiting, done_.size(), doing,
                       std::chrono::duration<double>(patience).count());
  }

 private:
  bool all_done() const { return std::ranges::find(done_, false) == done_.end(); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> done_;
  int failed_ = -1;
  std::string failure_;
};

}  // namespace

struct NcclRanks::State {
  struct Rank {
    Nccl::Communicator communicator = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;
    int device = 0;
  };

  State(const Nccl& library, const std::vector<Device>& devices, std::chrono::milliseconds most)
      : nccl(library), ranks(devices.size()), patience(most), everyone(std::ssize(devices)) {
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].device = devices[r].index;
  }

  Rank& rank(int r) { return ranks[static_cast<std::size_t>(r)]; }

  void check(Nccl::Result result, int r, const char* doing) {
    if (result == Nccl::success || result == Nccl::in_progress) return;
    const char* const last = nccl.last_error(rank(r).communicator);
    throw NcclError(fmt::format("NCCL failed while {}: {}{}{}", doing, nccl.error_string(result),
                                last && *last ? "; " : "", last ? last : ""));
  }

  // A rank's rows of a call, and their bytes.
  struct Rows {
    const std::byte* in;
    std::byte* out;
    std::size_t in_bytes, out_bytes;
  };
  Rows rows(const NcclCall& call, int r) const {
    const auto size = static_cast<std::int64_t>(size_bytes(call.dtype));
    const auto all = static_cast<std::int64_t>(ranks.size());
    const std::int64_t in_bytes = call.in_elements(all) * size;
    const std::int64_t out_bytes = call.out_elements(all) * size;
    return {static_cast<const std::byte*>(call.in) + r * in_bytes,
            static_cast<std::byte*>(call.out) + r * out_bytes, static_cast<std::size_t>(in_bytes),
            static_cast<std::size_t>(out_bytes)};
  }

  // What a rank does on its own thread: on another device than the first rank's with copies there,
  // which stay if it fails, since NCCL may still use them.
  void run(const NcclCall& call, int r) {
    const Rank& own = rank(r);
    const Rows home = rows(call, r);
    if (own.device == ranks[0].device) {
      everyone.arrive_and_wait();
      enqueue(call, home, r);
      return wait(r);
    }
    void *in = nullptr, *out = nullptr;
    check_cuda(cudaMalloc(&in, std::max<std::size_t>(home.in_bytes, 1)), "allocating a row");
    check_cuda(cudaMalloc(&out, std::max<std::size_t>(home.out_bytes, 1)), "allocating a row");
    const auto copy = [&](void* to, int to_device, const void* from, int from_device,
                          std::size_t bytes) {
      check_cuda(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, own.stream),
                 "copying a row between devices");
    };
    const int first = ranks[0].device;
    copy(in, own.device, home.in, first, home.in_bytes);
    copy(out, own.device, home.out, first, home.out_bytes);
    check_cuda(cudaStreamSynchronize(own.stream), "copying a row between devices");
    everyone.arrive_and_wait();
    enqueue(call, {static_cast<std::byte*>(in), static_cast<std::byte*>(out), 0, 0}, r);
    wait(r);
    copy(home.out, first, out, own.device, home.out_bytes);
    check_cuda(cudaStreamSynchronize(own.stream), "copying a row between devices");
    cudaFree(in);
    cudaFree(out);
  }

  void enqueue(const NcclCall& call, const Rows& of, int r) {
    const Rank& own = rank(r);
    check(vranks::enqueue(nccl, call, of.in, of.out, own.communicator, own.stream), r,
          ("calling " + nccl_name(call.collective)).c_str());
  }

  // Until the rank's stream is idle, looking for asynchronous errors.
  void wait(int r) {
    const Rank& own = rank(r);
    while (true) {
      const cudaError_t status = cudaStreamQuery(own.stream);
      Nccl::Result found = Nccl::success;
      check(nccl.async_error(own.communicator, &found), r, "asking for asynchronous errors");
      check(found, r, "running (an asynchronous error)");
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) check_cuda(status, "waiting for NCCL");
      (void)cudaGetLastError();  // that it isn't ready is no error
      if (stop) throw NcclError("another rank failed");
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  const Nccl nccl;
  std::vector<Rank> ranks;
  const std::chrono::milliseconds patience;
  std::barrier<> everyone;
  std::atomic<bool> stop = false;  // a rank has failed: nobody need wait any more
};

NcclRanks::NcclRanks(const Nccl& nccl, const std::vector<Device>& devices,
                     std::chrono::milliseconds patience)
    : state_(std::make_shared<State>(nccl, devices, patience)) {
  const int ranks = static_cast<int>(std::ssize(devices));
  for (std::size_t r = 1; r < devices.size(); ++r)
    if (std::find(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(r), devices[r]) !=
        devices.begin() + static_cast<std::ptrdiff_t>(r))
      nccl.need_several_ranks();
  Nccl::UniqueId id;
  state_->check(nccl.get_unique_id(&id), 0, "making an id");
  on_every_rank("starting", [id, ranks](State& state, int r) {
    State::Rank& rank = state.rank(r);
    check_cuda(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking), "making a stream");
    check_cuda(cudaEventCreate(&rank.begin), "making an event");
    check_cuda(cudaEventCreate(&rank.end), "making an event");
    state.check(state.nccl.init_rank(&rank.communicator, ranks, id, r), r, "starting");
  });
}

NcclRanks::~NcclRanks() {
  const bool is_broken = state_->stop;
  try {
    on_every_rank("ending", [is_broken](State& state, int r) {
      const State::Rank& rank = state.rank(r);
      // Kernels that wait for others end when their communicator is aborted.
      if (rank.communicator)
        is_broken ? state.nccl.abort(rank.communicator) : state.nccl.destroy(rank.communicator);
      if (is_broken) return;  // waiting threads may still use the rest
      cudaEventDestroy(rank.begin);
      cudaEventDestroy(rank.end);
      cudaStreamDestroy(rank.stream);
    });
  } catch (const std::exception&) {
    // All results are there, or the failure has been told.
  }
}

int NcclRanks::ranks() const { return static_cast<int>(state_->ranks.size()); }

void NcclRanks::run(const NcclCall& call) {
  check_has(state_->nccl, call);
  on_every_rank(std::string(name(call.collective)),
                [call](State& state, int r) { state.run(call, r); });
}

double NcclRanks::seconds(const NcclCall& call, int calls) {
  struct Span {
    Clock::time_point start, end;
  };
  const auto spans = std::make_shared<std::vector<Span>>(state_->ranks.size());
  on_every_rank(std::string(name(call.collective)), [=](State& state, int r) {
    const State::Rank& rank = state.rank(r);
    Span& span = (*spans)[static_cast<std::size_t>(r)];
    state.everyone.arrive_and_wait();
    span.start = Clock::now();
    check_cuda(cudaEventRecord(rank.begin, rank.stream), "recording an event");
    for (int i = 0; i < calls; ++i) state.enqueue(call, state.rows(call, r), r);
    check_cuda(cudaEventRecord(rank.end, rank.stream), "recording an event");
    check_cuda(cudaStreamSynchronize(rank.stream), "waiting for NCCL");
    span.end = Clock::now();
  });
  const auto first = std::ranges::min(*spans, {}, &Span::start).start;
  const auto last = std::ranges::max(*spans, {}, &Span::end).end;
  double seconds = std::chrono::duration<double>(last - first).count();
  for (const State::Rank& rank : state_->ranks) {
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, rank.begin, rank.end), "reading an event");
    seconds = std::min(seconds, milliseconds * 1e-3);
  }
  return seconds / calls;
}

void NcclRanks::on_every_rank(const std::string& doing, Work work) {
  const bool was_broken = state_->stop;
  const auto patience = was_broken ? std::chrono::milliseconds(grace) : state_->patience;
  const auto roll = std::make_shared<Roll>(ranks());
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks(); ++r)
    threads.emplace_back([state = state_, roll, work, r] {
      std::string failure;
      try {
        check_cuda(cudaSetDevice(state->rank(r).device), "choosing the device");
        work(*state, r);
      } catch (const std::exception& error) {
        failure = error.what();
      }
      roll->finish(r, std::move(failure));
    });
  const auto start = Clock::now();
  roll->wait_until(start + patience);
  const std::string problem = roll->problem(doing, patience);
  if (problem.empty()) {
    for (std::thread& thread : threads) thread.join();
    return;
  }
  for (std::thread& thread : threads) thread.detach();
  state_->stop = true;
  if (!was_broken) roll->wait_for_all(Clock::now() + grace);
  throw NcclError(problem);
}

}  // namespace vranks

#else

namespace vranks {

struct NcclRanks::State {};

// An Nccl can't be made without CUDA, so that none of these is ever reached.
NcclRanks::NcclRanks(const Nccl& nccl, const std::vector<Device>&, std::chrono::milliseconds) {
  throw Error(ErrorKind::not_available, "NCCL " + nccl.version_text() + " needs a build with CUDA");
}
NcclRanks::~NcclRanks() = default;
int NcclRanks::ranks() const { return 0; }
void NcclRanks::run(const NcclCall&) {}
double NcclRanks::seconds(const NcclCall&, int) { return 0; }

}  // namespace vranks

#endif
