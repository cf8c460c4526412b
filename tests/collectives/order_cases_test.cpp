// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Public bug reports about the order of an algorithm, as inputs with the right answers, on every
// device. tests/cases.md lists the reports.
#include <cmath>
#include <limits>
#include <numeric>

#include "cases.hpp"
#include "on_device.hpp"
#include "ranks/half.hpp"
#include "ranks/names.hpp"
#include "variants.hpp"

namespace vranks {
namespace {

class OrderCases : public OnDevice {
 protected:
  // x[r] in every one of `columns` columns.
  template <class T>
  static std::vector<T> columns_of(const std::vector<T>& x, std::size_t columns) {
    std::vector<T> all;
    for (const T value : x) all.insert(all.end(), columns, value);
    return all;
  }

  // Row 0 of an all_reduce as floats, after checking that all ranks hold its bits and that in place
  // gives them too.
  template <class T>
  std::vector<double> values(const std::vector<T>& x, std::int64_t ranks,
                             const CollectiveOptions& options) const {
    const auto rows = call(Collective::all_reduce, x, ranks, options);
    const auto in_place = call(Collective::all_reduce, x, ranks, options, true);
    EXPECT_EQ(std::memcmp(rows.data(), in_place.data(), rows.size() * sizeof(T)), 0);
    const std::size_t n = rows.size() / static_cast<std::size_t>(ranks);
    for (std::size_t r = 1; r < static_cast<std::size_t>(ranks); ++r)
      EXPECT_EQ(std::memcmp(rows.data(), rows.data() + r * n, n * sizeof(T)), 0)
          << options.algorithm << ", rank " << r;
    std::vector<double> row;
    for (std::size_t i = 0; i < n; ++i) row.push_back(number(rows[i]));
    return row;
  }

  // Calls f(options) for every all_reduce algorithm and its variants over R ranks.
  template <class F>
  static void for_each_variant(std::int64_t ranks, const F& f) {
    for (const Algorithm& algorithm : algorithms())
      if (has_word(algorithm.collectives, "all_reduce"))
        for (const Parameters& parameters : variants(algorithm, ranks)) {
          SCOPED_TRACE(std::string(algorithm.name) + " " + to_string(parameters));
          f(CollectiveOptions{.algorithm = algorithm.name, .parameters = parameters});
        }
  }
};
VR_ON_EVERY_DEVICE(OrderCases);

using Values = std::vector<double>;

TEST_P(OrderCases, RND_1_CancellationShowsTheOrder) {
  const std::vector<float> x = columns_of<float>({1e8f, 1, -1e8f, 1}, 4);
  const auto sum = [&](std::string_view algorithm, std::optional<Accumulate> accumulate = {}) {
    return values(x, 4, {.op = ReduceOp::sum, .algorithm = algorithm, .accumulate = accumulate});
  };
  // The ring's chunk c starts at rank c, NCCL's one rank later.
  EXPECT_EQ(sum("ring"), (Values{1, 0, 1, 0}));
  // NCCL cuts at multiples of 16 bytes.
  const auto nccl = values(columns_of<float>({1e8f, 1, -1e8f, 1}, 16), 4,
                           {.op = ReduceOp::sum, .algorithm = "nccl_ring"});
  EXPECT_EQ(nccl, (Values{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(sum("recursive_doubling"), (Values{0, 0, 0, 0}));
  EXPECT_EQ(sum("direct"), (Values{0, 0, 0, 0}));
  EXPECT_EQ(sum("one_shot"), (Values{1, 1, 1, 1}));
  for_each_variant(4, [&](CollectiveOptions options) {
    options.op = ReduceOp::sum;
    options.accumulate = Accumulate::f64;
    EXPECT_EQ(values(x, 4, options), (Values{2, 2, 2, 2}));
  });
}

TEST_P(OrderCases, RND_4_PremultipliedMeans) {
  const auto check = [&]<class T>(std::int64_t ranks, T v, double emulated) {
    const std::vector<T> x(static_cast<std::size_t>(ranks), v);
    EXPECT_EQ(values(x, ranks, {})[0], number(v));
    // Sequential adds of separately rounded products, as the report has it.
    const CollectiveOptions options{
        .algorithm = "ring", .accumulate = Accumulate::storage, .mean = MeanMode::premultiply};
    EXPECT_EQ(values(x, ranks, options)[0], emulated) << ranks;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  check(3, 7.0f, 7.000000476837158);
  check(6, to_half(1), 0.99951171875);
  check(7, to_bfloat16(1), 0.9921875);
  check(10, to_bfloat16(1), 1.0078125);
  check(10, BFloat16{0x7f7f}, infinity);
  check(3, element<Float8E4M3>(7), 7.5);
  check(10, element<Float8E4M3>(448), 384);
}

TEST_P(OrderCases, OVF_1_HalfMeanDoesNotOverflow) {
  const std::vector<Half> x(8, to_half(60000));
  for_each_variant(2, [&](const CollectiveOptions& options) {
    EXPECT_EQ(values(x, 2, options), Values(4, 60000.0));
  });
}

TEST_P(OrderCases, OVF_3_HalfSumsThatCancel) {
  std::vector<Half> x;
  for (int r = 0; r < 8; ++r) x.insert(x.end(), 8, to_half(r < 4 ? 32000.0f : -32000.0f));
  const double inf = std::numeric_limits<double>::infinity();
  const auto sum = [&](std::string_view algorithm) {
    return values(x, 8, {.op = ReduceOp::sum, .algorithm = algorithm});
  };
  EXPECT_EQ(sum("ring"), (Values{inf, inf, 0, -inf, -inf, -inf, 0, inf}));
  for (const double each : sum("recursive_doubling")) EXPECT_TRUE(std::isnan(each));
  for_each_variant(8, [&](CollectiveOptions options) {
    options.op = ReduceOp::sum;
    options.accumulate = Accumulate::f32;
    EXPECT_EQ(values(x, 8, options), Values(8, 0.0));
  });
}

TEST_P(OrderCases, NAN_1_MinMaxByPolicy) {
  for_each_dtype(is_floating, [&]<class T>() {
    SCOPED_TRACE(name(dtype_of<T>()));
    constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
    Values column;
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < 5; ++i) column.push_back(i == r || i == 4 ? nan_value : r + 1.0);
    const std::vector<T> x = elements<T>(column);
    const auto same = [](const Values& found, const Values& right) {
      return std::ranges::equal(found, right, [](double a, double b) {
        return a == b || (std::isnan(a) && std::isnan(b));
      });
    };
    for (const bool is_min : {true, false}) {
      const ReduceOp op = is_min ? ReduceOp::min : ReduceOp::max;
      for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::ignore}) {
        const Values right = nan == NanPolicy::propagate ? Values(5, nan_value)
                             : is_min                    ? Values{2, 1, 1, 1, nan_value}
                                                         : Values{4, 4, 4, 3, nan_value};
        for_each_variant(4, [&](CollectiveOptions options) {
          options.op = op;
          options.nan = nan;
          EXPECT_TRUE(same(values(x, 4, options), right));
        });
        // A scan's row r is over ranks 0 to r.
        Values running;
        for (std::size_t i = 0; i < 20; ++i) {
          const double above = i < 5 ? column[i] : running[i - 5], own = column[i];
          const bool any = std::isnan(above) || std::isnan(own);
          running.push_back(any && nan == NanPolicy::propagate ? nan_value
                            : is_min                           ? std::fmin(above, own)
                                                               : std::fmax(above, own));
        }
        for (const Algorithm& algorithm : algorithms()) {
          const CollectiveOptions options{.op = op, .algorithm = algorithm.name, .nan = nan};
          const auto check = [&](Collective collective, const Values& wanted) {
            if (!supports(algorithm, collective)) return;
            EXPECT_TRUE(same(numbers(results(collective, x, {4, 5}, options)), wanted))
                << algorithm.name;
          };
          check(Collective::scan, running);
          check(Collective::reduce, right);
        }
      }
    }
  });
}

TEST_P(OrderCases, ALI_1_InPlaceWithFewerElementsThanRanks) {
  const std::vector<double> x{0, 0, 1, 1, 2, 0.5, 3, 1.0 / 3};
  for_each_variant(4, [&](CollectiveOptions options) {
    options.op = ReduceOp::sum;
    options.mean = {};
    const Values found = values(x, 4, options);  // in place gives the same bits
    EXPECT_EQ(found[0], 6);
    EXPECT_NEAR(found[1], 1.8333333333333333, 4 * 0x1p-52);
  });
}

TEST_P(OrderCases, NP2_1_RanksThatAreNoPowerOfTwo) {
  for (const std::int64_t ranks : {3, 5, 6, 7, 12, 48, 100}) {
    const auto right = static_cast<double>(ranks * (ranks + 1) / 2);
    std::vector<std::int32_t> own(static_cast<std::size_t>(ranks));
    std::iota(own.begin(), own.end(), 1);
    for (const std::int64_t n : {std::int64_t{1}, ranks + 3})
      for_each_variant(ranks, [&](CollectiveOptions options) {
        options.op = ReduceOp::sum;
        EXPECT_EQ(values(columns_of(own, static_cast<std::size_t>(n)), ranks, options),
                  Values(static_cast<std::size_t>(n), right));
      });
    const std::vector<std::int32_t> square = columns_of(own, own.size());
    for_each_algorithm(Collective::reduce_scatter, ranks, ReduceOp::sum, [&](const auto& options) {
      EXPECT_EQ(numbers(results(Collective::reduce_scatter, square, {ranks, ranks}, options)),
                Values(own.size(), right));
    });
    for_each_algorithm(Collective::all_gather, ranks, ReduceOp::sum, [&](const auto& options) {
      const auto rows = results(Collective::all_gather, own, {ranks, 1}, options);
      for (std::int64_t r = 0; r < ranks; ++r)
        EXPECT_TRUE(std::equal(own.begin(), own.end(), rows.begin() + r * ranks)) << r;
    });
  }
}

}  // namespace
}  // namespace vranks
