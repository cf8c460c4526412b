// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What a call on small tensors costs: a plain call beside the launch of an empty kernel, in turn,
// and a call captured in a CUDA graph. Medians of `rounds` rounds of 1000 calls.
//   calls_bench [rounds]     default 41
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "kernels/cuda/cuda_error.hpp"
#include "ranks/tensor.hpp"

namespace {

using namespace vranks;
using cuda::check_cuda;

constexpr int calls = 1000;

__global__ void empty_kernel() {}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

// Microseconds a call, from the first to the end of the last on the device.
double microseconds(int repeats, const std::function<void()>& call) {
  check_cuda(cudaDeviceSynchronize(), "waiting for the device");
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) call();
  check_cuda(cudaDeviceSynchronize(), "waiting for the device");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats *
         1e6;
}

// A graph of `calls` calls, one after the other.
cudaGraphExec_t captured(cudaStream_t stream, const std::function<void()>& call) {
  cudaGraph_t graph;
  cudaGraphExec_t runs;
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing");
  for (int i = 0; i < calls; ++i) call();
  check_cuda(cudaStreamEndCapture(stream, &graph), "capturing");
  check_cuda(cudaGraphInstantiate(&runs, graph, 0), "making a graph");
  check_cuda(cudaGraphDestroy(graph), "freeing a graph");
  return runs;
}

struct Case {
  Collective collective;
  std::string_view algorithm;
  Shape shape;
};

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 41;
  const Device device = parse_device("cuda:0");
  cudaStream_t stream;
  check_cuda(cudaStreamCreate(&stream), "making a stream");
  const auto launch_empty = [&] { empty_kernel<<<1, 128, 0, stream>>>(); };
  launch_empty();

  // nvcc can't check fmt's format strings.
  std::printf("%-14s %-10s %-12s %9s %9s %7s %9s %9s\n", "collective", "algorithm", "shape",
              "call us", "empty us", "ratio", "graph us", "empty us");
  const cudaGraphExec_t empty_graph = captured(stream, launch_empty);
  for (const Case& c : {Case{Collective::reduce, "direct", {4, 16, 48}},
                        Case{Collective::all_reduce, "direct", {4, 16, 48}},
                        Case{Collective::all_reduce, "ring", {4, 16, 48}},
                        Case{Collective::all_gather, "direct", {4, 16, 48}},
                        Case{Collective::reduce, "direct", {8, 1024}},
                        Case{Collective::reduce, "direct", {8, 65536}}}) {
    const CollectiveOptions options{
        .op = ReduceOp::mean, .algorithm = c.algorithm, .stream = stream};
    const Shape out_shape = output_shape(c.collective, c.shape, options);
    const auto bytes = [](const Shape& shape) {
      return static_cast<std::size_t>(element_count(shape)) * sizeof(float);
    };
    const DeviceBuffer in(bytes(c.shape), device), out(bytes(out_shape), device);
    check_cuda(cudaMemset(in.data(), 0, bytes(c.shape)), "clearing memory");
    const TensorView from{in.data(), DType::f32, c.shape, {}, device};
    const TensorView to{out.data(), DType::f32, out_shape, {}, device};
    const auto call = [&] { run(c.collective, from, to, options); };
    call();
    const cudaGraphExec_t graph = captured(stream, call);
    const auto run_graph = [&](cudaGraphExec_t runs) {
      return microseconds(1,
                          [&] { check_cuda(cudaGraphLaunch(runs, stream), "running a graph"); }) /
             calls;
    };
    std::vector<double> call_times, empty_times, ratios, graph_times, empty_graph_times;
    for (int i = 0; i < rounds; ++i) {
      call_times.push_back(microseconds(calls, call));
      empty_times.push_back(microseconds(calls, launch_empty));
      ratios.push_back(call_times.back() / empty_times.back());
      graph_times.push_back(run_graph(graph));
      empty_graph_times.push_back(run_graph(empty_graph));
    }
    std::printf("%-14s %-10s %-12s %9.2f %9.2f %7.2f %9.2f %9.2f\n",
                std::string(name(c.collective)).c_str(), std::string(c.algorithm).c_str(),
                to_string(c.shape).c_str(), median(call_times), median(empty_times), median(ratios),
                median(graph_times), median(empty_graph_times));
    check_cuda(cudaGraphExecDestroy(graph), "freeing a graph");
  }
}
