// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls that were made before: they allocate nothing, and everything that may have changed since
// counts, where the tensors lie above all.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include "collectives/collectives.hpp"
#include "tests/ranks/expect_error.hpp"

namespace {
thread_local int allocations = 0;
}  // namespace

// Not inlined: GCC warns of what it sees half of. Sanitizers want each form that is freed alike.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* const memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace vranks {
namespace {

int allocations_of(const std::function<void()>& call) {
  const int before = allocations;
  call();
  return allocations - before;
}

constexpr std::int64_t ranks = 3, most = 40;

// Whole numbers, different on every rank, whose sums are exact in any order.
std::array<float, ranks * most> numbers(int seed = 0) {
  std::array<float, ranks * most> all;
  std::iota(all.begin(), all.end(), static_cast<float>(seed + 1));
  return all;
}

// What a sum over the ranks gives for n elements a rank.
std::vector<float> sums(const float* x, std::int64_t n) {
  std::vector<float> all(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < ranks * n; ++i) all[static_cast<std::size_t>(i % n)] += x[i];
  return all;
}

TEST(PreparedCalls, AllocateNothingWhenRepeated) {
  auto x = numbers();
  std::array<float, ranks * most> y{};
  const TensorView in = view(x.data(), {ranks, 4, 10}), one = view(y.data(), {4, 10});
  const TensorView all = view(y.data(), {ranks, 4, 10});
  TensorView padded = view(x.data(), {ranks, 3, 10});
  padded.strides = {40, 10, 1};
  const TensorView few = view(y.data(), {3, 10});
  for (const std::string_view algorithm : {"direct", "ring"}) {
    const CollectiveOptions options{.op = ReduceOp::sum, .algorithm = algorithm};
    const auto calls = std::to_array<std::function<void()>>(
        {[&] { reduce_ranks(in, one, options); }, [&] { reduce_ranks(padded, few, options); },
         [&] { all_reduce(in, all, options); }, [&] { all_reduce(in, in, options); }});
    for (int round = 0; round < 3; ++round)
      for (std::size_t k = 0; k < calls.size(); ++k) {
        const int count = allocations_of(calls[k]);
        EXPECT_TRUE(round == 0 || count == 0) << algorithm << " " << k << ": " << count;
      }
  }
}

// More different calls in turn than are kept.
TEST(PreparedCalls, AllocateLittleWhenOnlyPlanned) {
  auto x = numbers();
  std::array<float, ranks * most> y{};
  for (int round = 0; round < 2; ++round)
    for (std::int64_t n = 1; n <= most; ++n) {
      const TensorView in = view(x.data(), {ranks, n}), one = view(y.data(), {n});
      const int count = allocations_of([&] { reduce_ranks(in, one, {.op = ReduceOp::sum}); });
      EXPECT_TRUE(round == 0 || count <= 8) << n << ": " << count;
      const std::vector<float> right = sums(x.data(), n);
      EXPECT_TRUE(std::equal(right.begin(), right.end(), y.begin())) << n;
    }
}

TEST(PreparedCalls, ReadAndWriteWhereTensorsLieNow) {
  for (int round = 0; round < 4; ++round) {
    auto x = numbers(round), y = numbers(), before = x;
    const std::vector<float> right = sums(before.data(), most);
    float* const out = round % 2 == 0 ? y.data() : x.data();  // in place every other time
    all_reduce(view(x.data(), {ranks, most}), view(out, {ranks, most}), {.op = ReduceOp::sum});
    for (std::int64_t r = 0; r < ranks; ++r)
      EXPECT_TRUE(std::equal(right.begin(), right.end(), out + r * most)) << round;
    EXPECT_TRUE(out == x.data() || x == before);
  }
}

TEST(PreparedCalls, RefuseMemoryAsBefore) {
  std::array<float, 2 * ranks * most> x{};
  const auto call = [&](void* in, void* out) {
    const Shape shape{ranks, most};
    all_reduce({in, DType::f32, shape}, {out, DType::f32, shape}, {.op = ReduceOp::sum});
  };
  float* const apart = x.data() + ranks * most;
  for (int round = 0; round < 2; ++round) {
    call(x.data(), apart);
    expect_error(ErrorKind::bad_argument, {"output", "(3, 40)", "null"},
                 [&] { call(x.data(), nullptr); });
    expect_error(ErrorKind::bad_argument, {"input", "(3, 40)", "null"},
                 [&] { call(nullptr, apart); });
    expect_error(ErrorKind::bad_argument, {"input", "not aligned to its 4-byte elements"},
                 [&] { call(reinterpret_cast<char*>(x.data()) + 2, apart); });
    expect_error(ErrorKind::bad_argument, {"overlaps", "4 bytes behind", "be the input itself"},
                 [&] { call(x.data(), x.data() + 1); });
    call(x.data(), x.data());
  }
}

// Whatever a call says besides its pointers is another call.
TEST(PreparedCalls, TellOptionsAndTensorsApart) {
  std::array<float, 9> x = {1, 2, 3, 4, 5, 6, 7, 8, 12}, y{};
  const auto first = [&](const TensorView& in, const CollectiveOptions& options) {
    reduce_ranks(in, view(y.data(), {2}), options);
    return y[0];
  };
  const TensorView in = view(x.data(), {3, 2});
  TensorView padded = in;
  padded.strides = {3, 1};
  const float infinity = std::numeric_limits<float>::infinity();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(first(in, {.op = ReduceOp::sum}), 9);
    EXPECT_EQ(first(padded, {.op = ReduceOp::sum}), 12);
    EXPECT_EQ(first(view(x.data(), {2, 2}), {.op = ReduceOp::sum}), 4);
    EXPECT_EQ(first(in, {.op = ReduceOp::mean}), 3);
    EXPECT_EQ(first(in, {.op = ReduceOp::premul_sum, .factor = 2}), 18);
    EXPECT_EQ(first(in, {.op = ReduceOp::premul_sum, .factor = 3}), 27);
    EXPECT_EQ(first(in, {.op = ReduceOp::weighted_mean, .weights = {1, 0, 0}}), 1);
    EXPECT_EQ(first(in, {.op = ReduceOp::weighted_mean, .weights = {0, 0, 1}}), 5);
    EXPECT_THROW(first(in, {.op = ReduceOp::sum, .root = 3}), Error);
    EXPECT_THROW(first(in, {.op = ReduceOp::sum, .parameters = {.fanout = 2}}), Error);
    EXPECT_THROW(first(in, {.op = ReduceOp::sum, .fp8 = Fp8Mode::ieee}), Error);
    EXPECT_THROW(first(in, {.op = ReduceOp::sum, .counts = {1, 1, 1}}), Error);
    const auto ran =
        reduce_ranks(in, view(y.data(), {2}), {.op = ReduceOp::sum, .algorithm = "ring"});
    EXPECT_EQ(ran.algorithm, "ring");
    // Of a type of the same width.
    std::array<std::int32_t, 6> integers = {1, 2, 3, 4, 5, 6};
    std::array<std::int32_t, 2> total{};
    reduce_ranks(view(integers.data(), {3, 2}), view(total.data(), {2}), {.op = ReduceOp::sum});
    EXPECT_EQ(total[0], 9);
    broadcast(in, view(y.data(), {3, 2}), {.root = 2});
    EXPECT_EQ(y[0], 5);
    broadcast(in, view(y.data(), {3, 2}), {.root = 1});
    EXPECT_EQ(y[0], 3);
    std::array<float, 6> far = {infinity, 0, -infinity, 0, 0, 0};
    EXPECT_TRUE(std::isnan(first(view(far.data(), {3, 2}), {.op = ReduceOp::sum})));
  }
}

TEST(PreparedCalls, BelongToTheirThread) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([thread] {
      for (int round = 0; round < 50; ++round) {
        auto x = numbers(100 * thread + round);
        std::array<float, most> y{};
        reduce_ranks(view(x.data(), {ranks, most}), view(y.data(), {most}), {.op = ReduceOp::sum});
        const std::vector<float> right = sums(x.data(), most);
        EXPECT_TRUE(std::equal(right.begin(), right.end(), y.begin()));
      }
    });
}

}  // namespace
}  // namespace vranks
