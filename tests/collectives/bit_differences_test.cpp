// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/bit_differences.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

#include "collectives/collectives.hpp"
#include "collectives/peers/order_data.hpp"
#include "ranks/tensor.hpp"

namespace vranks {
namespace {

const std::byte* bytes_of(const std::vector<float>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

TEST(BitDifferences, NamesTheFirst) {
  const std::vector<float> ours = {1, 2, 3, 4, 5, 6};
  std::vector<float> theirs = ours;
  EXPECT_EQ(bit_differences(DType::f32, 2, 3, bytes_of(ours), bytes_of(theirs)).different, 0);
  theirs[4] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(5.0f) + 1);
  theirs[5] = 0;
  const BitDifferences found = bit_differences(DType::f32, 2, 3, bytes_of(ours), bytes_of(theirs));
  EXPECT_EQ(found.compared, 6);
  EXPECT_EQ(found.different, 2);
  EXPECT_EQ(first_difference_text(DType::f32, found),
            "rank 1, element 1: ours 5 (40a00000), theirs 5.00000048 (40a00001)");
  EXPECT_EQ(first_difference_text(DType::f32, found, 3).substr(0, 6), "rank 4");
}

TEST(BitDifferences, CountsSignsOfZeroAndNansByTheirBits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> ours = {0.0f, nan, nan}, theirs = {-0.0f, nan, -nan};
  EXPECT_EQ(bit_differences(DType::f32, 1, 3, bytes_of(ours), bytes_of(theirs)).different, 2);
}

TEST(BitDifferences, OfNothingAreNone) {
  EXPECT_EQ(bit_differences(DType::f32, 4, 0, nullptr, nullptr).different, 0);
  EXPECT_EQ(first_difference_text(DType::f32, {}), "");
}

// Elements of 3 ranks in which the ring's order and the tree's give other bits.
std::int64_t told_apart(DType dtype, ReduceOp op) {
  const Shape shape = {3, 3000};
  const Tensor in(dtype, shape), ring(dtype, shape), tree(dtype, shape);
  fill_order_data(in.view(), 7, op);
  all_reduce(in.view(), ring.view(), {.op = op, .algorithm = "nccl_ring"});
  all_reduce(in.view(), tree.view(), {.op = op, .algorithm = "nccl_tree"});
  return bit_differences(dtype, 3, 3000, ring.data(), tree.data()).different;
}

TEST(OrderData, TellsOrdersApart) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::prod})
      EXPECT_GT(told_apart(dtype, op), 900) << name(dtype) << ' ' << name(op);
  for (const DType dtype : {DType::f8e4m3, DType::f8e5m2})
    EXPECT_GT(told_apart(dtype, ReduceOp::sum), 300) << name(dtype);
  EXPECT_EQ(told_apart(DType::i32, ReduceOp::sum), 0);
}

TEST(OrderData, DependsOnTheSeed) {
  const Tensor a(DType::f32, {2, 1000}), b(DType::f32, {2, 1000});
  fill_order_data(a.view(), 1, ReduceOp::sum);
  fill_order_data(b.view(), 2, ReduceOp::sum);
  EXPECT_GT(bit_differences(DType::f32, 2, 1000, a.data(), b.data()).different, 1990);
}

TEST(OrderData, HasSpecialValues) {
  const Tensor data(DType::f32, {2, 10000});
  fill_special_data(data.view(), 1, ReduceOp::sum);
  std::int64_t nans = 0, infinities = 0, zeros = 0, subnormals = 0;
  for (std::int64_t i = 0; i < data.elements(); ++i) {
    const float x = data.as<float>()[i];
    nans += x != x;
    infinities += x - x != 0 && x == x;
    zeros += x == 0;
    subnormals += x != 0 && x < 0x1p-126f && x > -0x1p-126f;
  }
  for (const std::int64_t count : {nans, infinities, zeros})
    EXPECT_NEAR(static_cast<double>(count), 179, 60);
  EXPECT_NEAR(static_cast<double>(subnormals), 357, 90);
}

}  // namespace
}  // namespace vranks
