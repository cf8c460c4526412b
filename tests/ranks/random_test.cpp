// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The promises of random.hpp, checked in exact arithmetic: same data however it is cut, ranges,
// and whole numbers that every order of summation adds exactly.
#include "ranks/random.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "ranks/tensor.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

template <class T>
T round_to(double x) {
  if constexpr (std::is_same_v<T, Half>) return to_half(static_cast<float>(x));
  if constexpr (std::is_same_v<T, BFloat16>) return to_bfloat16(static_cast<float>(x));
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(x);
}

double as_double(Half x) { return to_float(x); }
double as_double(BFloat16 x) { return to_float(x); }
template <class T>
double as_double(T x) {
  return static_cast<double>(x);
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> all;
  visit(tensor.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < tensor.elements(); ++i)
      all.push_back(as_double(tensor.as<T>()[i]));
  });
  return all;
}

Tensor random_tensor(DType dtype, Shape shape, std::uint64_t seed = 1) {
  Tensor tensor(dtype, std::move(shape));
  fill_random(tensor.view(), seed);
  return tensor;
}

bool same_bytes(const void* a, const void* b, std::int64_t bytes) {
  return std::memcmp(a, b, static_cast<std::size_t>(bytes)) == 0;
}

// The largest whole number up to which the dtype holds them all.
double exact_limit(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return 256;
    case DType::f16:
      return 2048;
    case DType::f32:
      return 0x1p24;
    case DType::f64:
      return 0x1p53;
    case DType::i8:
      return 127;
    case DType::u8:
      return 255;
    case DType::i16:
      return 32767;
    case DType::u16:
      return 65535;
    case DType::i32:
      return 0x1p31 - 1;
    case DType::u32:
      return 0x1p32 - 1;
    case DType::i64:
    case DType::u64:
      return 0x1p63;
  }
  return 0;
}

TEST(FillRandom, HasItsRange) {
  for (const DTypeInfo& row : dtypes()) {
    const auto values = values_of(random_tensor(row.dtype, {4, 10'000}));
    const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
    double sum = 0;
    for (const double x : values) sum += x;
    const double mean = sum / static_cast<double>(values.size());
    if (row.kind == DTypeKind::floating) {
      EXPECT_GE(*smallest, -1) << row.name;
      EXPECT_LT(*smallest, -0.999) << row.name;
      EXPECT_LE(*largest, 1) << row.name;
      EXPECT_GT(*largest, 0.999) << row.name;
      EXPECT_NEAR(mean, 0, 0.02) << row.name;
    } else {
      const int shift = row.kind == DTypeKind::signed_integer ? 100 : 0;
      EXPECT_EQ(*smallest, 0 - shift) << row.name;
      EXPECT_EQ(*largest, 200 - shift) << row.name;
      EXPECT_NEAR(mean, 100 - shift, 2) << row.name;
    }
  }
}

// Computed independently (Python integers): these bits are a promise.
TEST(FillRandom, GivesTheSameNumbersForever) {
  const Tensor f64 = random_tensor(DType::f64, {2, 3}, 42);
  const std::vector<double> expected_f64 = {-0x1.533260fc97c68p-2, 0x1.585c741e8c44ap-1,
                                            0x1.b415ee8216130p-1,  -0x1.98dc478930a60p-3,
                                            0x1.912b360ae7ba8p-1,  0x1.782c516761408p-1};
  EXPECT_EQ(values_of(f64), expected_f64);
  const Tensor f32 = random_tensor(DType::f32, {2, 3}, 42);
  const std::vector<double> expected_f32 = {-0x1.5332680000000p-2, 0x1.585c740000000p-1,
                                            0x1.b415ec0000000p-1,  -0x1.98dc500000000p-3,
                                            0x1.912b340000000p-1,  0x1.782c500000000p-1};
  EXPECT_EQ(values_of(f32), expected_f32);
  const Tensor i8 = random_tensor(DType::i8, {2, 3}, 42);
  const std::vector<double> expected_i8 = {-33, 68, 86, -20, 79, 74};
  EXPECT_EQ(values_of(i8), expected_i8);
}

TEST(FillRandom, DiffersBetweenRanksAndSeeds) {
  const Tensor a = random_tensor(DType::f32, {64, 100}, 1);
  const Tensor b = random_tensor(DType::f32, {64, 100}, 2);
  EXPECT_FALSE(same_bytes(a.data(), b.data(), 400));
  for (int r = 1; r < 64; ++r)
    for (int q = 0; q < r; ++q)
      EXPECT_FALSE(same_bytes(a.data() + 400 * r, a.data() + 400 * q, 400)) << r << " " << q;
}

RC_GTEST_PROP(FillRandom, IsTheSameHoweverTheRanksAreCut, ()) {
  const auto row = *rc::gen::elementOf(std::vector<DTypeInfo>(dtypes().begin(), dtypes().end()));
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 20);
  const auto elements = *rc::gen::elementOf(std::vector<std::int64_t>{1, 7, 4096, 4097, 9000});
  const auto first = *rc::gen::inRange<std::int64_t>(0, ranks);
  const auto count = *rc::gen::inRange<std::int64_t>(1, ranks - first + 1);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const bool whole_numbers = *rc::gen::arbitrary<bool>();
  const auto op = *rc::gen::element(ReduceOp::sum, ReduceOp::prod);
  const auto fill = [&](const Tensor& tensor, std::int64_t first_rank) {
    if (whole_numbers)
      fill_whole_numbers(tensor.view(), seed, ranks, op, first_rank);
    else
      fill_random(tensor.view(), seed, first_rank);
  };
  const Tensor whole(row.dtype, {ranks, elements});
  const Tensor part(row.dtype, {count, elements});
  fill(whole, 0);
  fill(part, first);
  const std::int64_t row_bytes = elements * static_cast<std::int64_t>(row.bytes);
  RC_ASSERT(same_bytes(part.data(), whole.data() + first * row_bytes, part.bytes()));
}

TEST(FillRandom, LeavesGapsBetweenRowsAlone) {
  std::vector<float> data(40, -7.0f);
  TensorView spaced = view(data.data(), {4, 6});
  spaced.strides = {10, 1};
  fill_random(spaced, 1);
  const Tensor dense = random_tensor(DType::f32, {4, 6}, 1);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t e = 0; e < 10; ++e)
      EXPECT_EQ(data[10 * r + e], e < 6 ? dense.as<float>()[6 * r + e] : -7.0f);
}

TEST(FillRandom, RefusesWhatItCanNotFill) {
  float number = 0;
  TensorView tensor = view(&number, {1});
  expect_error(ErrorKind::bad_argument, {"first rank can't be -1"},
               [&] { fill_random(tensor, 1, -1); });
  expect_error(ErrorKind::bad_argument, {"first rank can't be 9223372036854775807 for 1 ranks"},
               [&] { fill_random(tensor, 1, std::numeric_limits<std::int64_t>::max()); });
  expect_error(ErrorKind::bad_argument, {"ranks 3 to 3 are not among 3 ranks"},
               [&] { fill_whole_numbers(tensor, 1, 3, ReduceOp::sum, 3); });
  tensor.device = {DeviceKind::cuda, 0};
  expect_error(ErrorKind::bad_argument, {"cuda:0"}, [&] { fill_random(tensor, 1); });
  tensor = view(&number, {});
  expect_error(ErrorKind::bad_argument, {"tensor to fill"}, [&] { fill_random(tensor, 1); });
}

// Around every limit above, and beyond it.
const std::vector<std::int64_t> rank_counts = {1,   2,   3,   5,    6,    7,    8,    17,  64,
                                               126, 127, 128, 129,  254,  255,  256,  257, 300,
                                               511, 600, 769, 2047, 2048, 2049, 3000, 5000};
constexpr std::int64_t elements = 23;

TEST(FillWholeNumbers, SumsStayWithinTheExactRange) {
  for (const DTypeInfo& row : dtypes())
    for (const std::int64_t ranks : rank_counts) {
      SCOPED_TRACE(std::string(row.name) + " R = " + std::to_string(ranks));
      const Tensor tensor(row.dtype, {ranks, elements});
      fill_whole_numbers(tensor.view(), 5, ranks, ReduceOp::sum);
      const auto values = values_of(tensor);
      double total = 0;
      for (std::int64_t e = 0; e < elements; ++e) {
        double sum = 0;  // exact: at most 5000 * 100
        for (std::int64_t r = 0; r < ranks; ++r) {
          const double x = values[static_cast<std::size_t>(r * elements + e)];
          ASSERT_EQ(x, std::trunc(x));
          ASSERT_LE(std::fabs(x), 100);
          sum += std::fabs(x);
        }
        ASSERT_LE(sum, exact_limit(row.dtype));
        total += sum;
      }
      EXPECT_GT(total, 0);
    }
}

TEST(FillWholeNumbers, ProductsHoldFewTwos) {
  for (const DTypeInfo& row : dtypes())
    for (const std::int64_t ranks : rank_counts) {
      SCOPED_TRACE(std::string(row.name) + " R = " + std::to_string(ranks));
      const Tensor tensor(row.dtype, {ranks, elements});
      fill_whole_numbers(tensor.view(), 5, ranks, ReduceOp::prod);
      const auto values = values_of(tensor);
      for (std::int64_t e = 0; e < elements; ++e) {
        double product = 1;
        for (std::int64_t r = 0; r < ranks; ++r) {
          const double x = values[static_cast<std::size_t>(r * elements + e)];
          const bool allowed =
              x == 1 || x == 2 || (x == -1 && row.kind != DTypeKind::unsigned_integer);
          ASSERT_TRUE(allowed) << x;
          product *= x;
        }
        ASSERT_LE(std::fabs(product), exact_limit(row.dtype));
      }
    }
}

// The value of an element over all ranks, rounded to T at each step, in the order of `places`.
template <class T>
double reduce(const std::vector<double>& values, const std::vector<std::size_t>& places,
              std::int64_t e, ReduceOp op) {
  T carried = round_to<T>(values[places[0] * elements + static_cast<std::size_t>(e)]);
  for (std::size_t i = 1; i < places.size(); ++i) {
    const double x = values[places[i] * elements + static_cast<std::size_t>(e)];
    carried = round_to<T>(op == ReduceOp::prod ? as_double(carried) * x : as_double(carried) + x);
  }
  return as_double(carried);
}

TEST(FillWholeNumbers, EveryOrderGivesTheSame) {
  for (const DTypeInfo& row : dtypes())
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod})
      for (const std::int64_t ranks : {4, 17, 300, 3000}) {
        const Tensor tensor(row.dtype, {ranks, elements});
        fill_whole_numbers(tensor.view(), 9, ranks, op);
        const auto values = values_of(tensor);
        visit(row.dtype, [&]<class T>() {
          for (std::int64_t e = 0; e < elements; ++e) {
            double exact = op == ReduceOp::prod ? 1 : 0;
            for (std::int64_t r = 0; r < ranks; ++r) {
              const double x = values[static_cast<std::size_t>(r * elements + e)];
              exact = op == ReduceOp::prod ? exact * x : exact + x;
            }
            // Steps that are coprime to all of the rank counts.
            for (const std::size_t step : {1u, 7u, 11u, 2999u}) {
              std::vector<std::size_t> places;
              for (std::size_t i = 0; i < static_cast<std::size_t>(ranks); ++i)
                places.push_back(i * step % static_cast<std::size_t>(ranks));
              ASSERT_EQ(reduce<T>(values, places, e, op), exact)
                  << row.name << " " << name(op) << " R = " << ranks << " step " << step;
            }
          }
        });
      }
}

TEST(FillWholeNumbers, DiffersBetweenRanks) {
  for (const DTypeInfo& row : dtypes())
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod}) {
      const Tensor tensor(row.dtype, {17, 200});
      fill_whole_numbers(tensor.view(), 1, 17, op);
      const std::int64_t bytes = 200 * static_cast<std::int64_t>(row.bytes);
      for (int r = 1; r < 17; ++r)
        for (int q = 0; q < r; ++q)
          EXPECT_FALSE(same_bytes(tensor.data() + r * bytes, tensor.data() + q * bytes, bytes))
              << row.name << " " << name(op) << " ranks " << r << " and " << q;
    }
}

}  // namespace
}  // namespace vranks
