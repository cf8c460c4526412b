// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory speed of the reductions: reduce_bench [MiB of input, default 64; 2048 on CUDA] [options of
// Google Benchmark]. Every number is the median of 21 calls on data that no cache holds, in bytes
// read + written per second. `copy` is the same measure for a plain copy, on the same device in the
// same run.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "collectives/collectives.hpp"
#include "ranks/tensor.hpp"

namespace {

using namespace vranks;

constexpr int calls = 21;

double median(std::vector<double> seconds) {
  std::nth_element(seconds.begin(), seconds.begin() + calls / 2, seconds.end());
  return seconds[calls / 2];
}

void report(benchmark::State& state, double seconds, std::int64_t bytes) {
  state.SetIterationTime(seconds);
  state.counters["bytes_per_second"] =
      benchmark::Counter(static_cast<double>(bytes) / seconds, benchmark::Counter::kDefaults,
                         benchmark::Counter::kIs1000);
}

// A buffer of small positive floats of that dtype; zeros would be faster than real data.
DeviceBuffer numbers(std::size_t bytes, DType dtype, Device device) {
  const Tensor host(DType::u8, {static_cast<std::int64_t>(bytes)});
  std::uint32_t hash = 1;
  for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
    hash = hash * 1664525 + 1013904223;
    // 0x3f in the top byte is near 1 in f32, f64 and bf16, 0x3c in f16, and 0x38 in f8e4m3.
    const std::uint32_t bits = dtype == DType::f16      ? 0x3c003c00u | (hash >> 8 & 0x01ff01ffu)
                               : dtype == DType::bf16   ? 0x3f003f00u | (hash >> 8 & 0x007f007fu)
                               : dtype == DType::f8e4m3 ? 0x38383838u | (hash >> 8 & 0x07070707u)
                                                        : 0x3f000000u | (hash >> 9);
    std::memcpy(host.data() + i, &bits, 4);
  }
  DeviceBuffer buffer(bytes, device);
  buffer.copy_from_host(host.data(), bytes);
  return buffer;
}

struct Setup {
  Collective collective;
  DType dtype;
  ReduceOp op;
  std::int64_t ranks;
  std::int64_t input_bytes;
  bool in_place;
  Device device;
  bool odd = false;  // rows of an odd number of elements, none of which begins like the others
};

void run(benchmark::State& state, const Setup& s) {
  const auto width = static_cast<std::int64_t>(size_bytes(s.dtype));
  const std::int64_t n = s.input_bytes / s.ranks / width / 64 * 64 - (s.odd ? 1 : 0);
  const std::int64_t row = n * width;
  const bool all = s.collective == Collective::all_reduce;
  const std::int64_t out_bytes = all ? s.ranks * row : row;
  const DeviceBuffer in = numbers(static_cast<std::size_t>(s.ranks * row), s.dtype, s.device);
  const DeviceBuffer out(static_cast<std::size_t>(s.in_place ? 1 : out_bytes), s.device);
  const TensorView from{in.data(), s.dtype, {s.ranks, n}, {}, s.device};
  const TensorView to{s.in_place ? in.data() : out.data(),
                      s.dtype,
                      all ? Shape{s.ranks, n} : Shape{n},
                      {},
                      s.device};
  for (auto _ : state) {
    const auto call = [&] {
      all ? all_reduce(from, to, {.op = s.op}) : reduce_ranks(from, to, {.op = s.op});
    };
    const double seconds = median(backend_for(s.device).time(calls, s.device.index, call));
    report(state, seconds, s.ranks * row + out_bytes);
  }
}

// What the device's own copy reaches: half of the bytes are read, half written.
void copy(benchmark::State& state, std::int64_t bytes, Device device) {
  const DeviceBuffer in = numbers(static_cast<std::size_t>(bytes), DType::f32, device);
  const DeviceBuffer out(static_cast<std::size_t>(bytes), device);
  // One rank: the reduction is a copy.
  const TensorView from{in.data(), DType::u8, {1, bytes}, {}, device};
  const TensorView to{out.data(), DType::u8, {bytes}, {}, device};
  for (auto _ : state) {
    const double seconds =
        median(backend_for(device).time(calls, device.index, [&] { reduce_ranks(from, to); }));
    report(state, seconds, 2 * bytes);
  }
}

template <class F>
void add(const std::string& name, F run_it) {
  benchmark::RegisterBenchmark(name.c_str(), run_it)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t mebibytes = 0;
  if (argc > 1 &&
      std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), mebibytes).ec == std::errc{}) {
    argv[1] = argv[0];
    ++argv, --argc;
  }
  for (const Backend* backend : backends()) {
    if (backend->device_count() == 0) continue;
    const Device device{backend->kind(), 0};
    const bool cuda = device.kind == DeviceKind::cuda;
    const std::int64_t bytes = (mebibytes != 0 ? mebibytes : cuda ? 2048 : 64) << 20;
    add(fmt::format("{}/copy", backend->name()),
        [=](benchmark::State& state) { copy(state, bytes / 2, device); });
    const auto add_setup = [&](const Setup& s) {
      add(fmt::format("{}/{}{}{}/{}/{}/R:{}", backend->name(), name(s.collective),
                      s.in_place ? " in place" : "", s.odd ? " odd" : "", name(s.op), name(s.dtype),
                      s.ranks),
          [=](benchmark::State& state) { run(state, s); });
    };
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64, DType::f8e4m3})
      for (const std::int64_t ranks : {2, 4, 8, 16, 64, 256, 1024})
        add_setup({Collective::reduce, dtype, ReduceOp::mean, ranks, bytes, false, device});
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const std::int64_t ranks : {2, 4, 8, 64})
        add_setup({Collective::all_reduce, dtype, ReduceOp::mean, ranks, bytes, true, device});
    for (const DType dtype : {DType::f32, DType::bf16, DType::f8e4m3})
      for (const std::int64_t ranks : {2, 8, 64})
        add_setup({Collective::reduce, dtype, ReduceOp::mean, ranks, bytes, false, device, true});
    for (const DType dtype : {DType::f32, DType::bf16, DType::f8e4m3, DType::i32, DType::i8})
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::prod})
        add_setup({Collective::reduce, dtype, op, 8, bytes, false, device});
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
