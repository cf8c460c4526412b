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
  if constexpr (std::is_same_v<T, Float8E4M3>) return to_float8_e4m3(static_cast<float>(x), false);
  if constexpr (std::is_same_v<T, Float8E5M2>) return to_float8_e5m2(static_cast<float>(x), false);
  if constexpr (std::is_same_v<T, Bool>) return {x != 0};
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(x);
}

double as_double(Half x) { return to_float(x); }
double as_double(BFloat16 x) { return to_float(x); }
double as_double(Float8E4M3 x) { return to_float(x); }
double as_double(Float8E5M2 x) { return to_float(x); }
double as_double(Bool x) { return x.byte; }
template <class T>
double as_double(T x) {
  return static_cast<double>(x);
}

template <class T>
constexpr bool is_complex_type = requires(T x) {
  x.im;
};

// Of complex numbers their parts, one behind the other.
std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> all;
  visit(tensor.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      const T x = tensor.as<T>()[i];
      if constexpr (is_complex_type<T>)
        all.insert(all.end(), {as_double(x.re), as_double(x.im)});
      else
        all.push_back(as_double(x));
    }
  });
  return all;
}

std::int64_t parts(DType dtype) { return is_complex(dtype) ? 2 : 1; }

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
  switch (part_dtype(dtype)) {
    case DType::boolean:
      return 1;
    case DType::f8e5m2:
      return 8;
    case DType::f8e4m3:
      return 16;
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
    default:
      return 0;
  }
}

TEST(FillRandom, HasItsRange) {
  for (const DTypeInfo& row : dtypes()) {
    const auto values = values_of(random_tensor(row.dtype, {4, 10'000}));
    const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
    double sum = 0;
    for (const double x : values) sum += x;
    const double mean = sum / static_cast<double>(values.size());
    if (row.kind == DTypeKind::boolean) {
      EXPECT_EQ(*smallest, 0) << row.name;
      EXPECT_EQ(*largest, 1) << row.name;
      EXPECT_NEAR(mean, 0.5, 0.02) << row.name;
    } else if (row.kind == DTypeKind::floating || row.kind == DTypeKind::complex) {
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
  // The real part is the same number; the imaginary one comes from a hash of its hash.
  const std::vector<double> expected_im = {0x1.36c76c0000000p-1, 0x1.b8f3b80000000p-2,
                                           0x1.1eb9d40000000p-1, 0x1.a015a40000000p-1,
                                           0x1.2629800000000p-2, -0x1.0651400000000p-5};
  const auto c64 = values_of(random_tensor(DType::c64, {2, 3}, 42));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(c64[2 * i], expected_f32[i]);
    EXPECT_EQ(c64[2 * i + 1], expected_im[i]);
  }
  EXPECT_EQ(values_of(random_tensor(DType::boolean, {2, 3}, 42)),
            (std::vector<double>{0, 1, 1, 0, 1, 1}));
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
  const auto op = *rc::gen::element(ReduceOp::sum, ReduceOp::prod, ReduceOp::bxor);
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
      const std::int64_t n = elements * parts(row.dtype);
      double total = 0;
      for (std::int64_t e = 0; e < n; ++e) {
        double sum = 0;  // exact: at most 5000 * 100
        for (std::int64_t r = 0; r < ranks; ++r) {
          const double x = values[static_cast<std::size_t>(r * n + e)];
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
  for (const DTypeInfo& row : dtypes()) {
    if (row.dtype == DType::boolean) continue;
    for (const std::int64_t ranks : rank_counts) {
      SCOPED_TRACE(std::string(row.name) + " R = " + std::to_string(ranks));
      const Tensor tensor(row.dtype, {ranks, elements});
      fill_whole_numbers(tensor.view(), 5, ranks, ReduceOp::prod);
      const auto values = values_of(tensor);
      const auto step = static_cast<std::size_t>(parts(row.dtype));
      const bool has_sign =
          row.kind != DTypeKind::unsigned_integer && row.kind != DTypeKind::complex;
      for (std::int64_t e = 0; e < elements; ++e) {
        double product = 1;
        for (std::int64_t r = 0; r < ranks; ++r) {
          const auto at = static_cast<std::size_t>(r * elements + e) * step;
          const double x = values[at];
          ASSERT_TRUE(x == 1 || x == 2 || (x == -1 && has_sign)) << x;
          const double imaginary = step == 2 ? values[at + 1] : 0;
          ASSERT_TRUE(imaginary == 0 && !std::signbit(imaginary));
          product *= x;
        }
        ASSERT_LE(std::fabs(product), exact_limit(row.dtype));
      }
    }
  }
}

// Truth values are such that every rank decides somewhere, and that without it the result differs.
TEST(FillWholeNumbers, EveryRankDecidesSomeTruth) {
  const auto reduced = [](const Tensor& tensor, ReduceOp op, std::int64_t e, std::int64_t without) {
    int all = 1, any = 0, odd = 0;
    for (std::int64_t r = 0; r < tensor.shape()[0]; ++r) {
      const int x = tensor.as<Bool>()[r * tensor.shape()[1] + e].byte;
      EXPECT_LE(x, 1);
      if (r == without) continue;
      all &= x;
      any |= x;
      odd ^= x;
    }
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::max:
      case ReduceOp::bor:
      case ReduceOp::lor:
        return any;
      case ReduceOp::bxor:
      case ReduceOp::lxor:
        return odd;
      default:
        return all;
    }
  };
  for (const ReduceOpInfo& row : reduce_ops()) {
    if (!supports(row.op, DType::boolean) || finds_rank(row.op)) continue;
    for (const std::int64_t ranks : {2, 3, 17, 64}) {
      const Tensor tensor(DType::boolean, {ranks, 50 * ranks});
      fill_whole_numbers(tensor.view(), 3, ranks, row.op);
      for (std::int64_t r = 0; r < ranks; ++r) {
        int changed = 0;
        for (std::int64_t e = 0; e < 50 * ranks; ++e)
          changed += reduced(tensor, row.op, e, r) != reduced(tensor, row.op, e, -1);
        EXPECT_GT(changed, 5) << row.name << " R = " << ranks << " rank " << r;
      }
    }
  }
}

// One part of an element over all ranks, rounded to T at each step, in the order of `places`.
template <class T>
double reduce(const std::vector<double>& values, const std::vector<std::size_t>& places,
              std::size_t n, std::size_t e, ReduceOp op) {
  T carried = round_to<T>(values[places[0] * n + e]);
  for (std::size_t i = 1; i < places.size(); ++i) {
    const double x = values[places[i] * n + e];
    carried = round_to<T>(op == ReduceOp::prod ? as_double(carried) * x : as_double(carried) + x);
  }
  return as_double(carried);
}

TEST(FillWholeNumbers, EveryOrderGivesTheSame) {
  for (const DTypeInfo& row : dtypes())
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod})
      for (const std::int64_t ranks : {4, 17, 300, 3000}) {
        // Products of complex numbers are of real ones, as seen above.
        if (row.dtype == DType::boolean || (is_complex(row.dtype) && op == ReduceOp::prod))
          continue;
        const Tensor tensor(row.dtype, {ranks, elements});
        fill_whole_numbers(tensor.view(), 9, ranks, op);
        const auto values = values_of(tensor);
        const auto n = static_cast<std::size_t>(elements * parts(row.dtype));
        visit(part_dtype(row.dtype), [&]<class T>() {
          if constexpr (!is_complex_type<T>) {
            for (std::size_t e = 0; e < n; ++e) {
              double exact = op == ReduceOp::prod ? 1 : 0;
              for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
                const double x = values[r * n + e];
                exact = op == ReduceOp::prod ? exact * x : exact + x;
              }
              // Steps that are coprime to all of the rank counts.
              for (const std::size_t step : {1u, 7u, 11u, 2999u}) {
                std::vector<std::size_t> places;
                for (std::size_t i = 0; i < static_cast<std::size_t>(ranks); ++i)
                  places.push_back(i * step % static_cast<std::size_t>(ranks));
                ASSERT_EQ(reduce<T>(values, places, n, e, op), exact)
                    << row.name << " " << name(op) << " R = " << ranks << " step " << step;
              }
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
