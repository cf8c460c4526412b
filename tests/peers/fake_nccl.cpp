// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that passes for NCCL and can be wrong: `vranks check --against nccl` has to see it.
// It sums f32 over a chain of ranks in one channel, on the host, and logs what NCCL would.
// FAKE_NCCL_FAULT says what goes wrong:
//   swapped_shards   rank 1 gets both halves of the result exchanged
//   wrong_bit        the lowest bit of one element of the last rank
//   wrong_order      summed from rank 0 on
//   unreduced_tail   the last element of rank 0 is its input
//   unwritten        the last rank gets nothing
//   nan              one element is a NaN
//   error            a call fails on rank 1
//   async_error      a call is enqueued, and fails later
//   hang             rank 1 doesn't come back from the call
//   busy             rank 1's stream is never idle
//   no_start         rank 1 doesn't come back from ncclCommInitRank
//   no_log           nothing is logged
//   other_choice     it logs that another algorithm ran
//   old              it is version 2.29.3
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int success = 0, system_error = 2, internal_error = 3;

bool has_fault(std::string_view fault) {
  const char* const chosen = std::getenv("FAKE_NCCL_FAULT");
  return chosen && fault == chosen;
}

[[noreturn]] void sleep_for_ever() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

struct Clique;

struct Rank {
  Clique* clique = nullptr;
  int rank = 0;
  const void* in = nullptr;
  void* out = nullptr;
  std::atomic<bool> has_failed = false;
};

struct Clique {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Rank*> ranks;
  std::size_t arrived = 0, round = 0;

  // Returns on all ranks once all have come; the last one does `work` first.
  template <class Work>
  void meet(Work&& work) {
    std::unique_lock lock(mutex);
    const std::size_t mine = round;
    if (++arrived == ranks.size()) {
      work();
      arrived = 0;
      ++round;
      changed.notify_all();
      return;
    }
    changed.wait(lock, [&] { return round != mine; });
  }
};

std::mutex global;
Clique* forming = nullptr;
std::FILE* log_file = nullptr;

template <class... Args>
void log_line(const char* format, Args... args) {
  if (has_fault("no_log")) return;
  const std::lock_guard lock(global);
  const char* const path = std::getenv("NCCL_DEBUG_FILE");
  if (!log_file && path) log_file = std::fopen(path, "w");
  if (!log_file) return;
  std::fputs("fake:1:2 [0] NCCL INFO ", log_file);
  std::fprintf(log_file, format, args...);
  std::fputc('\n', log_file);
  std::fflush(log_file);
}

// Results of all ranks, as a chain gives them: x0 + (x1 + (x2 + ...)).
std::vector<std::vector<float>> reduced(const std::vector<std::vector<float>>& in) {
  const std::size_t ranks = in.size(), n = in[0].size();
  std::vector<float> sum = in[ranks - 1];
  for (std::size_t r = ranks - 1; r-- > 0;)
    for (std::size_t i = 0; i < n; ++i) sum[i] = in[r][i] + sum[i];
  if (has_fault("wrong_order")) {
    sum = in[0];
    for (std::size_t r = 1; r < ranks; ++r)
      for (std::size_t i = 0; i < n; ++i) sum[i] += in[r][i];
  }
  return std::vector<std::vector<float>>(ranks, sum);
}

void spoil(std::vector<std::vector<float>>& out, const std::vector<std::vector<float>>& in) {
  const std::size_t n = in[0].size(), last = in.size() - 1;
  if (n < 2) return;
  if (has_fault("swapped_shards"))
    for (std::size_t i = 0; i < n / 2; ++i) std::swap(out[1][i], out[1][i + n / 2]);
  if (has_fault("wrong_bit")) {
    unsigned bits = 0;
    std::memcpy(&bits, &out[last][n / 3], sizeof bits);
    bits ^= 1;
    std::memcpy(&out[last][n / 3], &bits, sizeof bits);
  }
  if (has_fault("unreduced_tail")) out[0][n - 1] = in[0][n - 1];
  const unsigned nan = 0x7fffffff;
  if (has_fault("nan")) std::memcpy(&out[last][n / 2], &nan, sizeof nan);
}

void all_reduce(const std::vector<Rank*>& ranks, std::size_t count) {
  const std::size_t bytes = count * sizeof(float);
  std::vector<std::vector<float>> in(ranks.size(), std::vector<float>(count));
  for (std::size_t r = 0; r < ranks.size(); ++r)
    cudaMemcpy(in[r].data(), ranks[r]->in, bytes, cudaMemcpyDeviceToHost);
  std::vector<std::vector<float>> out = reduced(in);
  spoil(out, in);
  const std::size_t served = ranks.size() - (has_fault("unwritten") ? 1 : 0);
  for (std::size_t r = 0; r < served; ++r)
    cudaMemcpy(ranks[r]->out, out[r].data(), bytes, cudaMemcpyHostToDevice);
}

}  // namespace

extern "C" {

#define VR_EXPORT __attribute__((visibility("default")))

struct UniqueId {
  char bytes[128];
};

VR_EXPORT int ncclGetVersion(int* version) {
  *version = has_fault("old") ? 22903 : 23007;
  return success;
}

VR_EXPORT int ncclGetUniqueId(UniqueId* id) {
  std::memset(id, 0, sizeof *id);
  return success;
}

VR_EXPORT int ncclCommInitRank(void** communicator, int ranks, UniqueId, int rank) {
  if (rank == 1 && has_fault("no_start")) sleep_for_ever();
  auto* const own = new Rank;
  own->rank = rank;
  {
    const std::lock_guard lock(global);
    if (!forming) {
      forming = new Clique;
      forming->ranks.resize(static_cast<std::size_t>(ranks));
    }
    own->clique = forming;
    forming->ranks[static_cast<std::size_t>(rank)] = own;
  }
  own->clique->meet([] {
    const std::lock_guard lock(global);
    forming = nullptr;
  });
  if (rank == 0) {
    char ring[200] = "";
    for (int r = 0, at = 0; r < ranks; ++r)
      at += std::snprintf(ring + at, sizeof ring - static_cast<std::size_t>(at), " %d", r);
    log_line("Channel 00/01 :%s", ring);
  }
  log_line("Trees [0] %d/-1/-1->%d->%d", rank + 1 < ranks ? rank + 1 : -1, rank, rank - 1);
  own->clique->meet([] {});
  *communicator = own;
  return success;
}

VR_EXPORT int ncclAllReduce(const void* in, void* out, std::size_t count, int dtype, int op,
                            void* communicator, cudaStream_t stream) {
  auto* const own = static_cast<Rank*>(communicator);
  if (dtype != 7 || op != 0) return internal_error;
  if (own->rank == 1) {
    if (has_fault("hang")) sleep_for_ever();
    if (has_fault("error")) return system_error;
    if (has_fault("async_error")) {
      own->has_failed = true;
      return success;
    }
  }
  cudaStreamSynchronize(stream);
  own->in = in;
  own->out = out;
  if (own->rank == 0)
    log_line("AllReduce: %ld Bytes -> Algo %s proto SIMPLE channel{Lo..Hi}={0..0}",
             static_cast<long>(4 * count), has_fault("other_choice") ? "RING" : "TREE");
  own->clique->meet([&] { all_reduce(own->clique->ranks, count); });
  if (own->rank == 1 && has_fault("busy"))
    cudaLaunchHostFunc(
        stream, [](void*) { sleep_for_ever(); }, nullptr);
  return success;
}

// What the checks here don't call.
VR_EXPORT int ncclReduce() { return internal_error; }
VR_EXPORT int ncclReduceScatter() { return internal_error; }
VR_EXPORT int ncclAllGather() { return internal_error; }
VR_EXPORT int ncclSend() { return internal_error; }
VR_EXPORT int ncclRecv() { return internal_error; }
VR_EXPORT int ncclGroupStart() { return internal_error; }
VR_EXPORT int ncclGroupEnd() { return internal_error; }
VR_EXPORT int ncclBroadcast() { return internal_error; }

VR_EXPORT int ncclCommGetAsyncError(void* communicator, int* error) {
  *error = static_cast<Rank*>(communicator)->has_failed ? system_error : success;
  return success;
}

VR_EXPORT int ncclCommDestroy(void*) { return success; }
VR_EXPORT int ncclCommAbort(void*) { return success; }

VR_EXPORT const char* ncclGetErrorString(int result) {
  return result == success        ? "no error"
         : result == system_error ? "system error"
                                  : "internal error";
}
VR_EXPORT const char* ncclGetLastError(void*) { return "the fake is to blame"; }

}  // extern "C"
