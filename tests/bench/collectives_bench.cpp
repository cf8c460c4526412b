// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory speed of collectives: bytes read + written per second beside a plain copy (memcpy on the
// CPU, cudaMemcpyAsync on CUDA), call for call in turn, and the median of the ratios. A broadcast
// reads n and writes R n, an all-gather reads R n and writes R R n.
//   collectives_bench [device [ranks [MiB a rank [rounds]]]]     default: cpu 4 64 11
// OMP_NUM_THREADS says how many threads both have.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "ranks/random.hpp"
#include "ranks/tensor.hpp"

#if VRANKS_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

using namespace vranks;

constexpr double goal = 0.85;  // of the copy, on the CPU

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

// Copies `bytes` on the device; on the CPU by all threads.
void plain_copy(const DeviceBuffer& from, const DeviceBuffer& to, std::int64_t bytes,
                Device device) {
  const auto* const source = static_cast<const std::byte*>(from.data());
  auto* const target = static_cast<std::byte*>(to.data());
#if VRANKS_HAVE_CUDA
  if (device.kind == DeviceKind::cuda) {
    cudaMemcpyAsync(target, source, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                    nullptr);
    return;
  }
#else
  static_cast<void>(device);
#endif
  // One piece a thread: memcpy writes around the caches only where it sees that much at once.
  const std::int64_t threads = omp_get_max_threads(), piece = (bytes + threads - 1) / threads;
#pragma omp parallel for schedule(static)
  for (std::int64_t at = 0; at < bytes; at += piece)
    std::memcpy(target + at, source + at, static_cast<std::size_t>(std::min(piece, bytes - at)));
}

struct Row {
  Collective collective;
  DType dtype;
  ReduceOp op;
};

// Returns the median ratio.
double measure(const Row& row, std::int64_t ranks, std::int64_t slice_bytes, int rounds,
               Device device) {
  const CollectiveOptions options{.op = row.op};
  const std::int64_t n =
      slice_bytes / static_cast<std::int64_t>(size_bytes(row.dtype)) / ranks * ranks;
  const Shape in_shape{ranks, n}, out_shape = output_shape(row.collective, in_shape, options);
  const auto bytes_of = [&](const Shape& shape) {
    return element_count(shape) * static_cast<std::int64_t>(size_bytes(row.dtype));
  };
  const std::int64_t in_bytes = bytes_of(in_shape), out_bytes = bytes_of(out_shape);
  const DeviceBuffer in(static_cast<std::size_t>(in_bytes), device);
  const DeviceBuffer out(static_cast<std::size_t>(std::max(in_bytes, out_bytes)), device);
  {
    const Tensor host(row.dtype, in_shape);
    fill_random(host.view(), 1);
    in.copy_from_host(host.data(), static_cast<std::size_t>(in_bytes));
  }
  const TensorView from{in.data(), row.dtype, in_shape, {}, device};
  const TensorView to{out.data(), row.dtype, out_shape, {}, device};
  const bool reads_one =
      row.collective == Collective::broadcast || row.collective == Collective::scatter;
  const auto touched = static_cast<double>((reads_one ? in_bytes / ranks : in_bytes) + out_bytes);
  const Backend& backend = backend_for(device);
  std::vector<double> ratios, times, copies;
  for (int i = 0; i < rounds; ++i) {
    copies.push_back(
        backend.time(1, device.index, [&] { plain_copy(in, out, in_bytes, device); })[0]);
    times.push_back(
        backend.time(1, device.index, [&] { run(row.collective, from, to, options); })[0]);
    ratios.push_back(touched / times.back() / (2 * static_cast<double>(in_bytes) / copies.back()));
  }
  const auto [least, most] = std::ranges::minmax(ratios);
  const double ratio = median(ratios);
  fmt::print("{:<16} {:<5} {:<5} {:>8.1f} {:>8.1f} {:>7.3f} {:>7.3f} {:>7.3f}{}\n",
             name(row.collective), name(row.dtype), reduces(row.collective) ? name(row.op) : "",
             touched / median(times) * 1e-9,
             2 * static_cast<double>(in_bytes) / median(copies) * 1e-9, ratio, least, most,
             ratio < goal ? "  below the goal" : "");
  return ratio;
}

}  // namespace

int main(int count, char** arguments) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(i < count ? arguments[i] : otherwise);
  };
  const Device device = parse_device(argument(1, "cpu"));
  const std::int64_t ranks = std::atoll(argument(2, "4").c_str());
  const std::int64_t mebibytes = std::atoll(argument(3, "64").c_str());
  const int rounds = std::atoi(argument(4, "11").c_str());
  fmt::print("{} ranks, {} MiB each, {}: beside a copy, in turn, {} rounds; goal {}\n", ranks,
             mebibytes, to_string(device), rounds, goal);
  fmt::print("{:<16} {:<5} {:<5} {:>8} {:>8} {:>7} {:>7} {:>7}\n", "collective", "dtype", "op",
             "GB/s", "copy", "ratio", "least", "most");
  std::vector<Row> rows;
  for (const Collective collective :
       {Collective::all_gather, Collective::all_to_all, Collective::broadcast, Collective::gather,
        Collective::scatter})
    for (const DType dtype : {DType::u8, DType::f32})
      rows.push_back({collective, dtype, ReduceOp::sum});
  for (const Collective collective :
       {Collective::reduce, Collective::all_reduce, Collective::reduce_scatter})
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean})
        rows.push_back({collective, dtype, op});
  std::int64_t below = 0;
  for (const Row& row : rows) below += measure(row, ranks, mebibytes << 20, rounds, device) < goal;
  fmt::print("{} of {} reach {} of the copy's speed\n", std::ssize(rows) - below, std::ssize(rows),
             goal);
}
