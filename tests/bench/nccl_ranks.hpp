// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Real NCCL ranks on one card, for nccl_bench: a library loaded at run time, and a communicator, a
// stream and a thread for each rank of this process.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "kernels/cuda/cuda_error.hpp"
#include "ranks/dtype.hpp"
#include "ranks/error.hpp"

namespace vranks {

// What is called of nccl.h; none of it has changed since NCCL 2.10.
struct Nccl {
  using Result = int;  // 0: success
  using Communicator = void*;
  struct UniqueId {
    char bytes[128];
  };
  static constexpr int f32 = 7, bf16 = 9, average = 4;
  static constexpr int least_version = 23000;  // the first with several ranks on one card

  Result (*get_version)(int*);
  Result (*get_unique_id)(UniqueId*);
  Result (*init_rank)(Communicator*, int ranks, UniqueId, int rank);
  Result (*all_reduce)(const void* in, void* out, std::size_t count, int dtype, int op,
                       Communicator, cudaStream_t);
  Result (*destroy)(Communicator);
  const char* (*error_string)(Result);
  const char* (*last_error)(Communicator);
  int version = 0;
  std::string path;

  // Throws not_available if there is no such library or if it is too old.
  explicit Nccl(const std::string& name);

  std::string version_text() const { return text(version); }
  static std::string text(int version) {
    return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  }
};

inline Nccl::Nccl(const std::string& name) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(ErrorKind::not_available,
                fmt::format("NCCL can't be loaded: {}; --library says where it is", dlerror()));
  const auto find = [&](auto& function, const char* symbol) {
    void* const found = dlsym(library, symbol);
    if (!found)
      throw Error(ErrorKind::not_available, fmt::format("{} has no {}: is it NCCL?", name, symbol));
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
  };
  find(get_version, "ncclGetVersion");
  get_version(&version);
  Dl_info info;
  path = dladdr(reinterpret_cast<void*>(get_version), &info) ? info.dli_fname : name;
  if (version < least_version)
    throw Error(ErrorKind::not_available,
                fmt::format("{} is NCCL {}; several ranks on one card need NCCL {} or newer "
                            "(--library says where it is)",
                            path, version_text(), text(least_version)));
  find(get_unique_id, "ncclGetUniqueId");
  find(init_rank, "ncclCommInitRank");
  find(all_reduce, "ncclAllReduce");
  find(destroy, "ncclCommDestroy");
  find(error_string, "ncclGetErrorString");
  find(last_error, "ncclGetLastError");
}

// `ranks` communicators of one clique on device 0. A failure ends the process: the other ranks
// would wait for ever.
class NcclRanks {
 public:
  NcclRanks(const Nccl& nccl, int ranks);
  ~NcclRanks();
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  // Averages the rows of `data`, one a rank, in place: `calls` times. Returns seconds a call, by
  // the clock from the first rank's start to the last one's end, or by the events of the rank
  // whose stream was busy for the shortest time, whichever is less.
  double average(void* data, std::size_t row_elements, DType dtype, int calls);

 private:
  struct Rank {
    Nccl::Communicator communicator = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;
  };
  using Clock = std::chrono::steady_clock;

  void on_every_rank(const std::function<void(int)>& work);
  void check(Nccl::Result result, int rank, const char* doing) const;

  const Nccl& nccl_;
  std::vector<Rank> ranks_;
};

inline NcclRanks::NcclRanks(const Nccl& nccl, int ranks)
    : nccl_(nccl), ranks_(static_cast<std::size_t>(ranks)) {
  Nccl::UniqueId id;
  check(nccl.get_unique_id(&id), 0, "making an id");
  on_every_rank([&](int r) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    cuda::check_cuda(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking),
                     "making a stream");
    cuda::check_cuda(cudaEventCreate(&rank.begin), "making an event");
    cuda::check_cuda(cudaEventCreate(&rank.end), "making an event");
    check(nccl_.init_rank(&rank.communicator, ranks, id, r), r, "starting");
  });
}

inline NcclRanks::~NcclRanks() {
  on_every_rank([&](int r) {
    const Rank& rank = ranks_[static_cast<std::size_t>(r)];
    check(nccl_.destroy(rank.communicator), r, "ending");
    cudaEventDestroy(rank.begin);
    cudaEventDestroy(rank.end);
    cudaStreamDestroy(rank.stream);
  });
}

inline double NcclRanks::average(void* data, std::size_t row_elements, DType dtype, int calls) {
  std::barrier everyone(std::ssize(ranks_));
  std::vector<Clock::time_point> starts(ranks_.size()), ends(ranks_.size());
  const int nccl_dtype = dtype == DType::f32 ? Nccl::f32 : Nccl::bf16;
  on_every_rank([&](int r) {
    const auto i = static_cast<std::size_t>(r);
    const Rank& rank = ranks_[i];
    std::byte* const row = static_cast<std::byte*>(data) + i * row_elements * size_bytes(dtype);
    everyone.arrive_and_wait();
    starts[i] = Clock::now();
    cuda::check_cuda(cudaEventRecord(rank.begin, rank.stream), "recording an event");
    for (int call = 0; call < calls; ++call)
      check(nccl_.all_reduce(row, row, row_elements, nccl_dtype, Nccl::average, rank.communicator,
                             rank.stream),
            r, "calling ncclAllReduce");
    cuda::check_cuda(cudaEventRecord(rank.end, rank.stream), "recording an event");
    cuda::check_cuda(cudaStreamSynchronize(rank.stream), "waiting for NCCL");
    ends[i] = Clock::now();
  });
  double seconds =
      std::chrono::duration<double>(std::ranges::max(ends) - std::ranges::min(starts)).count();
  for (const Rank& rank : ranks_) {
    float milliseconds = 0;
    cuda::check_cuda(cudaEventElapsedTime(&milliseconds, rank.begin, rank.end), "reading an event");
    seconds = std::min(seconds, milliseconds * 1e-3);
  }
  return seconds / calls;
}

inline void NcclRanks::on_every_rank(const std::function<void(int)>& work) {
  std::vector<std::jthread> threads;
  for (int r = 0; r < static_cast<int>(std::ssize(ranks_)); ++r)
    threads.emplace_back([&work, r] {
      try {
        cuda::check_cuda(cudaSetDevice(0), "choosing the device");
        work(r);
      } catch (const std::exception& error) {
        fmt::print(stderr, "nccl_bench: rank {}: {}\n", r, error.what());
        std::fflush(stderr);
        std::_Exit(1);
      }
    });
}

inline void NcclRanks::check(Nccl::Result result, int rank, const char* doing) const {
  if (result == 0) return;
  throw Error(ErrorKind::device,
              fmt::format("NCCL failed while {}: {}; {}", doing, nccl_.error_string(result),
                          nccl_.last_error(ranks_[static_cast<std::size_t>(rank)].communicator)));
}

}  // namespace vranks
