// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What the order of an algorithm costs: the fused all-reduce of each algorithm beside `direct`,
// call for call in turn, and the median of the ratios.
//   orders_bench [device [ranks [elements [rounds [all]]]]]     default: cpu 8 4194304 21
// `all`: every algorithm of the registry, sums of f32 alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "ranks/random.hpp"
#include "ranks/tensor.hpp"

namespace {

using namespace vranks;

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

struct Tensors {
  DeviceBuffer in, out;
  TensorView from, to;

  Tensors(DType dtype, const Shape& shape, Device device)
      : in(bytes(dtype, shape), device), out(bytes(dtype, shape), device) {
    const Tensor host(dtype, shape);
    fill_random(host.view(), 1);
    in.copy_from_host(host.data(), bytes(dtype, shape));
    from = {in.data(), dtype, shape, {}, device};
    to = {out.data(), dtype, shape, {}, device};
  }
  static std::size_t bytes(DType dtype, const Shape& shape) {
    return static_cast<std::size_t>(element_count(shape)) * size_bytes(dtype);
  }
};

void compare(const Tensors& tensors, DType dtype, ReduceOp op, std::string_view algorithm,
             int rounds) {
  const Backend& backend = backend_for(tensors.from.device);
  const auto seconds = [&](std::string_view which) {
    const CollectiveOptions options{.op = op, .algorithm = which};
    const auto call = [&] { all_reduce(tensors.from, tensors.to, options); };
    return backend.time(1, tensors.from.device.index, call)[0];
  };
  std::vector<double> ratios, times;
  for (int i = 0; i < rounds; ++i) {
    const double direct = seconds("direct");
    times.push_back(seconds(algorithm));
    ratios.push_back(times.back() / direct);
  }
  const double bytes = static_cast<double>(tensors.from.bytes() + tensors.to.bytes());
  const auto [least, most] = std::ranges::minmax(ratios);
  fmt::print("{:<26} {:<5} {:<5} {:>7.3f} {:>7.3f} {:>7.3f} {:>9.1f}\n", algorithm, name(dtype),
             name(op), median(ratios), least, most, bytes / median(times) * 1e-9);
}

}  // namespace

int main(int count, char** arguments) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(i < count ? arguments[i] : otherwise);
  };
  const Device device = parse_device(argument(1, "cpu"));
  const Shape shape{std::atoll(argument(2, "8").c_str()),
                    std::atoll(argument(3, "4194304").c_str())};
  const int rounds = std::atoi(argument(4, "21").c_str());
  fmt::print("all_reduce over {}, {}: time as a multiple of direct's, in turn, {} rounds\n",
             to_string(shape), to_string(device), rounds);
  fmt::print("{:<26} {:<5} {:<5} {:>7} {:>7} {:>7} {:>9}\n", "algorithm", "dtype", "op", "median",
             "least", "most", "GB/s");
  if (argument(5, "") == "all") {
    const Tensors tensors(DType::f32, shape, device);
    for (const Algorithm& each : algorithms())
      if (supports(each, Collective::all_reduce))
        compare(tensors, DType::f32, ReduceOp::sum, each.name, rounds);
    return 0;
  }
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Tensors tensors(dtype, shape, device);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean})
      for (const std::string_view algorithm :
           {"direct", "ring", "recursive_doubling", "ompi_rabenseifner", "nccl_ring", "nccl_tree",
            "halving_doubling"})
        compare(tensors, dtype, op, algorithm, rounds);
  }
}
