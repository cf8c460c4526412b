// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/nccl_trial.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "collectives/peers/nccl_ranks.hpp"
#include "kernels/cuda/cuda_error.hpp"
#include "ranks/tensor.hpp"

namespace vranks::nccl_bench {

namespace {

using cuda::check_cuda;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> quotients(a.size());
  std::ranges::transform(a, b, quotients.begin(), std::divides<>());
  return quotients;
}

json microseconds(const std::vector<double>& seconds) {
  const auto [least, most] = std::ranges::minmax(seconds);
  return {{"median", median(seconds) * 1e6}, {"least", least * 1e6}, {"most", most * 1e6}};
}

// Values of either sign between 2^-8 and 2^8, so that the order shows in the last bits.
void fill(const Tensor& tensor) {
  const std::int64_t elements = tensor.elements();
  const auto bits = [](std::int64_t i) {
    std::uint64_t x = static_cast<std::uint64_t>(i) + 0x9e3779b97f4a7c15;  // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
    return static_cast<std::uint32_t>((x & 0x807fffff) | (119 + (x >> 60)) << 23);
  };
  const bool is_f32 = tensor.dtype() == DType::f32;
  auto* const words = reinterpret_cast<std::uint32_t*>(tensor.data());
  auto* const halves = reinterpret_cast<std::uint16_t*>(tensor.data());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < elements; ++i) {
    if (is_f32) {
      words[i] = bits(i);
    } else {
      halves[i] = static_cast<std::uint16_t>(bits(i) >> 16);
    }
  }
}

std::int64_t differing(const Tensor& a, const Tensor& b) {
  const std::size_t width = size_bytes(a.dtype());
  const std::int64_t elements = a.elements();
  std::int64_t count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * width;
    count += std::memcmp(a.data() + at, b.data() + at, width) != 0;
  }
  return count;
}

// An algorithm of vranks, and the NCCL that it mirrors.
struct Candidate {
  std::string algorithm = "nccl_ring", protocol = "simple";
  std::int64_t differing = -1;  // elements

  std::string text() const { return algorithm.substr(5) + " " + protocol; }
};

class Trial {
 public:
  Trial(const Nccl& nccl, NcclRanks& nccl_ranks, const Setting& setting, std::int64_t channels,
        std::int64_t ranks, std::int64_t bytes, DType dtype)
      : nccl_(nccl),
        nccl_ranks_(nccl_ranks),
        setting_(setting),
        channels_(static_cast<std::int32_t>(channels)),
        dtype_(dtype),
        shape_{ranks, bytes / static_cast<std::int64_t>(size_bytes(dtype))},
        total_(static_cast<std::size_t>(ranks * bytes)),
        calls_(static_cast<int>(std::clamp<std::int64_t>((64 << 20) / bytes, 4, 100))),
        input_(total_, device_),
        data_(total_, device_),
        theirs_(dtype, shape_),
        ours_(dtype, shape_) {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    check_cuda(cudaEventCreate(&begin_), "making an event");
    check_cuda(cudaEventCreate(&end_), "making an event");
    fill(ours_);
    input_.copy_from_host(ours_.data(), total_);
  }
  ~Trial() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  json row(int rounds) {
    restore();
    nccl_average(1);
    data_.copy_to_host(theirs_.data(), total_);
    const Candidate mirror = find_mirror();
    const std::int64_t direct_differing = compare("direct", mirror);

    std::vector<double> nccl, ring, tree, direct;
    for (int i = -1; i < rounds; ++i) {
      const double times[] = {nccl_average(calls_), average("nccl_ring", mirror),
                              average("nccl_tree", mirror), average("direct", mirror)};
      if (i < 0) continue;  // the first warms up
      nccl.push_back(times[0]);
      ring.push_back(times[1]);
      tree.push_back(times[2]);
      direct.push_back(times[3]);
    }
    return {{"setting", setting_.text()},
            {"channels", channels_},
            {"ranks", shape_[0]},
            {"bytes", static_cast<std::int64_t>(total_) / shape_[0]},
            {"dtype", name(dtype_)},
            {"rounds", rounds},
            {"calls", calls_},
            {"nccl_us", microseconds(nccl)},
            {"nccl_ring_us", microseconds(ring)},
            {"nccl_tree_us", microseconds(tree)},
            {"direct_us", microseconds(direct)},
            {"ratio", median(ratios(nccl, mirror.algorithm == "nccl_ring" ? ring : tree))},
            {"ratio_direct", median(ratios(nccl, direct))},
            {"bits",
             {{"equal", mirror.differing == 0},
              {"as", mirror.text()},
              {"differing", mirror.differing},
              {"direct_differing", direct_differing}}}};
  }

 private:
  // The first candidate with NCCL's bits, otherwise the one that differs least.
  Candidate find_mirror() {
    std::optional<Candidate> best;
    for (const std::string algorithm : {"ring", "tree"})
      for (const std::string protocol : {"simple", "ll", "ll128"}) {
        if (!setting_.algorithm.empty() && setting_.algorithm != algorithm) continue;
        if (!setting_.protocol.empty() && setting_.protocol != protocol) continue;
        Candidate candidate{"nccl_" + algorithm, protocol};
        candidate.differing = compare(candidate.algorithm, candidate);
        if (!best || candidate.differing < best->differing) best = candidate;
        if (best->differing == 0) return *best;
      }
    return *best;
  }

  // Elements in which that algorithm's result differs from NCCL's, on all ranks.
  std::int64_t compare(std::string_view algorithm, const Candidate& candidate) {
    restore();
    call(algorithm, candidate);
    check_cuda(cudaStreamSynchronize(stream_), "waiting for vranks");
    data_.copy_to_host(ours_.data(), total_);
    return differing(ours_, theirs_);
  }

  void restore() {
    check_cuda(
        cudaMemcpyAsync(data_.data(), input_.data(), total_, cudaMemcpyDeviceToDevice, stream_),
        "copying the input");
    check_cuda(cudaStreamSynchronize(stream_), "copying the input");
  }

  double nccl_average(int calls) {
    return nccl_ranks_.seconds({.collective = Collective::all_reduce,
                                .op = ReduceOp::mean,
                                .dtype = dtype_,
                                .in = data_.data(),
                                .out = data_.data(),
                                .count = shape_[1]},
                               calls);
  }

  void call(std::string_view algorithm, const Candidate& candidate) {
    CollectiveOptions options{.op = ReduceOp::mean, .algorithm = algorithm, .stream = stream_};
    if (algorithm != "direct") {
      options.parameters.protocol = parse_protocol(candidate.protocol);
      options.parameters.channels = channels_;
      options.parameters.nccl_version = nccl_.version_text();
    }
    const TensorView view{data_.data(), dtype_, shape_, {}, device_};
    all_reduce(view, view, options);
  }

  // Seconds a call of vranks, measured as NCCL's are.
  double average(std::string_view algorithm, const Candidate& candidate) {
    const auto start = Clock::now();
    check_cuda(cudaEventRecord(begin_, stream_), "recording an event");
    for (int i = 0; i < calls_; ++i) call(algorithm, candidate);
    check_cuda(cudaEventRecord(end_, stream_), "recording an event");
    check_cuda(cudaStreamSynchronize(stream_), "waiting for vranks");
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading an event");
    return std::min(seconds, milliseconds * 1e-3) / calls_;
  }

  const Nccl& nccl_;
  NcclRanks& nccl_ranks_;
  Setting setting_;
  std::int32_t channels_;
  DType dtype_;
  Shape shape_;
  std::size_t total_;
  int calls_;
  Device device_ = parse_device("cuda:0");
  DeviceBuffer input_, data_;
  Tensor theirs_, ours_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

void measure(const Options& options) {
  const Setting& setting = options.settings[0];
  const std::int64_t channels = options.channels[0], ranks = options.ranks[0];
  // Before CUDA and NCCL are used, which read it once.
  NcclSetting nccl_setting{.algorithm = setting.algorithm,
                           .channels = static_cast<std::int32_t>(channels)};
  if (!setting.protocol.empty()) nccl_setting.protocol = parse_protocol(setting.protocol);
  set_nccl_environment(nccl_setting);
  const Nccl nccl(options.library, "--library");
  NcclRanks nccl_ranks(nccl, std::vector(static_cast<std::size_t>(ranks), parse_device("cuda:0")),
                       std::chrono::seconds(options.timeout));
  for (const DType dtype : options.dtypes)
    for (const std::int64_t bytes : options.bytes) {
      const json row =
          Trial(nccl, nccl_ranks, setting, channels, ranks, bytes, dtype).row(options.rounds);
      fmt::print("{}\n", row.dump());
      std::fflush(stdout);
    }
}

}  // namespace vranks::nccl_bench
