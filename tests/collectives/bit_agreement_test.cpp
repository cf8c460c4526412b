// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/bit_agreement.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace vranks {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Deviation between(const std::vector<float>& ours, const std::vector<float>& theirs,
                  Likeness likeness, DType dtype = DType::f32) {
  const std::size_t elements = ours.size() / (is_complex(dtype) ? 2 : 1);
  const std::vector<double> most(elements, 0);
  return deviation_between(dtype, reinterpret_cast<const std::byte*>(ours.data()),
                           reinterpret_cast<const std::byte*>(theirs.data()), most, likeness);
}

TEST(BitAgreement, ZerosAndNanAreWhatTheLikenessSays) {
  const float other_nan = std::bit_cast<float>(0xffc00001u);
  struct Case {
    float ours, theirs;
    bool as_numbers, as_arithmetic, as_bits;  // whether they are alike
  };
  const Case cases[] = {{1, 1, true, true, true},
                        {0.0f, -0.0f, true, false, false},
                        {nan, nan, true, true, true},
                        {nan, other_nan, false, true, false},
                        {nan, 1, false, false, false},
                        {1, nan, false, false, false},
                        {infinity, -infinity, false, false, false},
                        {1, std::nextafter(1.0f, 2.0f), false, false, false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.ours << " " << c.theirs);
    EXPECT_EQ(between({c.ours}, {c.theirs}, Likeness::bound).over_bound == 0, c.as_numbers);
    EXPECT_EQ(between({c.ours}, {c.theirs}, Likeness::arithmetic).over_bound == 0, c.as_arithmetic);
    EXPECT_EQ(between({c.ours}, {c.theirs}, Likeness::bits).over_bound == 0, c.as_bits);
  }
}

TEST(BitAgreement, TheWorstIsTheFirst) {
  const Deviation found = between({1, 2, 3, 4}, {1, 2.5f, -7, 4}, Likeness::bits);
  EXPECT_EQ(found.compared, 4);
  EXPECT_EQ(found.over_bound, 2);
  EXPECT_EQ(found.worst, 1);
  EXPECT_EQ(found.worst_y, 2);
  EXPECT_EQ(found.worst_exact, 2.5);
  EXPECT_EQ(found.max_abs, 10);
}

TEST(BitAgreement, ComplexElementsCountOnceAndNameThePart) {
  const Deviation found = between({1, 2, 3, 4}, {1, 2, 3, 5}, Likeness::bits, DType::c64);
  EXPECT_EQ(found.compared, 2);
  EXPECT_EQ(found.over_bound, 1);
  EXPECT_EQ(found.worst, 1);
  EXPECT_EQ(found.worst_y, 4);
  EXPECT_EQ(found.worst_exact, 5);
}

TEST(BitAgreement, WhatOneOrderLeavesOut) {
  std::array<float, 6> x = {1, nan, 3, 4, 5, 6};
  const Rows rows{reinterpret_cast<std::byte*>(x.data()), 2, 3, 3 * sizeof(float), sizeof(float)};
  Problem problem{.ranks = 2, .elements = 3, .op = ReduceOp::max};
  EXPECT_LT(order_bound(problem, rows).most[1], 0);
  EXPECT_EQ(order_bound(problem, rows).most[0], 0);
  problem.op = ReduceOp::sum;
  EXPECT_EQ(order_bound(problem, rows).most, std::vector<double>(3, 0));
  EXPECT_EQ(likeness_of_order(problem), Likeness::arithmetic);

  std::array<std::int8_t, 4> small = {100, 1, 100, 2};
  const Rows bytes{reinterpret_cast<std::byte*>(small.data()), 2, 2, 2, 1};
  problem = {.ranks = 2, .elements = 2, .dtype = DType::i8, .op = ReduceOp::sum};
  EXPECT_LT(order_bound(problem, bytes).most[0], 0);
  EXPECT_EQ(order_bound(problem, bytes).most[1], 0);
}

}  // namespace
}  // namespace vranks
