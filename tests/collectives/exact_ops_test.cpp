// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of exact.hpp about ops and dtypes whose rules are their own: 8-bit floats, complex
// numbers, truth values, bits, factors, weights, log_sum_exp. What is right is cleared, and results
// beside it are refused.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "tests/collectives/judged.hpp"

namespace vranks {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Of complex dtypes real and imaginary parts, one behind the other.
struct Case {
  DType dtype;
  ReduceOp op;
  std::vector<double> column;
  double factor = 1;
  std::vector<double> weights = {};
  Fp8Mode fp8 = Fp8Mode::saturate;

  Deviation judge(const std::vector<double>& y) const {
    const auto parts = static_cast<std::int64_t>(y.size());
    const std::int64_t width = is_complex(dtype) ? 2 : 1;
    const auto elements = static_cast<std::int64_t>(column.size());
    Tensor in(dtype, {elements / parts, parts / width}), out(dtype, {parts / width});
    for (std::int64_t i = 0; i < elements; ++i)
      set(in, i, column[static_cast<std::size_t>(i)], Fp8Mode::ieee);
    for (std::int64_t i = 0; i < parts; ++i)
      set(out, i, y[static_cast<std::size_t>(i)], Fp8Mode::ieee);
    Problem problem = problem_for(in, op);
    problem.factor = factor;
    problem.weights = weights;
    return judged(problem, in, out, direct_bound(problem, fp8));
  }
  bool accepts(double y) const { return judge({y}).over_bound == 0; }

  // The same of one element in an order whose partial results are elements too.
  Deviation judge_stored(double y, MeanMode mean = MeanMode::divide) const {
    const auto ranks = static_cast<std::int64_t>(column.size());
    Tensor in(dtype, {ranks, 1}), out(dtype, {1});
    for (std::int64_t i = 0; i < ranks; ++i)
      set(in, i, column[static_cast<std::size_t>(i)], Fp8Mode::ieee);
    set(out, 0, y, Fp8Mode::ieee);
    Problem problem = problem_for(in, op);
    problem.factor = factor;
    problem.weights = weights;
    const Arithmetic rules{.dtype = dtype, .op = op, .mean = mean, .fp8 = fp8, .group = ranks};
    return judged(problem, in, out, fold_bound(problem, rules));
  }
  bool accepts_stored(double y, MeanMode mean = MeanMode::divide) const {
    return judge_stored(y, mean).over_bound == 0;
  }
};

// --- integers and truth values are exact --------------------------------------------------------

TEST(ExactOps, Bits) {
  const std::vector<double> column = {0b1100, 0b1010, 0b1111};
  for (const DType dtype : {DType::i8, DType::u16, DType::i32, DType::u64}) {
    EXPECT_EQ((Case{dtype, ReduceOp::band, column}.judge({0b1000}).different), 0);
    EXPECT_EQ((Case{dtype, ReduceOp::bor, column}.judge({0b1111}).different), 0);
    EXPECT_EQ((Case{dtype, ReduceOp::bxor, column}.judge({0b1001}).different), 0);
    for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor})
      EXPECT_EQ((Case{dtype, op, column}.judge({0b1011}).over_bound), 1);
  }
  EXPECT_TRUE((Case{DType::i8, ReduceOp::bor, {-128, 1}}.accepts(-127)));
  EXPECT_TRUE((Case{DType::i8, ReduceOp::band, {-1, -1}}.accepts(-1)));
}

TEST(ExactOps, LogicalOnesGiveZeroOrOne) {
  for (const DType dtype : {DType::i8, DType::u32, DType::i64}) {
    EXPECT_TRUE((Case{dtype, ReduceOp::land, {5, 2, 8}}.accepts(1)));
    EXPECT_FALSE((Case{dtype, ReduceOp::land, {5, 2, 8}}.accepts(2)));
    EXPECT_TRUE((Case{dtype, ReduceOp::land, {5, 0, 8}}.accepts(0)));
    EXPECT_TRUE((Case{dtype, ReduceOp::lor, {0, 0, 8}}.accepts(1)));
    EXPECT_TRUE((Case{dtype, ReduceOp::lor, {0, 0, 0}}.accepts(0)));
    EXPECT_TRUE((Case{dtype, ReduceOp::lxor, {4, 0, 8}}.accepts(0)));
    EXPECT_TRUE((Case{dtype, ReduceOp::lxor, {4, 2, 8}}.accepts(1)));
  }
}

TEST(ExactOps, TruthValues) {
  // op -> result of (1, 2), of (0, 2), of (0, 0); any byte but 0 is true.
  const std::vector<std::tuple<ReduceOp, int, int, int>> table = {
      {ReduceOp::sum, 1, 1, 0},  {ReduceOp::max, 1, 1, 0},     {ReduceOp::bor, 1, 1, 0},
      {ReduceOp::lor, 1, 1, 0},  {ReduceOp::prod, 1, 0, 0},    {ReduceOp::min, 1, 0, 0},
      {ReduceOp::band, 1, 0, 0}, {ReduceOp::land, 1, 0, 0},    {ReduceOp::bxor, 0, 1, 0},
      {ReduceOp::lxor, 0, 1, 0}, {ReduceOp::min_loc, 1, 0, 0}, {ReduceOp::max_loc, 1, 1, 0}};
  for (const auto& [op, both, one, none] : table)
    for (const int y : {0, 1, 3}) {
      EXPECT_EQ((Case{DType::boolean, op, {1, 2}}.accepts(y)), (y != 0) == both) << name(op);
      EXPECT_EQ((Case{DType::boolean, op, {0, 2}}.accepts(y)), (y != 0) == one) << name(op);
      EXPECT_EQ((Case{DType::boolean, op, {0, 0}}.accepts(y)), (y != 0) == none) << name(op);
    }
}

TEST(ExactOps, ExtremesWithRanksAreExtremes) {
  EXPECT_TRUE((Case{DType::i16, ReduceOp::min_loc, {3, -7, 5}}.accepts(-7)));
  EXPECT_TRUE((Case{DType::i16, ReduceOp::max_loc, {3, -7, 5}}.accepts(5)));
  EXPECT_FALSE((Case{DType::i16, ReduceOp::max_loc, {3, -7, 5}}.accepts(3)));
  EXPECT_TRUE((Case{DType::f32, ReduceOp::min_loc, {0., -0.}}.accepts(-0.)));
  EXPECT_FALSE((Case{DType::f32, ReduceOp::min_loc, {0., -0.}}.accepts(0.)));
  EXPECT_TRUE((Case{DType::f16, ReduceOp::max_loc, {1, nan}}.accepts(nan)));
}

TEST(ExactOps, IntegersTimesAFactorWrap) {
  EXPECT_TRUE((Case{DType::i8, ReduceOp::premul_sum, {100, 3}, 3}.accepts(53)));  // 309 - 256
  EXPECT_FALSE((Case{DType::i8, ReduceOp::premul_sum, {100, 3}, 3}.accepts(54)));
  EXPECT_TRUE((Case{DType::i64, ReduceOp::premul_sum, {7, 8}, -2}.accepts(-30)));
  EXPECT_TRUE((Case{DType::u16, ReduceOp::premul_sum, {65535, 1}, 2}.accepts(0)));
}

// --- factors, weights, log_sum_exp --------------------------------------------------------------

TEST(ExactOps, FactorsAreRoundedToTheDType) {
  EXPECT_TRUE((Case{DType::f32, ReduceOp::premul_sum, {1, 2}, 0.5}.accepts(1.5)));
  EXPECT_FALSE((Case{DType::f32, ReduceOp::premul_sum, {1, 2}, 0.5}.accepts(1.500001)));
  EXPECT_EQ((Case{DType::bf16, ReduceOp::premul_sum, {1}, 0.3}.judge({0.30078125}).different), 0);
  EXPECT_TRUE((Case{DType::f32, ReduceOp::premul_sum, {1e30, 1e30}, 1e30}.accepts(infinity)));
  EXPECT_TRUE((Case{DType::f32, ReduceOp::premul_sum, {-0., 0.}, -1}.accepts(0.)));
  EXPECT_TRUE((Case{DType::f32, ReduceOp::premul_sum, {0., infinity}, 0}.accepts(nan)));
  EXPECT_FALSE((Case{DType::f32, ReduceOp::premul_sum, {0., 1}, 0}.accepts(nan)));
}

TEST(ExactOps, WeightedMeans) {
  const Case thirds{DType::f32, ReduceOp::weighted_mean, {3, 6}, 1, {2, 1}};
  EXPECT_EQ(thirds.judge({4}).different, 0);
  EXPECT_FALSE(thirds.accepts(4.00001));
  EXPECT_FALSE(thirds.accepts(4.5));
  EXPECT_TRUE((Case{DType::f64, ReduceOp::weighted_mean, {3, 6}, 1, {1e300, 1e300}}.accepts(4.5)));
  EXPECT_TRUE((Case{DType::f32, ReduceOp::weighted_mean, {3, 6}, 1, {1, -2}}.accepts(9)));
  EXPECT_TRUE((Case{DType::f32, ReduceOp::weighted_mean, {3, nan}, 1, {1, 1}}.accepts(nan)));
  EXPECT_TRUE(
      (Case{DType::f32, ReduceOp::weighted_mean, {3, infinity}, 1, {1, -2}}.accepts(infinity)));
  // A rank of weight 0 says nothing, as long as it holds a number.
  EXPECT_TRUE((Case{DType::f32, ReduceOp::weighted_mean, {3, 8}, 1, {1, 0}}.accepts(3)));
  EXPECT_TRUE((Case{DType::f32, ReduceOp::weighted_mean, {3, infinity}, 1, {1, 0}}.accepts(nan)));
}

TEST(ExactOps, LogSumExp) {
  const auto lse = [](const std::vector<double>& column) {
    return Case{DType::f32, ReduceOp::log_sum_exp, column};
  };
  EXPECT_TRUE(lse({0, 0}).accepts(std::log(2)));
  EXPECT_FALSE(lse({0, 0}).accepts(std::log(2) + 1e-5));
  EXPECT_TRUE(lse({1000, 1000}).accepts(1000 + std::log(2)));  // exp(1000) overflows
  EXPECT_FALSE(lse({1000, 1000}).accepts(infinity));
  EXPECT_TRUE(lse({-1000, -1000}).accepts(-1000 + std::log(2)));
  EXPECT_TRUE(lse({-infinity, 3}).accepts(3));
  EXPECT_TRUE(lse({-infinity, -infinity}).accepts(-infinity));
  EXPECT_FALSE(lse({-infinity, -infinity}).accepts(nan));
  EXPECT_TRUE(lse({infinity, 3}).accepts(infinity));
  EXPECT_TRUE(lse({infinity, -infinity, infinity}).accepts(infinity));
  EXPECT_TRUE(lse({infinity, nan}).accepts(nan));
}

TEST(ExactOps, LogSumExpIsRightToSixtyBits) {
  using Precise = boost::multiprecision::cpp_bin_float_50;
  std::mt19937_64 random(1);
  for (const double range : {1.0, 30.0, 700.0})
    for (const std::int64_t ranks : {1, 2, 7, 300, 5000}) {
      const Tensor in(DType::f64, {ranks, 1}), out(DType::f64, {1});
      Precise sum = 0;
      for (std::int64_t r = 0; r < ranks; ++r) {
        const double x = range * (std::ldexp(static_cast<double>(random() >> 11), -52) - 1);
        in.as<double>()[r] = x;
        sum += exp(Precise(x));
      }
      const Precise exact = log(sum);
      const auto y = exact.convert_to<double>();
      out.as<double>()[0] = y;
      const Problem problem = problem_for(in, ReduceOp::log_sum_exp);
      const Deviation found = judged(problem, in, out, direct_bound(problem));
      const auto apart = abs(Precise(y) - exact).convert_to<double>();
      EXPECT_NEAR(found.max_abs, apart, std::ldexp(std::abs(y) + 1, -60)) << ranks << " " << range;
      EXPECT_EQ(found.over_bound, 0);
    }
}

// --- complex numbers ----------------------------------------------------------------------------

TEST(ExactOps, ComplexSumsAreAboutEachPart) {
  const Case sum{DType::c64, ReduceOp::sum, {1, 2, 3, -5}};  // 1+2i and 3-5i
  EXPECT_EQ(sum.judge({4, -3}).different, 0);
  EXPECT_EQ(sum.judge({4, -3}).compared, 2);
  EXPECT_EQ(sum.judge({4, -3.001}).over_bound, 1);
  EXPECT_EQ(sum.judge({4.001, -3.001}).over_bound, 2);
  const Case two{DType::c128, ReduceOp::mean, {1, 2, 5, 6, 3, 4, 7, 9}};
  EXPECT_EQ(two.judge({2, 3, 6, 7.5}).different, 0);
  const Deviation off = two.judge({2, 3, 6, 7.25});
  EXPECT_EQ(off.over_bound, 1);
  EXPECT_EQ(off.worst, 1);
  EXPECT_EQ(off.worst_exact, 7.5);
  EXPECT_EQ((Case{DType::c64, ReduceOp::premul_sum, {1, 2, 3, -5}, 2}.judge({8, -6}).different), 0);
  EXPECT_EQ((Case{DType::c64, ReduceOp::weighted_mean, {1, 2, 3, -5}, 1, {3, 1}}.judge({1.5, 0.25}))
                .different,
            0);
}

TEST(ExactOps, ComplexProducts) {
  const Case prod{DType::c64, ReduceOp::prod, {1, 2, 3, -5}};  // (1+2i)(3-5i) = 13+i
  EXPECT_EQ(prod.judge({13, 1}).different, 0);
  EXPECT_EQ(prod.judge({13, -1}).over_bound, 1);
  EXPECT_EQ(prod.judge({1, 13}).over_bound, 2);
  EXPECT_EQ((Case{DType::c128, ReduceOp::prod, {0, 1, 0, 1, 0, 1}}.judge({0, -1}).over_bound), 0);
  EXPECT_EQ((Case{DType::c64, ReduceOp::prod, {0, 0, 5, 7}}.judge({0, 0}).over_bound), 0);
  EXPECT_EQ((Case{DType::c64, ReduceOp::prod, {0, 0, 5, 7}}.judge({0, 1}).over_bound), 1);
  EXPECT_EQ((Case{DType::c128, ReduceOp::prod, {1e300, 0, 1e-300, 0}}.judge({1, 0}).over_bound), 0);
}

// --- 8-bit floats -------------------------------------------------------------------------------

TEST(ExactOps, Float8SaturatesOrNot) {
  const auto sum = [](DType dtype, const std::vector<double>& column, Fp8Mode mode) {
    return Case{dtype, ReduceOp::sum, column, 1, {}, mode};
  };
  const Case e4m3 = sum(DType::f8e4m3, {448, 448}, Fp8Mode::saturate);
  EXPECT_EQ(e4m3.judge({448}).different, 0);
  EXPECT_FALSE(e4m3.accepts(nan));
  EXPECT_FALSE(e4m3.accepts(416));
  const Case e4m3_ieee = sum(DType::f8e4m3, {448, 448}, Fp8Mode::ieee);
  EXPECT_EQ(e4m3_ieee.judge({nan}).different, 0);
  EXPECT_TRUE(e4m3_ieee.accepts(nan));
  EXPECT_FALSE(e4m3_ieee.accepts(448));
  EXPECT_FALSE(sum(DType::f8e4m3, {400, 8}, Fp8Mode::ieee).accepts(nan));
  const Case e5m2 = sum(DType::f8e5m2, {-57344, -57344}, Fp8Mode::saturate);
  EXPECT_EQ(e5m2.judge({-57344}).different, 0);
  EXPECT_FALSE(e5m2.accepts(-infinity));
  EXPECT_EQ(sum(DType::f8e5m2, {-57344, -57344}, Fp8Mode::ieee).judge({-infinity}).different, 0);
  EXPECT_TRUE(sum(DType::f8e5m2, {1, infinity}, Fp8Mode::ieee).accepts(infinity));
  EXPECT_FALSE(sum(DType::f8e5m2, {1, 2}, Fp8Mode::ieee).accepts(infinity));
  EXPECT_TRUE(sum(DType::f8e5m2, {1, infinity}, Fp8Mode::saturate).accepts(57344));
  EXPECT_TRUE(
      sum(DType::f8e4m3, {1.125, 0.0625}, Fp8Mode::saturate).accepts(1.25));  // 1.1875, even
  EXPECT_TRUE(sum(DType::f8e4m3, {0x1p-9, 0x1p-9}, Fp8Mode::saturate).accepts(0x1p-8));
  EXPECT_FALSE(sum(DType::f8e4m3, {0x1p-9, 0x1p-9}, Fp8Mode::saturate).accepts(0));
}

TEST(ExactOps, InfinitiesSaturateAtTheFirstOp) {
  const auto extreme = [](const std::vector<double>& column, Fp8Mode mode, ReduceOp op) {
    return Case{DType::f8e5m2, op, column, 1, {}, mode};
  };
  EXPECT_TRUE(extreme({1, infinity}, Fp8Mode::saturate, ReduceOp::max).accepts(57344));
  EXPECT_FALSE(extreme({1, infinity}, Fp8Mode::saturate, ReduceOp::max).accepts(infinity));
  EXPECT_TRUE(extreme({1, infinity}, Fp8Mode::ieee, ReduceOp::max).accepts(infinity));
  EXPECT_TRUE(extreme({1, -infinity}, Fp8Mode::saturate, ReduceOp::min_loc).accepts(-57344));
  // What one rank holds is copied.
  EXPECT_TRUE(extreme({infinity}, Fp8Mode::saturate, ReduceOp::max).accepts(infinity));
  EXPECT_FALSE(extreme({infinity}, Fp8Mode::saturate, ReduceOp::max).accepts(57344));
}

// --- partial results that leave the range -------------------------------------------------------

TEST(ExactOps, WhatOverflowsOnTheWayIsNotJudged) {
  const Case sum{DType::f16, ReduceOp::sum, {60000, 60000, -60000}};
  const Deviation overflown = sum.judge_stored(infinity);
  EXPECT_EQ(overflown.over_bound, 0);
  EXPECT_EQ(overflown.different, 1);
  EXPECT_EQ(overflown.unjudged, 1);
  EXPECT_EQ(overflown.worst, -1);
  EXPECT_EQ(sum.judge_stored(60000).different, 0);
  EXPECT_EQ(sum.judge_stored(60000).unjudged, 0);
  EXPECT_EQ(sum.judge_stored(50000).over_bound, 1);
  // Inputs that are scaled first stay in range.
  const Case mean{DType::f16, ReduceOp::mean, {60000, 60000}};
  EXPECT_EQ(mean.judge_stored(infinity).unjudged, 1);
  EXPECT_EQ(mean.judge_stored(infinity, MeanMode::premultiply).over_bound, 1);
}

TEST(ExactOps, WhatSaturatesOnTheWayIsJudgedByWhatItCanLose) {
  const auto of = [](ReduceOp op, const std::vector<double>& column, double factor = 1,
                     const std::vector<double>& weights = {}) {
    return Case{DType::f8e4m3, op, column, factor, weights};
  };
  // 384 + 384 is 448; with -384 that is anything from 64 to 384.
  const Case sum = of(ReduceOp::sum, {384, 384, -384});
  EXPECT_EQ(sum.judge_stored(64).unjudged, 1);
  EXPECT_EQ(sum.judge_stored(64).different, 1);
  EXPECT_EQ(sum.judge_stored(384).different, 0);
  EXPECT_FALSE(sum.accepts_stored(-384));
  EXPECT_FALSE(sum.accepts_stored(nan));
  EXPECT_FALSE(of(ReduceOp::sum, {384, 384}).accepts_stored(208));
  EXPECT_TRUE(of(ReduceOp::sum, {384, 384}).accepts_stored(448));
  EXPECT_TRUE(of(ReduceOp::premul_sum, {384, -8}, 2).accepts_stored(448));
  EXPECT_FALSE(of(ReduceOp::premul_sum, {384, -8}, 2).accepts_stored(128));
  // A saturated sum, then the division.
  EXPECT_EQ(of(ReduceOp::weighted_mean, {384, 384}, 1, {2, 2}).judge_stored(112).unjudged, 1);
  EXPECT_FALSE(of(ReduceOp::weighted_mean, {384, 384}, 1, {2, 2}).accepts_stored(24));
  EXPECT_EQ(of(ReduceOp::weighted_mean, {384, 384}, 1, {-2, -2}).judge_stored(112).unjudged, 1);
  EXPECT_FALSE(of(ReduceOp::weighted_mean, {384, 384}, 1, {-2, -2}).accepts_stored(-112));
  EXPECT_EQ(of(ReduceOp::mean, {448, 448, 448, 448}).judge_stored(112).unjudged, 1);
  EXPECT_FALSE(of(ReduceOp::mean, {448, 448, 448, 448}).accepts_stored(112, MeanMode::premultiply));
  EXPECT_TRUE(of(ReduceOp::prod, {256, 256, 0.25}).accepts_stored(112));
  EXPECT_TRUE(of(ReduceOp::prod, {256, 256, 0.25}).accepts_stored(448));
  EXPECT_FALSE(of(ReduceOp::prod, {256, 256, 0.25}).accepts_stored(32));
  EXPECT_FALSE(of(ReduceOp::prod, {256, 256, 0.25}).accepts_stored(-448));

  const auto e5m2 = [](const std::vector<double>& column) {
    return Case{DType::f8e5m2, ReduceOp::sum, column};
  };
  EXPECT_TRUE(e5m2({4096, -infinity}).accepts_stored(-57344));
  EXPECT_EQ(e5m2({4096, -infinity, 0}).judge_stored(-49152).unjudged, 1);  // added last
  EXPECT_FALSE(e5m2({4096, -infinity, 0}).accepts_stored(-20480));
  EXPECT_FALSE(e5m2({4096, -infinity}).accepts_stored(nan));
  EXPECT_FALSE(e5m2({4096, -infinity}).accepts_stored(-infinity));
  EXPECT_TRUE(e5m2({infinity, -infinity, 1}).accepts_stored(nan));
  EXPECT_FALSE(e5m2({infinity, nan}).accepts_stored(57344));
  EXPECT_TRUE(e5m2({infinity, nan}).accepts_stored(nan));
}

}  // namespace
}  // namespace vranks
