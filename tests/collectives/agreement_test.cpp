// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/agreement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ranks/error.hpp"

namespace vranks {
namespace {

// The bound for ranks of one element each.
template <class T>
AgreementBound bound_of(ReduceOp op, std::vector<T> ranks, bool is_exact_data = false) {
  const auto count = static_cast<std::int64_t>(ranks.size());
  const Problem problem{.ranks = count, .elements = 1, .dtype = dtype_of<T>(), .op = op};
  return agreement_bound(problem, rows_of(view(ranks.data(), {count, 1}), "input"), is_exact_data);
}

template <class T>
double most(ReduceOp op, std::vector<T> ranks, bool is_exact_data = false) {
  return bound_of(op, ranks, is_exact_data).most.at(0);
}

template <class T>
Deviation between(std::vector<T> ours, std::vector<T> theirs, std::vector<double> most) {
  return deviation_between(dtype_of<T>(), reinterpret_cast<const std::byte*>(ours.data()),
                           reinterpret_cast<const std::byte*>(theirs.data()), most);
}

TEST(Agreement, IntegersMinAndMaxAreEqual) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::prod, ReduceOp::min})
    EXPECT_EQ(most<std::int32_t>(op, {1, -2, 3}), 0);
  EXPECT_EQ(most<float>(ReduceOp::min, {1, -2, 3}), 0);
  EXPECT_EQ(most<double>(ReduceOp::max, {1, -2, 3}), 0);
}

TEST(Agreement, BitsAndTruthValuesAreEqual) {
  for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor, ReduceOp::land,
                            ReduceOp::lor, ReduceOp::lxor}) {
    EXPECT_EQ(most<std::int8_t>(op, {100, 100, -100}), 0);
    EXPECT_EQ(most<Bool>(op, {Bool{1}, Bool{0}}), 0);
  }
  EXPECT_EQ(most<Bool>(ReduceOp::sum, {Bool{1}, Bool{1}}), 0);
}

TEST(Agreement, RefusesWhatItKnowsNoBoundFor) {
  EXPECT_THROW(most<float>(ReduceOp::log_sum_exp, {1, 2}), Error);
  EXPECT_THROW(most<Complex<float>>(ReduceOp::sum, {{1, 2}, {3, 4}}), Error);
}

TEST(Agreement, SumsOfFloatsKeepToTheStepsOfBothOrders) {
  // direct of 3 ranks, a narrowing that isn't there, and any order of MPI's.
  const double u = 0x1p-24;
  const double bound = most<float>(ReduceOp::sum, {1, -2, 3});
  EXPECT_GE(bound, 6 * u * (2 + 4));
  EXPECT_LE(bound, 6 * u * (3 + 1 + 4) * (1 + 1e-6));
  EXPECT_EQ(most<float>(ReduceOp::sum, {1, -2, 3}, true), 0);
  // A mean has the same, divided, and room for a subnormal quotient.
  EXPECT_LE(most<float>(ReduceOp::mean, {1, -2, 3}), 2 * u * 8 * (1 + 1e-6) + 0x1p-149);
  EXPECT_GT(most<float>(ReduceOp::mean, {0x1p-149f, 0, 0}), 0x1p-149);
  // MPI rounds f16 at each step, which direct doesn't.
  EXPECT_GE(most<Half>(ReduceOp::sum, {to_half(1), to_half(1)}), 3 * 0x1p-11 * 2);
  EXPECT_LE(most<Half>(ReduceOp::sum, {to_half(1), to_half(1)}), 3.1 * 0x1p-11 * 2);
  const Float8E5M2 one = to_float8_e5m2(1, true);
  EXPECT_GE(most<Float8E5M2>(ReduceOp::sum, {one, one}), 3 * 0x1p-3 * 2);
  const Float8E4M3 large = to_float8_e4m3(200, true);
  EXPECT_LT(most<Float8E4M3>(ReduceOp::sum, {large, large}), 0);  // may saturate on the way
}

TEST(Agreement, ProductsKeepToARelativeBound) {
  const double u = 0x1p-24;
  const double bound = most<float>(ReduceOp::prod, {3, 5, 7});
  EXPECT_GE(bound, 2 * 3 * u * 105);
  EXPECT_LE(bound, 2 * 4 * u * 105 * (1 + 1e-6));
  EXPECT_EQ(most<float>(ReduceOp::prod, {3, 5, 7}, true), 0);
  // (1e-30 * 1e-15) * 1e20 loses digits on its way; 1e-30 * (1e-15 * 1e20) does not.
  EXPECT_GE(most<float>(ReduceOp::prod, {1e-30f, 1e-15f, 1e20f}), 0.5 * 0x1p-149 * 1e20);
}

TEST(Agreement, LeavesOutWhatDependsOnTheLibrarysOrder) {
  EXPECT_LT(most<std::int8_t>(ReduceOp::sum, {100, 100, -100}), 0);
  EXPECT_EQ(most<std::int8_t>(ReduceOp::sum, {100, 27}), 0);
  EXPECT_EQ(most<std::int8_t>(ReduceOp::prod, {100, 100}), 0);
  EXPECT_EQ(most<std::int8_t>(ReduceOp::mean, {100, 100}), 0);
  EXPECT_LT(most<std::uint16_t>(ReduceOp::sum, {65535, 1}), 0);
  EXPECT_EQ(most<std::int32_t>(ReduceOp::sum, {2147483647, 2147483647}), 0);
  EXPECT_LT(most<std::uint64_t>(ReduceOp::mean, {~std::uint64_t{0}, 1}), 0);
  EXPECT_EQ(most<std::uint64_t>(ReduceOp::sum, {~std::uint64_t{0}, 1}), 0);

  constexpr float huge = std::numeric_limits<float>::max();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const bool is_exact_data : {false, true}) {
    EXPECT_LT(most<float>(ReduceOp::sum, {huge, huge, -huge}, is_exact_data), 0);
    EXPECT_LT(most<float>(ReduceOp::mean, {huge, huge}, is_exact_data), 0);
    EXPECT_LT(most<float>(ReduceOp::prod, {huge, 4, 0.25f}, is_exact_data), 0);
    EXPECT_LT(most<float>(ReduceOp::sum, {1, infinity}, is_exact_data), 0);
    for (const ReduceOp op :
         {ReduceOp::sum, ReduceOp::mean, ReduceOp::prod, ReduceOp::min, ReduceOp::max})
      EXPECT_LT(most<float>(op, {1, nan}, is_exact_data), 0) << name(op);
  }
  EXPECT_EQ(most<float>(ReduceOp::max, {1, infinity}), 0);
  EXPECT_NE(bound_of<float>(ReduceOp::max, {1, nan}).left_out, "");
}

TEST(Agreement, CountsWhatDiffersAndWhatIsTooFar) {
  const Deviation found = between<float>({1, 2, 3, 4}, {1, 2.5, 3.5, 5}, {0, 1, 0.25, -1});
  EXPECT_EQ(found.compared, 3);
  EXPECT_EQ(found.different, 2);
  EXPECT_EQ(found.over_bound, 1);
  EXPECT_EQ(found.worst, 2);
  EXPECT_EQ(found.max_abs, 0.5);
  EXPECT_EQ(found.max_bound_used, 2);
  EXPECT_EQ(found.max_ulp, 0.5 / 0x1p-22);
}

TEST(Agreement, ZerosOfBothSignsAreEqualAndNumbersAreNot) {
  const Deviation zeros = between<float>({-0.0f}, {0.0f}, {0});
  EXPECT_EQ(zeros.different, 1);
  EXPECT_EQ(zeros.over_bound, 0);
  // 2^53 and 2^53 + 1 are the same double.
  const Deviation big = between<std::int64_t>({1ll << 53}, {(1ll << 53) + 1}, {0});
  EXPECT_EQ(big.over_bound, 1);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(between<double>({std::nan("")}, {1}, {1e300}).over_bound, 1);
  EXPECT_EQ(between<double>({infinity}, {1}, {1e300}).over_bound, 1);
  EXPECT_EQ(between<double>({infinity}, {-infinity}, {1e300}).over_bound, 1);
}

TEST(Agreement, NeedsSomethingCompared) {
  EXPECT_TRUE(is_agreement({.compared = 3}, 3));
  EXPECT_FALSE(is_agreement({.compared = 3, .over_bound = 1}, 3));
  EXPECT_FALSE(is_agreement({.compared = 0}, 3));
  EXPECT_TRUE(is_agreement({.compared = 0}, 0));
}

TEST(Agreement, MergesProcesses) {
  const Deviation a{.compared = 5, .different = 1, .max_ulp = 3, .max_bound_used = 0.2, .worst = 4};
  const Deviation b{.compared = 5, .over_bound = 1, .max_abs = 1, .max_bound_used = 2, .worst = 1};
  for (const Deviation& both : {merged(a, b), merged(b, a)}) {
    EXPECT_EQ(both.compared, 10);
    EXPECT_EQ(both.different, 1);
    EXPECT_EQ(both.over_bound, 1);
    EXPECT_EQ(both.max_abs, 1);
    EXPECT_EQ(both.max_ulp, 3);
    EXPECT_EQ(both.worst, 1);
  }
  EXPECT_EQ(merged({}, a).worst, 4);
}

}  // namespace
}  // namespace vranks
