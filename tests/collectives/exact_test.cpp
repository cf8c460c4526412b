// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge is judged by exact rational arithmetic: deviations, bounds and counts of elements that
// aren't the rounded exact result. And it must clear every result of the `direct` order, whatever
// bits go in.
#include "collectives/exact.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "collectives/collectives.hpp"
#include "kernels/tree_fold.hpp"
#include "ranks/random.hpp"
#include "ranks/tensor.hpp"
#include "tests/collectives/exact_inputs.hpp"
#include "tests/collectives/rational.hpp"

namespace vranks {
namespace {

DType any_floating() {
  return *rc::gen::element(DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3,
                           DType::f8e5m2);
}

// --- against rational arithmetic ----------------------------------------------------------------

// Every number that a Deviation holds, for results of the order and for results beside them.
RC_GTEST_PROP(Exact, SumAndMeanAgreeWithRationals, ()) {
  const DType dtype = any_floating();
  const auto op = *rc::gen::element(ReduceOp::sum, ReduceOp::mean);
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 70);
  const auto n = *rc::gen::inRange<std::int64_t>(1, 12);
  const auto values = *rc::gen::element(Values::uniform, Values::subnormal, Values::cancelling);
  const Tensor in = make_input(dtype, ranks, n, values, *rc::gen::arbitrary<std::uint64_t>());
  const Tensor out = direct(in, op);
  const auto moved_by = *rc::gen::inRange(0, 40);

  const bool is_mean = op == ReduceOp::mean;
  const int digits = dtype == DType::f64 ? 53 : 24;
  const int lowest = dtype == DType::f64 ? -1074 : -149;
  const int levels = tree_levels(ranks) + (is_mean ? 2 : 0);
  std::int64_t different = 0, over_bound = 0;
  double max_abs = 0, slack = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    // Away from the order's result, to see what is refused.
    if (i % 2 == 1)
      set_element(out, i, element(out, i) + moved_by * ulp_at(element(out, i), dtype));
    cpp_rational exact = 0, magnitude = 0;
    for (std::int64_t r = 0; r < ranks; ++r) {
      exact += cpp_rational(element(in, r * n + i));
      magnitude += abs(cpp_rational(element(in, r * n + i)));
    }
    if (is_mean) exact /= ranks, magnitude /= ranks;
    const double y = element(out, i);
    const cpp_rational distance = abs(cpp_rational(y) - exact);
    cpp_rational bound = levels * two_to(-digits) * magnitude;
    if (is_mean) bound += two_to(lowest - 1);
    if (size_bytes(dtype) <= 2) bound += cpp_rational(ulp_at(y, dtype)) / 2;
    different += y != round_to(exact, dtype);
    over_bound += distance > bound;
    max_abs = std::max(max_abs, to_double(distance));
    slack = std::max(slack, to_double(magnitude) * 0x1p-95);
  }
  const Deviation deviation = deviation_of(in, out, op);
  RC_ASSERT(deviation.compared == n);
  RC_ASSERT(deviation.different == different);
  RC_ASSERT(deviation.over_bound == over_bound);
  RC_ASSERT(std::abs(deviation.max_abs - max_abs) <= slack + 0x1p-50 * max_abs);
}

RC_GTEST_PROP(Exact, ProductsAgreeWithRationals, ()) {
  const DType dtype = any_floating();
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 20);
  Tensor in = make_input(dtype, ranks, 1, Values::uniform, *rc::gen::arbitrary<std::uint64_t>());
  cpp_rational exact = 1;
  for (std::int64_t r = 0; r < ranks; ++r) {
    const double x = element(in, r);
    set_element(in, r, x + std::copysign(1, x));
    exact *= cpp_rational(element(in, r));
  }
  const Tensor out = direct(in, ReduceOp::prod);
  const double y = element(out, 0);
  RC_PRE(std::isfinite(y) && abs(exact) < cpp_rational(grid_of(dtype).largest));
  const Deviation deviation = deviation_of(in, out, ReduceOp::prod);
  const double distance = to_double(abs(cpp_rational(y) - exact));
  RC_ASSERT(deviation.different == (y != round_to(exact, dtype)));
  RC_ASSERT(std::abs(deviation.max_abs - distance) <=
            0x1p-95 * std::abs(to_double(exact)) + 0x1p-50 * distance);
  RC_ASSERT(deviation.over_bound == 0);
}

// --- the `direct` order is always cleared -------------------------------------------------------

RC_GTEST_PROP(Exact, ClearsDirectOnAnyBits, ()) {
  const auto row = *rc::gen::elementOf(std::vector<DTypeInfo>(dtypes().begin(), dtypes().end()));
  const auto op_row =
      *rc::gen::elementOf(std::vector<ReduceOpInfo>(reduce_ops().begin(), reduce_ops().end()));
  RC_PRE(supports(op_row.op, row.dtype));
  const auto policy = *rc::gen::element(NanPolicy::propagate, NanPolicy::ignore);
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 40);
  const auto n = *rc::gen::inRange<std::int64_t>(1, 300);
  const Tensor in =
      make_input(row.dtype, ranks, n, Values::any_bits, *rc::gen::arbitrary<std::uint64_t>());
  const Deviation d = deviation_of(in, direct(in, op_row.op, policy), op_row.op, policy);
  RC_LOG() << row.name << ' ' << op_row.name << ": element " << d.worst << " is " << d.worst_y
           << " where " << d.worst_exact << " +- " << d.worst_bound << " is right\n";
  RC_ASSERT(d.over_bound == 0);
  RC_ASSERT(d.max_bound_used <= 1);
  if (!is_floating(row.dtype) && !is_complex(row.dtype)) RC_ASSERT(d.different == 0);
}

TEST(Exact, ManyRanksAreCutIntoBlocksWithoutAChange) {
  for (const std::int64_t n : {1, 3, 257}) {
    const std::int64_t ranks = (std::int64_t{1} << 22) / n + 5;
    Tensor in(DType::f32, {ranks, n});
    for (std::int64_t i = 0; i < in.elements(); ++i)
      in.as<float>()[i] = static_cast<float>((i / n) % 7) + static_cast<float>(i % n);
    std::int64_t whole = 0;
    for (std::int64_t r = 0; r < ranks; ++r) whole += r % 7;
    Tensor out(DType::f32, {n});
    for (std::int64_t c = 0; c < n; ++c)
      out.as<float>()[c] = static_cast<float>(static_cast<double>(whole + c * ranks));
    EXPECT_EQ(deviation_of(in, out, ReduceOp::sum).different, 0) << "n = " << n;
    out.as<float>()[n - 1] *= 1.5f;
    const Deviation one_wrong = deviation_of(in, out, ReduceOp::sum);
    EXPECT_EQ(one_wrong.over_bound, 1);
    EXPECT_EQ(one_wrong.worst, n - 1);
    EXPECT_EQ(one_wrong.worst_exact, static_cast<double>(whole + (n - 1) * ranks));
  }
}

TEST(Exact, ThreadsChangeNothing) {
  const Tensor in(DType::f32, {9000, 300});
  fill_random(in.view(), 5);
  const Tensor out = direct(in, ReduceOp::mean);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const Deviation one = deviation_of(in, out, ReduceOp::mean);
  omp_set_num_threads(2);
  const Deviation two = deviation_of(in, out, ReduceOp::mean);
  omp_set_num_threads(threads);
  EXPECT_EQ(std::memcmp(&one, &two, sizeof(Deviation)), 0);
}

// --- infinities, NaN, zeros ---------------------------------------------------------------------

TEST(Exact, NonFiniteResultsMustBeRight) {
  const double big = std::numeric_limits<float>::max();
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::prod}) {
    EXPECT_TRUE(is_accepted(DType::f32, op, {1, nan, 2}, nan));
    EXPECT_FALSE(is_accepted(DType::f32, op, {1, nan, 2}, 3));
    EXPECT_TRUE(is_accepted(DType::f32, op, {1, infinity, 2}, infinity));
    EXPECT_FALSE(is_accepted(DType::f32, op, {1, infinity, 2}, -infinity));
    EXPECT_FALSE(is_accepted(DType::f32, op, {1, infinity, 2}, nan));
    EXPECT_FALSE(is_accepted(DType::f32, op, {1, 2}, infinity));
    EXPECT_FALSE(is_accepted(DType::f32, op, {1, 2}, nan));
  }
  EXPECT_TRUE(is_accepted(DType::f32, ReduceOp::sum, {infinity, -infinity}, nan));
  EXPECT_TRUE(is_accepted(DType::f32, ReduceOp::prod, {infinity, 0}, nan));
  EXPECT_TRUE(is_accepted(DType::f32, ReduceOp::sum, {big, big}, infinity));
  EXPECT_FALSE(is_accepted(DType::f32, ReduceOp::sum, {big, big}, -1));
  // A sum may lose an infinity's worth on the way, a mean may not.
  EXPECT_TRUE(is_accepted(DType::f32, ReduceOp::sum, {big, big, -big, -big}, nan));
  EXPECT_FALSE(is_accepted(DType::f32, ReduceOp::mean, {big, big}, infinity));
  EXPECT_FALSE(is_accepted(DType::f16, ReduceOp::mean, {60000, 60000}, infinity));
  EXPECT_TRUE(is_accepted(DType::f16, ReduceOp::mean, {60000, 60000}, 60000));
  EXPECT_FALSE(is_accepted(DType::f16, ReduceOp::sum, {30000, 30000}, infinity));
  EXPECT_TRUE(is_accepted(DType::f16, ReduceOp::sum, {60000, 60000}, infinity));
  EXPECT_TRUE(is_accepted(DType::f32, ReduceOp::prod, {1e-30, 1e-30, 1e30, 1e30}, nan));
  EXPECT_TRUE(is_accepted(DType::f32, ReduceOp::prod, {1e-30, 1e30, 1e-30, 1e30}, 1));
  EXPECT_FALSE(is_accepted(DType::f32, ReduceOp::prod, {1e-10, 1e10, 1e-10, 1e10}, nan));
}

TEST(Exact, SumsBeyondTheLargestDoubleHaveExactMeans) {
  const double big = std::numeric_limits<double>::max();
  EXPECT_EQ(judge(DType::f64, ReduceOp::mean, {big, big, big}, big).different, 0);
  EXPECT_EQ(judge(DType::f64, ReduceOp::mean, {big, big, -big}, big / 3).over_bound, 0);
  EXPECT_EQ(judge(DType::f64, ReduceOp::mean, {big, big, -big}, big / 2).over_bound, 1);
}

TEST(Exact, SignsOfZerosCount) {
  EXPECT_EQ(judge(DType::f32, ReduceOp::sum, {-0., -0.}, -0.).different, 0);
  EXPECT_EQ(judge(DType::f32, ReduceOp::sum, {-0., -0.}, 0.).different, 1);
  EXPECT_EQ(judge(DType::f32, ReduceOp::sum, {-0., 0.}, 0.).different, 0);
  EXPECT_EQ(judge(DType::f32, ReduceOp::mean, {1, -1}, 0.).different, 0);
  EXPECT_EQ(judge(DType::f32, ReduceOp::prod, {-3, 0.}, -0.).different, 0);
  EXPECT_TRUE(is_accepted(DType::f32, ReduceOp::min, {0., -0.}, -0.));
  EXPECT_FALSE(is_accepted(DType::f32, ReduceOp::min, {0., -0.}, 0.));
  EXPECT_FALSE(is_accepted(DType::f32, ReduceOp::max, {0., -0.}, -0.));
}

TEST(Exact, MinAndMaxFollowTheNanPolicy) {
  EXPECT_TRUE(is_accepted(DType::bf16, ReduceOp::max, {1, nan, 3}, nan));
  EXPECT_FALSE(is_accepted(DType::bf16, ReduceOp::max, {1, nan, 3}, 3));
  EXPECT_TRUE(is_accepted(DType::bf16, ReduceOp::max, {1, nan, 3}, 3, NanPolicy::ignore));
  EXPECT_FALSE(is_accepted(DType::bf16, ReduceOp::max, {1, nan, 3}, nan, NanPolicy::ignore));
  EXPECT_TRUE(is_accepted(DType::bf16, ReduceOp::max, {nan, nan}, nan, NanPolicy::ignore));
  EXPECT_TRUE(is_accepted(DType::f32, ReduceOp::min, {infinity, infinity}, infinity));
}

TEST(Exact, IntegersAreExact) {
  EXPECT_TRUE(is_accepted(DType::i8, ReduceOp::sum, {120, 100}, -36));
  EXPECT_TRUE(is_accepted(DType::i8, ReduceOp::mean, {100, 100}, 100));
  EXPECT_TRUE(is_accepted(DType::i8, ReduceOp::mean, {-3, -4}, -3));
  EXPECT_FALSE(is_accepted(DType::i8, ReduceOp::mean, {-3, -4}, -4));
  EXPECT_TRUE(is_accepted(DType::u8, ReduceOp::prod, {200, 3}, 88));
  const Deviation off = judge(DType::i32, ReduceOp::sum, {16777216, 1, 1}, 16777216);
  EXPECT_EQ(off.over_bound, 1);
  EXPECT_EQ(off.max_abs, 2);
  EXPECT_EQ(off.worst_exact, 16777218);
}

TEST(Exact, NothingToCompare) {
  const Tensor in(DType::f32, {4, 0}), out(DType::f32, {0});
  const Deviation d = deviation_of(in, out, ReduceOp::sum);
  EXPECT_EQ(d.compared, 0);
  EXPECT_EQ(d.worst, -1);
}

TEST(Exact, UlpIsTheDistanceToTheNextNumber) {
  for (const double x : {0., 1e-320, 2.5e-308, 0.1, 1., 1.999, 2., 1e300})
    EXPECT_EQ(ulp_at(-x, DType::f64), std::nextafter(x, infinity) - x) << x;
  for (const float x : {0.f, 1e-40f, 1.5f, 3e38f})
    EXPECT_EQ(ulp_at(x, DType::f32), std::nextafter(x, INFINITY) - x) << x;
  EXPECT_EQ(ulp_at(65504, DType::f16), 32);
  EXPECT_EQ(ulp_at(infinity, DType::f16), 32);
  EXPECT_EQ(ulp_at(1, DType::bf16), 0x1p-7);
  EXPECT_EQ(ulp_at(448, DType::f8e4m3), 32);
  EXPECT_EQ(ulp_at(0, DType::f8e4m3), 0x1p-9);
  EXPECT_EQ(ulp_at(57344, DType::f8e5m2), 8192);
  EXPECT_EQ(ulp_at(1, DType::c64), 0x1p-23);
  EXPECT_EQ(ulp_at(1, DType::c128), 0x1p-52);
  EXPECT_EQ(ulp_at(1, DType::boolean), 1);
  EXPECT_EQ(ulp_at(17, DType::i32), 1);
}

}  // namespace
}  // namespace vranks
