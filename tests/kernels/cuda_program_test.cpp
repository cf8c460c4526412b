// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds for fold programs on CUDA alone: they can be captured in a graph and replayed on new
// data, and code that is none is refused.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "kernels/backend.hpp"
#include "ranks/error.hpp"

#if VRANKS_HAVE_CUDA
#include "kernels/cuda/cuda_error.hpp"

namespace vranks {
namespace {

constexpr Device cuda_device{DeviceKind::cuda, 0};

class CudaProgram : public testing::Test {
 protected:
  void SetUp() override {
    try {
      backend_for(cuda_device);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  // The sum of `ranks` rows, in one piece for every `columns` of `all` columns.
  static FoldProgram sum(std::int32_t ranks, std::int64_t columns, std::int64_t all) {
    FoldProgram program{.arithmetic = {.dtype = DType::f32, .op = ReduceOp::sum},
                        .code = {{0, FoldAction::load}},
                        .pieces = {},
                        .stack = 1};
    for (std::int32_t row = 1; row < ranks; ++row)
      program.code.push_back({row, FoldAction::leaf_right});
    for (std::int64_t begin = 0; begin < all; begin += columns)
      program.pieces.push_back({.begin = begin,
                                .end = std::min(all, begin + columns),
                                .out_begin = begin,
                                .length = ranks,
                                .out_rows = ranks});
    return program;
  }
};

TEST_F(CudaProgram, ReplaysInAGraph) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  constexpr std::int32_t ranks = 6;
  constexpr std::int64_t n = 1000;
  // Few pieces travel with the launch, many lie in device memory.
  for (const std::int64_t columns : {n, std::int64_t{10}}) {
    const auto prepared =
        backend_for(cuda_device).prepare(sum(ranks, columns, n), cuda_device.index);
    std::vector<float> host(ranks * n);
    const std::size_t bytes = host.size() * sizeof(float);
    const DeviceBuffer x(bytes, cuda_device);
    auto* const data = static_cast<std::byte*>(x.data());
    constexpr auto stride = static_cast<std::int64_t>(n * sizeof(float));
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    // Rows at equal distances need no workspace.
    const RowAddresses rows{.data = data, .stride_bytes = stride};
    prepared->run({.in = rows, .out = rows}, {}, stream);
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
    for (const float start : {0.0f, 100.0f}) {
      std::iota(host.begin(), host.end(), start);
      x.copy_from_host(host.data(), bytes);
      ASSERT_EQ(cudaGraphLaunch(replay, stream), cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      x.copy_to_host(host.data(), bytes);
      for (std::int64_t k = 0; k < ranks * n; ++k)
        ASSERT_EQ(host[static_cast<std::size_t>(k)],
                  static_cast<float>(ranks) * (start + static_cast<float>(k % n)) +
                      static_cast<float>(n * ranks * (ranks - 1) / 2));
    }
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
  }
  cudaStreamDestroy(stream);
}

// Processors convert 8-bit floats in ways of their own: all pairs of all of them.
TEST_F(CudaProgram, EightBitFloatsAreThoseOfTheCpu) {
  std::vector<std::uint8_t> in(2 * 65536);
  for (std::size_t k = 0; k < 65536; ++k) {
    in[k] = static_cast<std::uint8_t>(k);
    in[65536 + k] = static_cast<std::uint8_t>(k >> 8);
  }
  for (const DType dtype : {DType::f8e4m3, DType::f8e5m2})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod})
      for (const Fp8Mode mode : {Fp8Mode::saturate, Fp8Mode::ieee}) {
        FoldProgram program = sum(2, 65536, 65536);
        program.arithmetic = {.dtype = dtype, .op = op, .fp8 = mode};
        std::vector<std::uint8_t> results[2];
        for (const Device device : {Device{}, cuda_device}) {
          const auto prepared = backend_for(device).prepare(program, device.index);
          const DeviceBuffer x(in.size(), device);
          x.copy_from_host(in.data(), in.size());
          const RowAddresses rows{.data = static_cast<std::byte*>(x.data()), .stride_bytes = 65536};
          const DeviceBuffer workspace(prepared->workspace_bytes(), device);
          prepared->run({.in = rows, .out = rows}, {workspace.data(), prepared->workspace_bytes()},
                        nullptr);
          std::vector<std::uint8_t>& result = results[device.kind == DeviceKind::cuda];
          result.resize(in.size());
          x.copy_to_host(result.data(), result.size());
        }
        EXPECT_EQ(results[0], results[1]) << name(dtype) << ' ' << name(op) << ' ' << name(mode);
      }
}

TEST_F(CudaProgram, RefusesWhatIsNoCode) {
  const auto refused = [](std::vector<FoldStep> code, std::int32_t length) {
    FoldProgram program{.arithmetic = {}, .code = std::move(code), .pieces = {}, .stack = 1};
    program.pieces = {{.begin = 0, .end = 1, .length = length}};
    EXPECT_THROW(backend_for(cuda_device).prepare(program, cuda_device.index), Error);
  };
  refused({{0, FoldAction::leaf_right}}, 1);
  refused({{0, FoldAction::load}, {0, FoldAction::merge}}, 2);
  refused({{0, FoldAction::load}, {1, FoldAction::load}}, 2);
  refused({{0, FoldAction::load}}, 2);
  refused({{0, FoldAction::load}}, 0);
  refused({{0, FoldAction::load}, {0, FoldAction::fill}}, 2);
  refused({{0, FoldAction::store}}, 1);
  refused({{0, FoldAction::load}, {0, FoldAction::store}, {1, FoldAction::store}}, 3);
  // Results stored on the way, and one for all rows besides.
  refused({{0, FoldAction::load}, {0, FoldAction::store}}, 2);
}

}  // namespace
}  // namespace vranks
#else
TEST(CudaProgram, ReplaysInAGraph) { GTEST_SKIP() << "this build has no CUDA"; }
#endif
