// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Public bug reports about values, as inputs with the right answers, on every device.
// tests/cases.md lists the reports, and which parts of each run here.
#include "cases.hpp"

#include <cmath>
#include <limits>

#include "ranks/half.hpp"

namespace vranks {
namespace {

class Cases : public OnDevice {};
VR_ON_EVERY_DEVICE(Cases);

TEST_P(Cases, OVF_1_HalfMeanDoesNotOverflow) {
  EXPECT_EQ(numbers(reduced(repeated(8, to_half(60000)), 2, ReduceOp::mean)), repeated(4, 60000.0));
  // The same for every float type, with the carried sum overflowing too.
  for_each_dtype(is_floating, [&]<class T>() {
    const T largest = element<T>(static_cast<double>(
        plain::value_of(plain::format_of(dtype_of<T>()), plain::format_of(dtype_of<T>()).largest)));
    for (const std::int64_t ranks : {4, 16})
      EXPECT_EQ(number(reduced(repeated(ranks, largest), ranks, ReduceOp::mean)[0]),
                number(largest));
  });
  EXPECT_EQ(number(reduced(repeated(10, BFloat16{0x7f7f}), 10, ReduceOp::mean)[0]),
            number(BFloat16{0x7f7f}));
  EXPECT_EQ(reduced(repeated(4, 3e38f), 4, ReduceOp::mean)[0], 3e38f);
  EXPECT_EQ(reduced(repeated(4, -1.7e308), 4, ReduceOp::mean)[0], -1.7e308);
  EXPECT_EQ(number(reduced(repeated(4096, to_half(65504)), 4096, ReduceOp::mean)[0]), 65504.0);
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
  for_each_dtype(is_floating, [&]<class T>() {
    const auto least = static_cast<double>(plain::format_of(dtype_of<T>()).least());
    for (const std::int64_t ranks : {2, 64})
      EXPECT_EQ(number(reduced(repeated(ranks, element<T>(least)), ranks, ReduceOp::sum)[0]),
                static_cast<double>(ranks) * least);
  });
  for_each_algorithm(Collective::all_reduce, 64, ReduceOp::sum, [&](CollectiveOptions options) {
    options.op = ReduceOp::sum;
    for (const std::int64_t ranks : {2, 64}) {
      const auto times = static_cast<float>(ranks);
      EXPECT_EQ(results(Collective::all_reduce, repeated(ranks, 0x1p-149f), {ranks, 1}, options)[0],
                times * 0x1p-149f);
      EXPECT_EQ(number(results(Collective::all_reduce, repeated(ranks, to_half(0x1p-24f)),
                               {ranks, 1}, options)[0]),
                static_cast<double>(times) * 0x1p-24);
    }
  });
}

TEST_P(Cases, DTY_1_MinMaxKeepTheSign) {
  const auto check = [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    const auto reduced = [&](const std::vector<T>& x, std::int64_t ranks, ReduceOp op) {
      const std::vector<T> right = OnDevice::reduced(x, ranks, op);
      const Shape shape{ranks, 2};
      for_each_algorithm(Collective::all_reduce, ranks, op, [&](CollectiveOptions options) {
        options.op = op;
        const std::vector<T> rows = results(Collective::all_reduce, x, shape, options);
        EXPECT_EQ(std::vector<T>(rows.begin(), rows.begin() + 2), right);
      });
      for_each_algorithm(Collective::scan, ranks, op, [&](CollectiveOptions options) {
        options.op = op;
        const std::vector<T> rows = results(Collective::scan, x, shape, options);
        EXPECT_EQ(std::vector<T>(rows.begin(), rows.begin() + 2),
                  std::vector<T>(x.begin(), x.begin() + 2));
        EXPECT_EQ(std::vector<T>(rows.begin() + 2, rows.end()), right);
      });
      return right;
    };
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
  // In any order, and cut into blocks: exact, or with a sum that wraps first, as NCCL has it.
  const auto check = [&]<class T>(const std::vector<T>& x, Accumulate accumulate, T right) {
    const auto ranks = std::ssize(x);
    for_each_algorithm(Collective::all_reduce, ranks, ReduceOp::mean,
                       [&](CollectiveOptions options) {
                         options.accumulate = accumulate;
                         EXPECT_EQ(results(Collective::all_reduce, x, {ranks, 1}, options),
                                   std::vector<T>(x.size(), right));
                       });
    // Each rank's block is its element of the same column.
    std::vector<T> columns;
    for (const T value : x) columns.insert(columns.end(), x.size(), value);
    for_each_algorithm(
        Collective::reduce_scatter, ranks, ReduceOp::mean, [&](CollectiveOptions options) {
          options.accumulate = accumulate;
          EXPECT_EQ(results(Collective::reduce_scatter, columns, {ranks, ranks}, options),
                    std::vector<T>(x.size(), right));
        });
  };
  for (const Accumulate accumulate : {Accumulate::exact, Accumulate::storage}) {
    check(Bytes{-5, -5}, accumulate, std::int8_t{-5});
    check(Bytes{-3, -4}, accumulate, std::int8_t{-3});
    check(std::vector<std::int32_t>{3, 4, 5}, accumulate, 4);
  }
  check(Bytes{100, 100}, Accumulate::exact, std::int8_t{100});
  check(Bytes{100, 100}, Accumulate::storage, std::int8_t{-28});
}

TEST_P(Cases, DTY_4_IntegersKeepAllDigits) {
  using Ints = std::vector<std::int32_t>;
  using Longs = std::vector<std::int64_t>;
  EXPECT_EQ(reduced(Ints{6400, 1600, 400}, 3, ReduceOp::sum), Ints{8400});
  EXPECT_EQ(reduced(Ints{16777216, 1, 1}, 3, ReduceOp::sum), Ints{16777218});
  EXPECT_EQ(reduced(Longs{9007199254740993, 9007199254740993}, 2, ReduceOp::mean),
            Longs{9007199254740993});
  for_each_algorithm(Collective::all_reduce, 3, ReduceOp::mean, [&](CollectiveOptions options) {
    options.op = ReduceOp::sum;
    EXPECT_EQ(results(Collective::all_reduce, Ints{6400, 1600, 400}, {3, 1}, options)[2], 8400);
    EXPECT_EQ(results(Collective::all_reduce, Ints{16777216, 1, 1}, {3, 1}, options)[1], 16777218);
    options.op = ReduceOp::mean;
    options.accumulate = Accumulate::exact;
    const Longs large{9007199254740993, 9007199254740993};
    EXPECT_EQ(results(Collective::all_reduce, large, {2, 1}, options), large);
  });
  // The sum of two of these needs 65 bits.
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(reduced(Longs{largest, largest, largest}, 3, ReduceOp::mean), Longs{largest});
}

TEST_P(Cases, SCL_1_MeanDividesByRanks) {
  const std::vector<float> two_ranks{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2};
  EXPECT_EQ(reduced(two_ranks, 2, ReduceOp::mean), repeated(6, 1.5f));
  const std::vector<float> six_ranks{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
  EXPECT_EQ(reduced(six_ranks, 6, ReduceOp::mean), repeated(2, 3.5f));
  // x[r][i] = (r + 1) (i + 1)
  const std::vector<float> blocks{1, 2, 3, 4, 2, 4, 6, 8};
  for (const MeanMode mean : {MeanMode::divide, MeanMode::premultiply}) {
    for (const Collective collective : {Collective::all_reduce, Collective::reduce})
      for_each_algorithm(collective, 6, ReduceOp::mean, [&](CollectiveOptions options) {
        options.mean = mean;
        EXPECT_EQ(results(collective, two_ranks, {2, 6}, options)[5], 1.5f);
        EXPECT_NEAR(results(collective, six_ranks, {6, 2}, options)[1], 3.5f,
                    mean == MeanMode::divide ? 0 : 8 * 0x1p-24 * 3.5);
      });
    for_each_algorithm(Collective::reduce_scatter, 2, ReduceOp::mean,
                       [&](CollectiveOptions options) {
                         options.mean = mean;
                         EXPECT_EQ(results(Collective::reduce_scatter, blocks, {2, 4}, options),
                                   (std::vector<float>{1.5f, 3, 4.5f, 6}));
                       });
    for_each_algorithm(
        Collective::reduce_scatter_v, 2, ReduceOp::mean, [&](CollectiveOptions options) {
          options.mean = mean;
          options.counts = {1, 3};
          const auto out = results(Collective::reduce_scatter_v, blocks, {2, 4}, options);
          EXPECT_EQ(out[0], 1.5f);
          EXPECT_EQ(std::vector<float>(out.begin() + 3, out.end()),
                    (std::vector<float>{3, 4.5f, 6}));
        });
  }
}

TEST_P(Cases, SCL_3_NoSeedValues) {
  const auto numeric = [](DType dtype) { return dtype != DType::boolean; };
  for_each_dtype(numeric, [&]<class T>() {
    constexpr DType dtype = dtype_of<T>();
    const auto expect = [&](const std::vector<double>& x, ReduceOp op,
                            const std::vector<double>& running) {
      if (!supports(op, dtype)) return;
      const auto ranks = std::ssize(x);
      SCOPED_TRACE(fmt::format("{} of {}", name(op), name(dtype)));
      EXPECT_EQ(numbers(reduced(elements<T>(x), ranks, op))[0], running.back());
      for (const Collective collective :
           {Collective::all_reduce, Collective::reduce, Collective::scan, Collective::exscan})
        for_each_algorithm(collective, ranks, op, [&](CollectiveOptions options) {
          options.op = op;
          const auto out = numbers(results(collective, elements<T>(x), {ranks, 1}, options));
          if (collective == Collective::scan)
            EXPECT_EQ(out, running);
          else if (collective == Collective::exscan)
            EXPECT_EQ(std::vector<double>(out.begin() + 1, out.end()),
                      std::vector<double>(running.begin(), running.end() - 1));
          else
            EXPECT_EQ(out[0], running.back());
        });
    };
    if (info(dtype).kind != DTypeKind::unsigned_integer) {
      expect({-1, -1}, ReduceOp::max, {-1, -1});
      expect({-5, -3, -9}, ReduceOp::max, {-5, -3, -3});
    }
    expect({5, 3, 7}, ReduceOp::min, {5, 3, 3});
    expect({2, 3, 4}, ReduceOp::prod, {2, 6, 24});
    // Rank 0 of an exscan gets the identity.
    const auto first = [&](ReduceOp op) {
      return number(results(Collective::exscan, elements<T>({5, 3, 7}), {3, 1}, {.op = op})[0]);
    };
    const double infinity = std::numeric_limits<double>::infinity();
    if (is_integer(dtype)) {
      EXPECT_EQ(first(ReduceOp::min), static_cast<double>(plain::largest_integer(dtype)));
      EXPECT_EQ(first(ReduceOp::max), static_cast<double>(plain::least_integer(dtype)));
    } else if (is_floating(dtype)) {
      // 8-bit floats saturate.
      EXPECT_EQ(first(ReduceOp::min), dtype == DType::f8e4m3   ? 448
                                      : dtype == DType::f8e5m2 ? 57344
                                                               : infinity);
      EXPECT_EQ(first(ReduceOp::max), -first(ReduceOp::min));
    }
    EXPECT_EQ(first(ReduceOp::prod), 1);
    EXPECT_EQ(first(ReduceOp::sum), 0);
  });
  // A sum of negative zeros is a negative zero: nothing was added to +0.
  EXPECT_TRUE(std::signbit(reduced(repeated(3, -0.0f), 3, ReduceOp::sum)[0]));
}

}  // namespace
}  // namespace vranks
