// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Public bug reports about numbers of ranks and elements, as inputs with the right answers, on
// every device. tests/cases.md lists the reports.
#include <algorithm>

#include "cases.hpp"
#include "ranks/half.hpp"
#include "tests/ranks/expect_error.hpp"
#include "variants.hpp"

namespace vranks {
namespace {

class SizeCases : public OnDevice {};
VR_ON_EVERY_DEVICE(SizeCases);

TEST_P(SizeCases, ZER_1_NoElements) {
  int calls = 0;
  const auto check = [&](Collective collective, CollectiveOptions o, DType dtype,
                         const Shape& shape) {
    const auto ranks = static_cast<std::size_t>(shape[0]);
    if (o.op == ReduceOp::weighted_mean) o.weights.assign(ranks, 1);
    if (takes_counts(collective)) {
      const bool is_matrix = collective == Collective::all_to_all_v;
      o.counts.assign(is_matrix ? ranks * ranks : ranks, 0);
      o.counts.front() = shape[1];
      o.ragged = is_matrix;
    }
    if (collective == Collective::permute) o.permutation = {{0, 0}};
    const auto call = [&] {
      const TensorView none{nullptr, dtype, shape, {}, GetParam()};
      const TensorView out{nullptr, dtype, output_shape(collective, shape, o), {}, GetParam()};
      EXPECT_EQ(out.elements(), 0);
      run(collective, none, out, o);
      run_steps(collective, none, out, o);
      EXPECT_EQ(workspace_bytes(collective, none, out, o), 0u);
      ++calls;
    };
    // One row can't be cut into four blocks, whatever a row holds.
    if (shape[1] % shape[0] != 0 &&
        (collective == Collective::reduce_scatter || collective == Collective::scatter ||
         collective == Collective::all_to_all))
      expect_error(ErrorKind::bad_argument, {"1 can't be cut into 4 blocks"}, call);
    else
      call();
  };
  for (const CollectiveInfo& info : collectives())
    for (const ReduceOpInfo& op : reduce_ops()) {
      const bool has_divisor = op.op == ReduceOp::mean || op.op == ReduceOp::weighted_mean;
      if (reduces(info.collective) ? is_prefix(info.collective) && has_divisor
                                   : op.op != ReduceOp::sum)
        continue;
      for_each_algorithm(info.collective, 4, op.op, [&](const CollectiveOptions& options) {
        for (const DType dtype : {DType::f32, DType::i8, DType::f8e4m3})
          for (const Shape& shape :
               {Shape{4, 0}, Shape{4, 1, 0, 2}, Shape{4, 648632, 0}, Shape{1, 0}})
            if (!reduces(info.collective) || supports(op.op, dtype))
              check(info.collective, options, dtype, shape);
      });
    }
  EXPECT_GT(calls, 5000);
  EXPECT_EQ(output_shape(Collective::all_gather, {4, 1, 0, 2}), (Shape{4, 4, 1, 0, 2}));
  EXPECT_EQ(output_shape(Collective::reduce_scatter, {4, 648632, 0}), (Shape{4, 162158, 0}));
}

TEST_P(SizeCases, IDX_3_RanksBeyondGridLimits) {
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
    std::vector<float> x, broadcast, moved;
    CollectiveOptions shift;
    const auto before = [&](std::int64_t r) { return (r + ranks - 1) % ranks; };
    for (std::int64_t r = 0; r < ranks; ++r) {
      x.insert(x.end(), 3, static_cast<float>(r % 100));
      broadcast.insert(broadcast.end(), 3, static_cast<float>((ranks - 2) % 100));
      moved.insert(moved.end(), 3, static_cast<float>(before(r) % 100));
      shift.permutation.emplace_back(before(r), r);
    }
    EXPECT_TRUE(results(Collective::broadcast, x, {ranks, 3}, {.root = ranks - 2}) == broadcast);
    EXPECT_TRUE(results(Collective::permute, x, {ranks, 3}, shift) == moved);
  }
}

TEST_P(SizeCases, TAI_1_OneRankWritesEverything) {
  for (const std::int64_t n : {1, 7, 33, 8191, 8193, 8200}) {
    std::vector<BFloat16> x;
    for (std::int64_t i = 0; i < n; ++i) x.push_back(to_bfloat16(static_cast<float>(i % 97 + 1)));
    for (const ReduceOp op : {ReduceOp::mean, ReduceOp::sum}) {
      const auto out = reduced(x, 1, op);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i].bits, x[i].bits) << i;
    }
    for (const Collective collective : {Collective::all_reduce, Collective::reduce})
      for_each_algorithm(collective, 1, ReduceOp::mean, [&](CollectiveOptions options) {
        for (const ReduceOp op : {ReduceOp::mean, ReduceOp::premul_sum}) {
          options.op = op;
          const auto out = results(collective, x, {1, n}, options);
          for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i].bits, x[i].bits) << i;
        }
      });
  }
}

TEST_P(SizeCases, TAI_2_CountsThatNothingDivides) {
  const auto check = [&]<class T>(std::int64_t n, auto make) {
    std::vector<T> x, right;
    for (int r = 0; r < 8; ++r)
      for (std::int64_t i = 0; i < n; ++i) x.push_back(make((r + 1) * static_cast<int>(i % 3 + 1)));
    for (std::int64_t i = 0; i < n; ++i) right.push_back(make(36 * static_cast<int>(i % 3 + 1)));
    const auto out = n > 1000 ? call(Collective::reduce, x, 8, {.op = ReduceOp::sum})
                              : reduced(x, 8, ReduceOp::sum);
    EXPECT_EQ(std::memcmp(out.data(), right.data(), right.size() * sizeof(T)), 0) << "n = " << n;
    if (n > 1000) return;
    const auto equal = [&](const std::vector<T>& found, const std::vector<T>& wanted) {
      return found.size() == wanted.size() &&
             std::memcmp(found.data(), wanted.data(), wanted.size() * sizeof(T)) == 0;
    };
    std::vector<T> all;
    for (int r = 0; r < 8; ++r) all.insert(all.end(), right.begin(), right.end());
    for (const Algorithm& algorithm : algorithms())
      if (supports(algorithm, Collective::all_reduce))
        for (const Parameters& parameters : variants(algorithm, 8)) {
          SCOPED_TRACE(fmt::format("{} {}, n = {}", algorithm.name, to_string(parameters), n));
          EXPECT_TRUE(equal(
              results(Collective::all_reduce, x, {8, n},
                      {.op = ReduceOp::sum, .algorithm = algorithm.name, .parameters = parameters}),
              all));
        }
    // Blocks of counts that nothing divides, which together are the row.
    Counts counts(8, n / 11);
    counts[5] = n - 7 * (n / 11);
    for_each_algorithm(
        Collective::reduce_scatter_v, 8, ReduceOp::sum, [&](CollectiveOptions options) {
          options.op = ReduceOp::sum;
          options.counts = counts;
          const auto blocks = results(Collective::reduce_scatter_v, x, {8, n}, options);
          std::vector<T> found;
          for (std::int64_t r = 0; r < 8; ++r) {
            const auto at = blocks.begin() + r * std::ranges::max(counts);
            found.insert(found.end(), at, at + counts[static_cast<std::size_t>(r)]);
          }
          EXPECT_TRUE(equal(found, right));
        });
    for_each_algorithm(Collective::all_gather_v, 8, ReduceOp::sum, [&](CollectiveOptions options) {
      options.counts = counts;
      std::vector<T> row;
      for (std::size_t r = 0; r < 8; ++r) {
        const auto at = x.begin() + static_cast<std::int64_t>(r) * n;
        row.insert(row.end(), at, at + counts[r]);
      }
      std::vector<T> rows;
      for (int r = 0; r < 8; ++r) rows.insert(rows.end(), row.begin(), row.end());
      EXPECT_TRUE(equal(results(Collective::all_gather_v, x, {8, n}, options), rows));
    });
  };
  for (const std::int64_t n : {1, 3, 13, 129, 1000, 10556587}) {
    check.template operator()<float>(n, [](int v) { return static_cast<float>(v); });
    check.template operator()<Half>(n, [](int v) { return to_half(static_cast<float>(v)); });
    check.template operator()<std::int8_t>(n, [](int v) { return static_cast<std::int8_t>(v); });
  }
}

}  // namespace
}  // namespace vranks
