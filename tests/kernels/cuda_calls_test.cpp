// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What a CUDA caller relies on: calls can be captured in a graph and replayed on new data, use the
// stream they are given and follow each other there, and never allocate when they are given a
// workspace.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

#include "collectives/collectives.hpp"
#include "ranks/error.hpp"

#if VRANKS_HAVE_CUDA
#include "kernels/cuda/cuda_error.hpp"

namespace vranks {
namespace {

constexpr Device cuda_device{DeviceKind::cuda, 0};

class CudaCalls : public testing::Test {
 protected:
  void SetUp() override {
    try {
      backend_for(cuda_device);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  // x[r][i] = r + i + start
  static std::vector<float> numbers(std::int64_t ranks, std::int64_t n, float start) {
    std::vector<float> x;
    for (std::int64_t r = 0; r < ranks; ++r)
      for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>(r + i) + start);
    return x;
  }

  cudaStream_t stream_ = nullptr;
};

TEST_F(CudaCalls, ReplayInAGraph) {
  // (4, 768) is one launch; (5000, 3) is cut into several, and an all-reduce adds a broadcast.
  for (const auto& [ranks, n] : {std::pair<std::int64_t, std::int64_t>{4, 768}, {5000, 3}}) {
    const std::size_t bytes = static_cast<std::size_t>(ranks * n) * sizeof(float);
    const DeviceBuffer x(bytes, cuda_device);
    const std::size_t workspace_size =
        workspace_bytes({.ranks = ranks, .elements = n}, cuda_device);
    const DeviceBuffer workspace(workspace_size, cuda_device);
    const TensorView view{x.data(), DType::f32, {ranks, n}, {}, cuda_device};
    const CollectiveOptions options{.workspace = {workspace.data(), workspace_size},
                                    .stream = stream_};

    ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    all_reduce(view, view, options);
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
    for (const float start : {0.0f, 100.0f}) {
      std::vector<float> host = numbers(ranks, n, start);
      x.copy_from_host(host.data(), bytes);
      ASSERT_EQ(cudaGraphLaunch(replay, stream_), cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
      x.copy_to_host(host.data(), bytes);
      for (const std::int64_t r : {std::int64_t{0}, ranks - 1})
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_EQ(host[static_cast<std::size_t>(r * n + i)],
                    static_cast<float>(ranks - 1) / 2 + static_cast<float>(i) + start);
    }
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
  }
}

TEST_F(CudaCalls, KeptWorkspaceCannotGrowInACapture) {
  const std::int64_t ranks = 200000, n = 3;
  const DeviceBuffer x(static_cast<std::size_t>(ranks * n) * sizeof(float), cuda_device);
  const TensorView view{x.data(), DType::f32, {ranks, n}, {}, cuda_device};
  ASSERT_GT(workspace_bytes({.ranks = ranks, .elements = n}, cuda_device), 0u);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  try {
    all_reduce(view, view, {.stream = stream_});
    ADD_FAILURE() << "a workspace was allocated inside a capture";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("being captured"), std::string::npos);
  }
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream_, &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  // Once the stream has run such a call, a capture finds the workspace in place.
  all_reduce(view, view, {.stream = stream_});
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  all_reduce(view, view, {.stream = stream_});
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  cudaGraphDestroy(graph);
}

// Every call reads what the one in front of it wrote, while their kernels may overlap: folds,
// copies and running folds, of one block and of many, call by call and in a graph.
TEST_F(CudaCalls, FollowEachOther) {
  for (const auto& [ranks, n] : {std::pair<std::int64_t, std::int64_t>{5, 40},
                                 {5, 5 << 17},
                                 {2, 1 << 20},
                                 {61, 61 * 8},
                                 {61, 61 << 12}}) {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(ranks * n));
    for (std::size_t k = 0; k < numbers.size(); ++k)
      numbers[k] = static_cast<std::int32_t>(2654435761u * (k + 1));
    const std::size_t bytes = numbers.size() * sizeof(std::int32_t);
    // Sums of 1 to R of what is equal on all ranks, an odd multiple modulo 2^32.
    const auto run_chain = [&](const DeviceBuffer& x, const DeviceBuffer& y, const DeviceBuffer& z,
                               Device device, Stream stream) {
      const auto view = [&](const DeviceBuffer& buffer, std::int64_t columns) {
        return TensorView{buffer.data(), DType::i32, {ranks, columns}, {}, device};
      };
      const TensorView gathered{z.data(), DType::i32, {ranks, ranks, n / ranks}, {}, device};
      const CollectiveOptions sum{.op = ReduceOp::sum, .stream = stream}, copy{.stream = stream};
      for (int round = 0; round < 20; ++round) {
        run(Collective::reduce_scatter, view(x, n), view(y, n / ranks), sum);
        run(Collective::all_gather, view(y, n / ranks), gathered, copy);
        run(Collective::scan, view(z, n), view(x, n), sum);
      }
    };
    const auto buffers = [&](Device device) {
      return std::array{DeviceBuffer(bytes, device), DeviceBuffer(bytes, device),
                        DeviceBuffer(bytes, device)};
    };
    const auto host = buffers({}), device = buffers(cuda_device);
    std::vector<std::int32_t> right(numbers.size()), found(numbers.size());
    host[0].copy_from_host(numbers.data(), bytes);
    run_chain(host[0], host[1], host[2], {}, nullptr);
    host[0].copy_to_host(right.data(), bytes);

    const auto check = [&](const std::function<void()>& run_it) {
      device[0].copy_from_host(numbers.data(), bytes);
      run_it();
      ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
      device[0].copy_to_host(found.data(), bytes);
      EXPECT_EQ(found, right) << ranks << " ranks of " << n;
    };
    const auto run_on_device = [&] {
      run_chain(device[0], device[1], device[2], cuda_device, stream_);
    };
    check(run_on_device);
    ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    run_on_device();
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
    check([&] { ASSERT_EQ(cudaGraphLaunch(replay, stream_), cudaSuccess); });
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
  }
}

TEST_F(CudaCalls, ErrorsNameTheDevice) {
  float x[4];
  TensorView view{x, DType::f32, {2, 2}, {}, {DeviceKind::cuda, 99}};
  EXPECT_THROW(all_reduce(view, view), Error);
}

}  // namespace
}  // namespace vranks
#else
TEST(CudaCalls, ReplayInAGraph) { GTEST_SKIP() << "this build has no CUDA"; }
#endif
