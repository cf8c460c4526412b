// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The public calls: what they accept and refuse, what they report, and that the promised error
// bound holds against exact rational arithmetic.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

#include "collectives/algorithm.hpp"
#include "collectives/collectives.hpp"
#include "collectives/exact.hpp"
#include "on_device.hpp"

namespace vranks {
namespace {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

// --- what is refused ---

TEST(AllReduce, RefusesImpossibleShapes) {
  float x[12] = {};
  EXPECT_TRUE(says(error_of([&] { all_reduce(view(x, {}), view(x, {})); }), "no dimensions"));
  EXPECT_TRUE(says(error_of([&] { all_reduce(view(x, {0, 3}), view(x, {0, 3})); }), "R = 0"));
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_TRUE(says(error_of([&] {
                     all_reduce(view(x, {huge, huge}), view(x, {huge, huge}));
                   }),
                   "2^63 - 1"));
  EXPECT_TRUE(says(error_of([&] { all_reduce(view(x, {2, -3}), view(x, {2, -3})); }), "negative"));
  EXPECT_TRUE(says(error_of([&] {
                     all_reduce(view(x, {2, 3}), view(x + 6, {3, 2}));
                   }),
                   "output has 3 slices but must have 2"));
  EXPECT_TRUE(says(error_of([&] {
                     reduce_ranks(view(x, {2, 3}), view(x + 6, {2, 3}));
                   }),
                   "must have (3,)"));
  EXPECT_TRUE(says(error_of([&] {
                     all_reduce(view(static_cast<float*>(nullptr), {2, 3}), view(x, {2, 3}));
                   }),
                   "null"));
}

TEST(AllReduce, RefusesMixedTypesAndDevices) {
  float x[6] = {};
  double y[6] = {};
  EXPECT_TRUE(says(error_of([&] { all_reduce(view(x, {2, 3}), view(y, {2, 3})); }), "f64"));
  TensorView elsewhere = view(x, {2, 3});
  elsewhere.device = {DeviceKind::cuda, 0};
  EXPECT_TRUE(says(error_of([&] { all_reduce(view(x, {2, 3}), elsewhere); }), "cuda:0"));
}

TEST(AllReduce, RefusesOverlap) {
  std::vector<float> x(64, 1.0f);
  const auto at = [&](std::size_t offset) { return view(x.data() + offset, {4, 8}); };
  EXPECT_TRUE(says(error_of([&] { all_reduce(at(0), at(1)); }), "overlaps"));
  EXPECT_TRUE(says(error_of([&] { all_reduce(at(8), at(0)); }), "overlaps"));
  EXPECT_TRUE(says(error_of([&] { all_reduce(at(0), at(24)); }), "overlaps"));
  all_reduce(at(0), at(32));
  all_reduce(at(0), at(0));
  // Same start, other stride.
  TensorView spread{x.data(), DType::f32, {4, 8}, {12, 1}, {}};
  EXPECT_TRUE(says(error_of([&] { all_reduce(at(0), spread); }), "overlaps"));
  // A reduce may replace one slice, not parts of two.
  reduce_ranks(at(0), view(x.data() + 16, {8}));
  EXPECT_TRUE(says(error_of([&] { reduce_ranks(at(0), view(x.data() + 4, {8})); }), "overlaps"));
}

TEST(AllReduce, RefusesOutputsWhoseElementsOverlap) {
  float x[32] = {1, 2, 3, 4, 5, 6, 7, 8}, y[32];
  for (const std::int64_t stride : {0, 4, -7}) {
    const TensorView slices{x + 16, DType::f32, {2, 8}, {stride, 1}, {}};
    EXPECT_TRUE(says(error_of([&] { all_reduce(view(y, {2, 8}), slices); }), "overlap"));
  }
  // Inputs may: all ranks hold one slice, or windows of one row.
  const TensorView same_memory{x, DType::f32, {4, 8}, {0, 1}, {}};
  all_reduce(same_memory, view(y, {4, 8}), {.op = ReduceOp::sum});
  EXPECT_EQ(y[8 + 2], 12);
  const TensorView sliding{x, DType::f32, {4, 4}, {1, 1}, {}};
  all_reduce(sliding, view(y, {4, 4}), {.op = ReduceOp::sum});
  EXPECT_EQ(y[3], 4 + 5 + 6 + 7);
}

TEST(AllReduce, RefusesUnknownAlgorithmAndShortWorkspace) {
  float x[6] = {};
  EXPECT_TRUE(says(error_of([&] {
                     all_reduce(view(x, {2, 3}), view(x, {2, 3}), {.algorithm = "fastest"});
                   }),
                   "there are: direct"));
  std::byte few[1];
  ASSERT_GT(workspace_bytes({.ranks = 2, .elements = 3}), 1u);
  EXPECT_TRUE(says(error_of([&] {
                     all_reduce(view(x, {2, 3}), view(x, {2, 3}), {.workspace = {few, 1}});
                   }),
                   "workspace has 1 bytes"));
}

TEST(AllReduce, SaysWhatItDid) {
  BFloat16 x[4] = {};
  const Provenance mean = all_reduce(view(x, {2, 2}), view(x, {2, 2}));
  EXPECT_EQ(mean.algorithm, "direct");
  EXPECT_EQ(mean.device, "cpu");
  EXPECT_EQ(mean.accumulate, "f32");
  EXPECT_EQ(mean.mean, "divide");
  EXPECT_EQ(mean.nan, "");
  EXPECT_EQ(mean.fp8, "");
  EXPECT_EQ(mean.executor, "fused");
  EXPECT_EQ(run_steps(Collective::all_reduce, view(x, {2, 2}), view(x, {2, 2})).executor, "steps");
  Float8E5M2 small[4] = {};
  EXPECT_EQ(all_reduce(view(small, {2, 2}), view(small, {2, 2})).fp8, "saturate");
  EXPECT_EQ(all_reduce(view(small, {2, 2}), view(small, {2, 2}), {.fp8 = Fp8Mode::ieee}).fp8,
            "ieee");
  std::int16_t y[4] = {};
  EXPECT_EQ(reduce_ranks(view(y, {2, 2}), view(y, {2})).accumulate, "i64");
  EXPECT_EQ(all_reduce(view(x, {2, 2}), view(x, {2, 2}), {.op = ReduceOp::max}).nan, "propagate");
  EXPECT_EQ(all_reduce(view(y, {2, 2}), view(y, {2, 2}), {.op = ReduceOp::max}).nan, "");
}

// --- the promised bound, against exact arithmetic ---

template <class T>
double as_double(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return to_float(x);
  else
    return x;
}

cpp_rational size_of(const cpp_rational& x) { return x < 0 ? cpp_rational(-x) : x; }

// u of the carried type, and half a unit in the last place of y.
template <class T>
cpp_rational allowed(std::int64_t ranks, const cpp_rational& mean_magnitude, double y) {
  const int carried_bits = std::is_same_v<T, double> ? 53 : 24;
  const cpp_rational u = cpp_rational(1, cpp_int(1) << carried_bits);
  cpp_rational bound = (tree_levels(ranks) + 2) * u * mean_magnitude;
  if constexpr (sizeof(T) == 2) bound += cpp_rational(ulp_at(y, dtype_of<T>())) / 2;
  // A result in the subnormal range has a fixed unit.
  bound += cpp_rational(ulp_at(0.0, dtype_of<T>())) / 2;
  return bound;
}

template <class T>
void check_bound(std::int64_t ranks, std::int64_t n, ReduceOp op) {
  std::vector<T> x;
  const int exponents = sizeof(T) == 2 ? 6 : 40;
  for (std::int64_t k = 0; k < ranks * n; ++k) {
    const double mantissa = *rc::gen::inRange(-(1 << 24), 1 << 24);
    const double value = std::ldexp(mantissa, *rc::gen::inRange(-exponents, exponents) - 24);
    if constexpr (std::is_same_v<T, Half>)
      x.push_back(to_half(static_cast<float>(value)));
    else if constexpr (std::is_same_v<T, BFloat16>)
      x.push_back(to_bfloat16(static_cast<float>(value)));
    else
      x.push_back(static_cast<T>(value));
  }
  std::vector<T> y(static_cast<std::size_t>(n));
  reduce_ranks(view(x.data(), {ranks, n}), view(y.data(), {n}), {.op = op});
  for (std::int64_t i = 0; i < n; ++i) {
    cpp_rational sum = 0, magnitude = 0;
    for (std::int64_t r = 0; r < ranks; ++r) {
      const cpp_rational value(as_double(x[static_cast<std::size_t>(r * n + i)]));
      sum += value;
      magnitude += size_of(value);
    }
    if (op == ReduceOp::mean) {
      sum /= ranks;
      magnitude /= ranks;
    }
    const double result = as_double(y[static_cast<std::size_t>(i)]);
    RC_ASSERT(std::isfinite(result));
    RC_ASSERT(size_of(cpp_rational(result) - sum) <= allowed<T>(ranks, magnitude, result));
  }
}

RC_GTEST_PROP(Bound, HoldsAgainstExactArithmetic, ()) {
  const auto ranks = *rc::gen::oneOf(rc::gen::inRange(1, 34), rc::gen::inRange(34, 300));
  const auto n = *rc::gen::inRange(1, 20);
  const auto op = *rc::gen::element(ReduceOp::sum, ReduceOp::mean);
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return check_bound<double>(ranks, n, op);
    case 1:
      return check_bound<float>(ranks, n, op);
    case 2:
      return check_bound<BFloat16>(ranks, n, op);
    default:
      // Sums of halves may overflow; their mean may not.
      return check_bound<Half>(ranks, n, ReduceOp::mean);
  }
}

// The mean of equal values is exact where the tree's sums are, and never overflows anywhere.
RC_GTEST_PROP(Bound, MeanOfEqualValues, ()) {
  const auto ranks = *rc::gen::oneOf(rc::gen::inRange(1, 70), rc::gen::inRange(70, 4097));
  const auto bits = *rc::gen::arbitrary<std::uint32_t>();
  const auto check = [&]<class T>(T value, bool exact) {
    const std::vector<T> x(static_cast<std::size_t>(ranks), value);
    T mean;
    reduce_ranks(view(x.data(), {ranks, 1}), view(&mean, {1}));
    const double right = as_double(value), found = as_double(mean);
    if (!std::isfinite(right)) return;
    RC_ASSERT(std::isfinite(found));
    if (exact) RC_ASSERT(found == right);
  };
  const bool power_of_two = (ranks & (ranks - 1)) == 0;
  check(Half{static_cast<std::uint16_t>(bits)}, true);
  check(BFloat16{static_cast<std::uint16_t>(bits)}, true);
  check(std::bit_cast<float>(bits), power_of_two);
  check(std::bit_cast<double>(std::uint64_t{bits} << 32 | bits), power_of_two);
  check(static_cast<std::int32_t>(bits), true);
}

// f32 can't hold every number of ranks above 2^24; the quotient is rounded correctly all the same.
TEST(Bound, DivisorThatF32CannotHold) {
  const std::int64_t ranks = (1 << 24) + 1;
  std::vector<float> x(static_cast<std::size_t>(ranks), 0.0f);
  for (const float value : {1.0f, 3.0f, 16777215.0f, 1e-30f}) {
    x[5] = value;
    float mean;
    reduce_ranks(view(x.data(), {ranks, 1}), view(&mean, {1}));
    // The exact quotient's neighbours among floats must not be nearer.
    const cpp_rational exact = cpp_rational(value) / ranks;
    const auto distance = [&](float y) { return size_of(cpp_rational(y) - exact); };
    EXPECT_LE(distance(mean), distance(std::nextafter(mean, 0.0f)));
    EXPECT_LE(distance(mean), distance(std::nextafter(mean, 1.0f)));
  }
}

// --- registry ---

TEST(Algorithms, AreFoundByNameAndListed) {
  EXPECT_EQ(find_algorithm("direct", Collective::all_reduce).name, "direct");
  EXPECT_TRUE(says(error_of([] { find_algorithm("ring2", Collective::reduce); }), "direct"));
  for (const Algorithm& algorithm : algorithms()) {
    EXPECT_FALSE(algorithm.order.empty()) << algorithm.name;
    EXPECT_FALSE(algorithm.source.empty()) << algorithm.name;
  }
}

}  // namespace
}  // namespace vranks
