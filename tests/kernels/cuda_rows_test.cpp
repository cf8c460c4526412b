// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that lie anywhere, on CUDA: tables of pointers are needed no longer than run() takes, in
// graphs too, and what CUDA copies between strided tensors is what the CPU copies.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/backend.hpp"
#include "ranks/error.hpp"

#if VRANKS_HAVE_CUDA
#include "kernels/cuda/cuda_error.hpp"

namespace vranks {
namespace {

using Random = std::mt19937_64;
using Bytes = std::vector<std::byte>;

constexpr Device cpu_device{};
constexpr Device cuda_device{DeviceKind::cuda, 0};

std::int64_t below(Random& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

Bytes random_bytes(std::int64_t count, Random& random) {
  Bytes bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

class CudaRows : public testing::Test {
 protected:
  void SetUp() override {
    try {
      backend_for(cuda_device);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

// --- tables of rows ------------------------------------------------------------------------------

// All rows added, and copied to all rows.
FoldProgram sum_of_all(std::int32_t ranks, std::int64_t columns) {
  FoldProgram program{.arithmetic = {.dtype = DType::f32, .op = ReduceOp::sum},
                      .code = {{0, FoldAction::load}},
                      .pieces = {{.begin = 0, .end = columns, .length = ranks, .out_rows = ranks}},
                      .stack = 1};
  for (std::int32_t row = 1; row < ranks; ++row)
    program.code.push_back({row, FoldAction::leaf_right});
  return program;
}

// Pointers to rows of `columns` elements in reverse order, with gaps between.
std::vector<std::byte*> reversed_rows(void* memory, std::int32_t ranks, std::int64_t columns) {
  std::vector<std::byte*> table;
  for (std::int64_t r = ranks - 1; r >= 0; --r)
    table.push_back(static_cast<std::byte*>(memory) + r * (columns + 1) * 4);
  return table;
}

// More pointers than one launch carries are needed only until run() returns.
TEST_F(CudaRows, TablesLiveInTheGraph) {
  constexpr std::int32_t ranks = 1000;
  constexpr std::int64_t columns = 10;
  const auto prepared =
      backend_for(cuda_device).prepare(sum_of_all(ranks, columns), cuda_device.index);
  const std::size_t bytes = ranks * (columns + 1) * sizeof(float);
  const DeviceBuffer x(bytes, cuda_device);
  const DeviceBuffer workspace(prepared->workspace_bytes(), cuda_device);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  {
    std::vector<std::byte*> table = reversed_rows(x.data(), ranks, columns);
    prepared->run({.in = {.table = table}, .out = {.table = table}},
                  {workspace.data(), prepared->workspace_bytes()}, stream);
    std::fill(table.begin(), table.end(), nullptr);
  }
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  std::vector<float> host(bytes / sizeof(float));
  for (const float start : {0.0f, 3.0f}) {
    for (std::size_t k = 0; k < host.size(); ++k) host[k] = start + static_cast<float>(k % 11);
    x.copy_from_host(host.data(), bytes);
    ASSERT_EQ(cudaGraphLaunch(replay, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    x.copy_to_host(host.data(), bytes);
    for (std::size_t k = 0; k < host.size(); ++k) {
      const float own = start + static_cast<float>(k % 11);
      // The last element of each row is behind what the program folds.
      ASSERT_EQ(host[k], k % 11 == 10 ? own : ranks * own) << k;
    }
  }
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

TEST_F(CudaRows, TooFewPointersAreRefused) {
  const auto prepared = backend_for(cuda_device).prepare(sum_of_all(3, 4), cuda_device.index);
  const DeviceBuffer x(3 * 5 * sizeof(float), cuda_device);
  const DeviceBuffer workspace(prepared->workspace_bytes(), cuda_device);
  const std::vector<std::byte*> table = reversed_rows(x.data(), 3, 4);
  const auto run = [&](std::size_t rows, std::size_t workspace_bytes) {
    const RowAddresses some{.table = std::span(table).first(rows)};
    prepared->run({.in = some, .out = {.table = table}}, {workspace.data(), workspace_bytes},
                  nullptr);
  };
  EXPECT_THROW(run(2, prepared->workspace_bytes()), Error);
  EXPECT_THROW(run(3, prepared->workspace_bytes() - sizeof(std::byte*)), Error);
  EXPECT_NO_THROW(run(3, prepared->workspace_bytes()));
}

// Every rank's block to every rank, blocks of a few bytes and of many, into rows in any order.
TEST_F(CudaRows, ManySmallCopiesAreThoseOfTheCpu) {
  Random random(1);
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::c64, DType::c128})
    for (const std::int64_t block : {1, 3, 16, 40, 5000}) {
      constexpr std::int32_t ranks = 7;
      const auto width = static_cast<std::int64_t>(size_bytes(dtype));
      FoldProgram program{
          .arithmetic = {.dtype = dtype, .op = ReduceOp::prod}, .code = {}, .pieces = {}};
      for (std::int32_t r = 0; r < ranks; ++r) program.code.push_back({r, FoldAction::load});
      for (std::int32_t from = 0; from < ranks; ++from)
        for (std::int32_t to = 0; to < ranks; ++to)
          program.pieces.push_back({.begin = to * block,
                                    .end = (to + 1) * block,
                                    .out_begin = from * block,
                                    .code = from,
                                    .length = 1,
                                    .out_row = to});
      const std::int64_t row = ranks * block * width;
      // Complex numbers are aligned as their parts are.
      const std::int64_t start = is_complex(dtype) ? width / 2 : width;
      const Bytes in = random_bytes(start + ranks * row, random);
      Bytes results[2];
      for (const Device device : {cpu_device, cuda_device}) {
        const Backend& backend = backend_for(device);
        const auto prepared = backend.prepare(program, device.index);
        const DeviceBuffer x(in.size(), device), y(in.size(), device);
        const DeviceBuffer workspace(prepared->workspace_bytes(), device);
        x.copy_from_host(in.data(), in.size());
        y.copy_from_host(in.data(), in.size());
        std::vector<std::byte*> table;
        for (std::int64_t r = 0; r < ranks; ++r)
          table.push_back(static_cast<std::byte*>(y.data()) + start + r * 3 % ranks * row);
        prepared->run(
            {.in = {.data = static_cast<std::byte*>(x.data()) + start, .stride_bytes = row},
             .out = {.table = table}},
            {workspace.data(), prepared->workspace_bytes()}, nullptr);
        Bytes& result = results[device.kind == DeviceKind::cuda];
        result.resize(in.size());
        y.copy_to_host(result.data(), result.size());
      }
      EXPECT_EQ(results[0], results[1]) << name(dtype) << ", blocks of " << block;
    }
}

// --- strided copies ------------------------------------------------------------------------------

// A tensor's strides where dimensions lie in any order, with gaps, some of them backwards; and the
// bytes that it spans in front of its first element and from there on.
struct Strides {
  std::vector<std::int64_t> bytes;
  std::int64_t before = 0, behind = 0;

  Strides(const std::vector<std::int64_t>& extents, std::int64_t element, Random& random)
      : bytes(extents.size()), behind(element) {
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (random() % 2 == 0) std::shuffle(order.begin(), order.end(), random);
    std::int64_t span = element;
    for (const std::size_t d : order) {
      if (random() % 3 == 0) span += below(random, 3) * element;
      const bool backwards = random() % 4 == 0;
      bytes[d] = backwards ? -span : span;
      (backwards ? before : behind) += (extents[d] - 1) * span;
      span *= extents[d];
    }
  }
};

TEST_F(CudaRows, StridedCopiesAreThoseOfTheCpu) {
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    StridedCopy copy{.element_bytes = std::int64_t{1} << below(random, 5)};
    const std::int64_t dimensions = below(random, 6);
    for (std::int64_t d = 0; d < dimensions; ++d)
      copy.extents.push_back(1 + below(random, d == 0 ? 40 : 6));
    const Strides from(copy.extents, copy.element_bytes, random);
    const Strides to(copy.extents, copy.element_bytes, random);
    copy.from_strides = from.bytes;
    copy.to_strides = to.bytes;
    const std::int64_t shift = random() % 2 == 0 ? 0 : below(random, 16);
    const Bytes in = random_bytes(shift + from.before + from.behind, random);
    const Bytes around = random_bytes(shift + to.before + to.behind, random);
    Bytes results[2];
    for (const Device device : {cpu_device, cuda_device}) {
      const DeviceBuffer x(in.size(), device), y(around.size(), device);
      x.copy_from_host(in.data(), in.size());
      y.copy_from_host(around.data(), around.size());
      copy.from = static_cast<const std::byte*>(x.data()) + shift + from.before;
      copy.to = static_cast<std::byte*>(y.data()) + shift + to.before;
      backend_for(device).copy(copy, device.index, nullptr);
      Bytes& result = results[device.kind == DeviceKind::cuda];
      result.resize(around.size());
      y.copy_to_host(result.data(), result.size());
    }
    ASSERT_EQ(results[0], results[1]) << "trial " << trial;
  }
}

TEST_F(CudaRows, CopiesOfLargeRowsCanBeCaptured) {
  constexpr std::int64_t rows = 3, bytes = 1 << 20, stride = bytes + 4096;
  Random random(3);
  const Bytes in = random_bytes(rows * stride, random);
  const DeviceBuffer x(in.size(), cuda_device), y(rows * bytes, cuda_device);
  x.copy_from_host(in.data(), in.size());
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  backend_for(cuda_device)
      .copy({.from = static_cast<const std::byte*>(x.data()),
             .to = static_cast<std::byte*>(y.data()),
             .extents = {rows, bytes},
             .from_strides = {stride, 1},
             .to_strides = {bytes, 1}},
            cuda_device.index, stream);
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(replay, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  Bytes out(rows * bytes);
  y.copy_to_host(out.data(), out.size());
  for (std::int64_t r = 0; r < rows; ++r)
    EXPECT_EQ(std::memcmp(out.data() + r * bytes, in.data() + r * stride, bytes), 0) << r;
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

TEST_F(CudaRows, TooManyDimensionsAreRefused) {
  const DeviceBuffer x(1 << 20, cuda_device), y(1 << 20, cuda_device);
  StridedCopy copy{.from = static_cast<const std::byte*>(x.data()),
                   .to = static_cast<std::byte*>(y.data())};
  // Each dimension lies apart from the next, so that none can be merged.
  for (std::int64_t stride = 1 << 18; stride >= 4; stride /= 4) {
    copy.extents.push_back(2);
    copy.from_strides.push_back(stride);
    copy.to_strides.push_back(stride);
  }
  EXPECT_THROW(backend_for(cuda_device).copy(copy, cuda_device.index, nullptr), Error);
  copy.extents.resize(8);
  copy.from_strides.resize(8);
  copy.to_strides.resize(8);
  EXPECT_NO_THROW(backend_for(cuda_device).copy(copy, cuda_device.index, nullptr));
}

// --- what promises a bound instead of bits -------------------------------------------------------

// exp and log differ between the processors: twice the bound that each keeps, of half an ULP.
template <class T>
void expect_log_sum_exp(DType dtype, double ulp) {
  constexpr std::int32_t ranks = 9;
  constexpr std::int64_t columns = 3000;
  FoldProgram program = sum_of_all(ranks, columns);
  program.arithmetic = {.dtype = dtype, .op = ReduceOp::log_sum_exp};
  Random random(4);
  std::vector<T> in;
  for (std::int64_t k = 0; k < ranks * columns; ++k)
    in.push_back(static_cast<T>(std::uniform_real_distribution<double>(-20, 20)(random)));
  in[5] = std::numeric_limits<T>::infinity();
  for (std::int64_t r = 0; r < ranks; ++r)
    in[static_cast<std::size_t>(r * columns)] = -std::numeric_limits<T>::infinity();
  in[7] = std::numeric_limits<T>::quiet_NaN();
  const std::size_t bytes = in.size() * sizeof(T);
  std::vector<T> results[2];
  for (const Device device : {cpu_device, cuda_device}) {
    const auto prepared = backend_for(device).prepare(program, device.index);
    const DeviceBuffer x(bytes, device);
    x.copy_from_host(in.data(), bytes);
    const RowAddresses rows{.data = static_cast<std::byte*>(x.data()),
                            .stride_bytes = columns * static_cast<std::int64_t>(sizeof(T))};
    const DeviceBuffer workspace(prepared->workspace_bytes(), device);
    prepared->run({.in = rows, .out = rows}, {workspace.data(), prepared->workspace_bytes()},
                  nullptr);
    std::vector<T>& result = results[device.kind == DeviceKind::cuda];
    result.resize(in.size());
    x.copy_to_host(result.data(), bytes);
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    const double cpu = results[0][k], cuda = results[1][k];
    if (std::isfinite(cpu))
      ASSERT_LE(std::abs(cuda - cpu), ulp * (std::abs(cpu) + ranks * (8 + std::log(ranks)))) << k;
    else
      ASSERT_EQ(std::memcmp(&results[0][k], &results[1][k], sizeof(T)), 0) << k;
  }
}

TEST_F(CudaRows, LogSumExpIsThatOfTheCpuWithinItsBound) {
  expect_log_sum_exp<float>(DType::f32, 0x1p-23);
  expect_log_sum_exp<double>(DType::f64, 0x1p-52);
}

}  // namespace
}  // namespace vranks
#else
TEST(CudaRows, TablesLiveInTheGraph) { GTEST_SKIP() << "this build has no CUDA"; }
#endif
