// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Public bug reports of other libraries as inputs with the right answers, on every device.
// tests/cases.md lists the reports, and which parts of each run here.
#include <cmath>
#include <limits>

#include "on_device.hpp"
#include "ranks/half.hpp"

namespace vranks {
namespace {

class Cases : public OnDevice {};
VR_ON_EVERY_DEVICE(Cases);

std::vector<float> floats(const std::vector<Half>& values) {
  std::vector<float> all;
  for (const Half value : values) all.push_back(to_float(value));
  return all;
}

template <class T>
std::vector<T> repeated(std::int64_t count, T value) {
  return std::vector<T>(static_cast<std::size_t>(count), value);
}

TEST_P(Cases, OVF_1_HalfMeanDoesNotOverflow) {
  EXPECT_EQ(floats(reduced(repeated(8, to_half(60000)), 2, ReduceOp::mean)), repeated(4, 60000.0f));
  // The same for every float type, with the carried sum overflowing too.
  const std::vector<BFloat16> largest = repeated(10, BFloat16{0x7f7f});
  EXPECT_EQ(reduced(largest, 10, ReduceOp::mean)[0].bits, 0x7f7f);
  EXPECT_EQ(reduced(repeated(4, 3e38f), 4, ReduceOp::mean)[0], 3e38f);
  EXPECT_EQ(reduced(repeated(4, -1.7e308), 4, ReduceOp::mean)[0], -1.7e308);
  EXPECT_EQ(floats(reduced(repeated(4096, to_half(65504)), 4096, ReduceOp::mean))[0], 65504.0f);
}

TEST_P(Cases, RND_3_MeanOverManyRanks) {
  std::vector<BFloat16> alternating;
  for (int r = 0; r < 1024; ++r) alternating.push_back(to_bfloat16(static_cast<float>(r % 2)));
  EXPECT_EQ(to_float(reduced(alternating, 1024, ReduceOp::mean)[0]), 0.5f);
  // 2^25 ranks with three elements: a running sum would stick at 2^24.
  const std::vector<float> ones = repeated(std::int64_t{3} << 25, 1.0f);
  EXPECT_EQ(call(Collective::reduce, ones, 1 << 25, {.op = ReduceOp::mean}), repeated(3, 1.0f));
}

TEST_P(Cases, RND_6_SubnormalsAreKept) {
  for (const std::int64_t ranks : {2, 64}) {
    const auto times = static_cast<float>(ranks);
    EXPECT_EQ(reduced(repeated(ranks, 0x1p-149f), ranks, ReduceOp::sum)[0], times * 0x1p-149f);
    EXPECT_EQ(to_float(reduced(repeated(ranks, to_half(0x1p-24f)), ranks, ReduceOp::sum)[0]),
              times * 0x1p-24f);
  }
}

TEST_P(Cases, ZER_1_NoElements) {
  for (const Shape& shape : {Shape{4, 0}, Shape{4, 1, 0, 2}, Shape{4, 648632, 0}, Shape{1, 0}})
    for (const DType dtype : {DType::f32, DType::i8})
      for (const ReduceOpInfo& op : reduce_ops()) {
        const TensorView none{nullptr, dtype, shape, {}, GetParam()};
        const TensorView row{nullptr, dtype, Shape(shape.begin() + 1, shape.end()), {}, GetParam()};
        EXPECT_EQ(all_reduce(none, none, {.op = op.op}).algorithm, "direct");
        EXPECT_EQ(reduce_ranks(none, row, {.op = op.op}).algorithm, "direct");
        EXPECT_EQ(workspace_bytes({.ranks = 4, .elements = 0, .dtype = dtype}, GetParam()), 0u);
      }
}

TEST_P(Cases, IDX_3_RanksBeyondGridLimits) {
  for (const std::int64_t ranks : {65535, 65536, 70000}) {
    const std::vector<float> ones = repeated(3 * ranks, 1.0f);
    EXPECT_EQ(reduced(ones, ranks, ReduceOp::sum), repeated(3, static_cast<float>(ranks)));
    EXPECT_EQ(reduced(ones, ranks, ReduceOp::mean), repeated(3, 1.0f));
    EXPECT_EQ(reduced(ones, ranks, ReduceOp::max), repeated(3, 1.0f));
    const std::vector<std::int8_t> bytes = repeated(3 * ranks, std::int8_t{1});
    EXPECT_EQ(reduced(bytes, ranks, ReduceOp::sum),
              repeated(3, static_cast<std::int8_t>(ranks & 0xff)));
    EXPECT_EQ(reduced(bytes, ranks, ReduceOp::mean), repeated(3, std::int8_t{1}));
    EXPECT_EQ(reduced(bytes, ranks, ReduceOp::max), repeated(3, std::int8_t{1}));
  }
}

TEST_P(Cases, DTY_1_MinMaxKeepTheSign) {
  const auto check = [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_unsigned_v<T>) {
      const T large = static_cast<T>((T{1} << (sizeof(T) * 8 - 1)) + 72);
      const std::vector<T> x{0, large, Limits::max(), 50};
      EXPECT_EQ(reduced(x, 2, ReduceOp::min), (std::vector<T>{0, 50}));
      EXPECT_EQ(reduced(x, 2, ReduceOp::max), (std::vector<T>{Limits::max(), large}));
    } else {
      const std::vector<T> x{Limits::min(), 5, 7, Limits::max()};
      EXPECT_EQ(reduced(x, 2, ReduceOp::min), (std::vector<T>{Limits::min(), 5}));
      EXPECT_EQ(reduced(x, 2, ReduceOp::max), (std::vector<T>{7, Limits::max()}));
    }
  };
  for (const DTypeInfo& dtype : dtypes())
    visit(dtype.dtype, [&]<class T>() {
      if constexpr (std::is_integral_v<T>) check.template operator()<T>();
    });
}

TEST_P(Cases, DTY_2_IntegerMean) {
  using Bytes = std::vector<std::int8_t>;
  EXPECT_EQ(reduced(Bytes{-5, -5}, 2, ReduceOp::mean), Bytes{-5});
  EXPECT_EQ(reduced(Bytes{-3, -4}, 2, ReduceOp::mean), Bytes{-3});  // truncates toward zero
  EXPECT_EQ(reduced(Bytes{100, 100}, 2, ReduceOp::mean), Bytes{100});
  EXPECT_EQ(reduced(Bytes{120, 100}, 2, ReduceOp::sum), Bytes{-36});
  EXPECT_EQ(reduced(std::vector<std::int32_t>{3, 4, 5}, 3, ReduceOp::mean),
            std::vector<std::int32_t>{4});
}

TEST_P(Cases, DTY_4_IntegersKeepAllDigits) {
  using Ints = std::vector<std::int32_t>;
  using Longs = std::vector<std::int64_t>;
  EXPECT_EQ(reduced(Ints{6400, 1600, 400}, 3, ReduceOp::sum), Ints{8400});
  EXPECT_EQ(reduced(Ints{16777216, 1, 1}, 3, ReduceOp::sum), Ints{16777218});
  EXPECT_EQ(reduced(Longs{9007199254740993, 9007199254740993}, 2, ReduceOp::mean),
            Longs{9007199254740993});
  // The sum of two of these needs 65 bits.
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(reduced(Longs{largest, largest, largest}, 3, ReduceOp::mean), Longs{largest});
}

TEST_P(Cases, TAI_1_OneRankWritesEverything) {
  for (const std::int64_t n : {1, 7, 33, 8191, 8193, 8200}) {
    std::vector<BFloat16> x;
    for (std::int64_t i = 0; i < n; ++i) x.push_back(to_bfloat16(static_cast<float>(i % 97 + 1)));
    for (const ReduceOp op : {ReduceOp::mean, ReduceOp::sum}) {
      const auto out = reduced(x, 1, op);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i].bits, x[i].bits) << i;
    }
  }
}

TEST_P(Cases, TAI_2_CountsThatNothingDivides) {
  const auto check = [&]<class T>(std::int64_t n, auto make) {
    std::vector<T> x, right;
    for (int r = 0; r < 8; ++r)
      for (std::int64_t i = 0; i < n; ++i) x.push_back(make((r + 1) * static_cast<int>(i % 3 + 1)));
    for (std::int64_t i = 0; i < n; ++i) right.push_back(make(36 * static_cast<int>(i % 3 + 1)));
    const auto out = n > 1000 ? call(Collective::reduce, x, 8, {.op = ReduceOp::sum})
                              : reduced(x, 8, ReduceOp::sum);
    EXPECT_EQ(std::memcmp(out.data(), right.data(), right.size() * sizeof(T)), 0) << "n = " << n;
  };
  for (const std::int64_t n : {1, 3, 13, 129, 1000, 10556587}) {
    check.template operator()<float>(n, [](int v) { return static_cast<float>(v); });
    check.template operator()<Half>(n, [](int v) { return to_half(static_cast<float>(v)); });
    check.template operator()<std::int8_t>(n, [](int v) { return static_cast<std::int8_t>(v); });
  }
}

TEST_P(Cases, SCL_1_MeanDividesByRanks) {
  const std::vector<float> two_ranks{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2};
  EXPECT_EQ(reduced(two_ranks, 2, ReduceOp::mean), repeated(6, 1.5f));
  const std::vector<float> six_ranks{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
  EXPECT_EQ(reduced(six_ranks, 6, ReduceOp::mean), repeated(2, 3.5f));
}

TEST_P(Cases, SCL_3_NoSeedValues) {
  for (const DTypeInfo& dtype : dtypes())
    visit(dtype.dtype, [&]<class T>() {
      const auto values = [](std::initializer_list<int> list) {
        std::vector<T> all;
        for (const int value : list) {
          if constexpr (std::is_same_v<T, Half>)
            all.push_back(to_half(static_cast<float>(value)));
          else if constexpr (std::is_same_v<T, BFloat16>)
            all.push_back(to_bfloat16(static_cast<float>(value)));
          else
            all.push_back(static_cast<T>(value));
        }
        return all;
      };
      const auto expect = [&](std::vector<T> x, ReduceOp op, int right) {
        const T wanted = values({right})[0];
        const T found = reduced(x, static_cast<std::int64_t>(x.size()), op)[0];
        EXPECT_EQ(std::memcmp(&found, &wanted, sizeof(T)), 0) << dtype.name << ' ' << name(op);
      };
      if (dtype.kind != DTypeKind::unsigned_integer) {
        expect(values({-1, -1}), ReduceOp::max, -1);
        expect(values({-5, -3, -9}), ReduceOp::max, -3);
      }
      expect(values({5, 3, 7}), ReduceOp::min, 3);
      expect(values({2, 3, 4}), ReduceOp::prod, 24);
    });
  // A sum of negative zeros is a negative zero: nothing was added to +0.
  EXPECT_TRUE(std::signbit(reduced(repeated(3, -0.0f), 3, ReduceOp::sum)[0]));
}

TEST_P(Cases, LAY_1_StridedSlicesAreRefused) {
  // x = base[:, :, 0] of a (2, 2, 2) tensor has element stride 2; a transposed (2, 5) has (1, 5).
  float base[8] = {1, 99, 2, 99, 11, 99, 12, 99};
  float out[10] = {};
  const TensorView column{base, DType::f32, {2, 2}, {4, 2}, {}};
  EXPECT_NE(error_of([&] {
              all_reduce(column, view(out, {2, 2}), {.op = ReduceOp::sum});
            }).find("must be contiguous"),
            std::string::npos);
  const TensorView transposed{base, DType::f32, {1, 4, 2}, {8, 1, 4}, {}};
  EXPECT_NE(error_of([&] {
              all_reduce(transposed, view(out, {1, 4, 2}));
            }).find("must be contiguous"),
            std::string::npos);
  EXPECT_EQ(base[1], 99);
  // A stride between ranks is honoured: slices of two elements, four apart.
  const TensorView padded{base, DType::f32, {2, 2}, {4, 1}, {}};
  all_reduce(padded, view(out, {2, 2}), {.op = ReduceOp::sum});
  EXPECT_EQ(std::vector<float>(out, out + 4), (std::vector<float>{12, 198, 12, 198}));
}

}  // namespace
}  // namespace vranks
