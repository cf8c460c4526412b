// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What a call takes and refuses before anything runs: options that nothing reads, counts of rows
// without elements, weights of groups, memory of ranks; and that equal keys are equal calls.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "collectives/collectives.hpp"
#include "ranks/tensor.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

// A tensor of that shape without data that matters.
struct Zeros {
  std::vector<float> data;
  Shape shape;

  explicit Zeros(Shape wanted)
      : data(static_cast<std::size_t>(element_count(wanted) + 1)), shape(std::move(wanted)) {}
  TensorView view() { return {.data = data.data(), .dtype = DType::f32, .shape = shape}; }
};

// --- plans --------------------------------------------------------------------------------------

TEST(Call, PlansTellNegativeZerosApart) {
  float x[3] = {1, 1, 1}, y[1];
  const auto signbit_of = [&](const CollectiveOptions& options) {
    reduce_ranks(view(x, {3, 1}), view(y, {1}), options);
    return std::signbit(y[0]);
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(signbit_of({.op = ReduceOp::premul_sum, .factor = 0.0}));
    EXPECT_TRUE(signbit_of({.op = ReduceOp::premul_sum, .factor = -0.0}));
  }
  x[0] = x[2] = -0.0F;
  x[1] = 1;
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(signbit_of({.op = ReduceOp::weighted_mean, .weights = {1, 0.0, 1}}));
    EXPECT_TRUE(signbit_of({.op = ReduceOp::weighted_mean, .weights = {1, -0.0, 1}}));
  }
  // Two groups of one call.
  float z[6] = {-0.0F, 1, -0.0F, -0.0F, 1, -0.0F}, means[2];
  const CollectiveOptions options{.op = ReduceOp::weighted_mean,
                                  .weights = {1, 0.0, 1, 1, -0.0, 1},
                                  .groups = {{0, 1, 2}, {3, 4, 5}}};
  reduce_ranks(view(z, {6, 1}), view(means, {2, 1}), options);
  EXPECT_FALSE(std::signbit(means[0]));
  EXPECT_TRUE(std::signbit(means[1]));
}

TEST(Call, FactorsAndWeightsMustBeFinite) {
  float x[2] = {1, 1}, y[1];
  for (const double number :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    expect_error(ErrorKind::bad_argument, {"factor", "finite"}, [&] {
      reduce_ranks(view(x, {2, 1}), view(y, {1}), {.op = ReduceOp::premul_sum, .factor = number});
    });
    expect_error(ErrorKind::bad_argument, {"weight of rank 1", "finite"}, [&] {
      reduce_ranks(view(x, {2, 1}), view(y, {1}),
                   {.op = ReduceOp::weighted_mean, .weights = {1, number}});
    });
  }
}

TEST(Call, WeightErrorsNameRankAndGroup) {
  for (const std::int64_t n : {0, 1}) {
    Zeros x({4, n}), y({2, n});
    CollectiveOptions options{.op = ReduceOp::weighted_mean, .groups = {{0, 1}, {3, 2}}};
    options.weights = {1, 1, 1e300, 1};
    expect_error(ErrorKind::bad_argument, {"the weight of rank 2 (rank 1 of group 1) is 1e+300"},
                 [&] { reduce_ranks(x.view(), y.view(), options); });
    options.weights = {1, 1, 2, -2};
    expect_error(ErrorKind::bad_argument, {"2 ranks of group 1 (3, 2) add up to 0"},
                 [&] { reduce_ranks(x.view(), y.view(), options); });
    expect_error(ErrorKind::bad_argument, {"of group 1"},
                 [&] { (void)workspace_bytes(Collective::reduce, x.view(), y.view(), options); });
  }
}

// --- options that nothing reads -----------------------------------------------------------------

TEST(Call, ScansAddByDefault) {
  int x[3] = {1, 2, 3}, y[3];
  scan(view(x, {3, 1}), view(y, {3, 1}));
  EXPECT_TRUE(std::ranges::equal(y, std::array{1, 3, 6}));
  exscan(view(x, {3, 1}), view(y, {3, 1}));
  EXPECT_TRUE(std::ranges::equal(y, std::array{0, 1, 3}));
}

TEST(Call, OptionsThatNothingReadsAreRefused) {
  Zeros x({2, 2}), y({2, 2});
  const auto refused = [&](Collective collective, const CollectiveOptions& options,
                           std::initializer_list<const char*> phrases) {
    expect_error(ErrorKind::bad_argument, phrases,
                 [&] { run(collective, x.view(), y.view(), options); });
  };
  refused(Collective::all_reduce, {.ragged = true}, {"ragged", "all_reduce"});
  refused(Collective::all_reduce, {.send_displacements = {0, 1}},
          {"all_reduce has no send displacements"});
  refused(Collective::all_reduce, {.receive_displacements = {0, 1}},
          {"all_reduce has no receive displacements"});
  refused(Collective::broadcast, {.factor = 2}, {"broadcast", "factors"});
  refused(Collective::broadcast, {.weights = {1, 1}}, {"broadcast", "weights"});
  refused(Collective::permute, {}, {"permute needs", "pairs"});
  EXPECT_THROW((void)output_shape(Collective::permute, {2, 2}), Error);
}

// --- uneven counts ------------------------------------------------------------------------------

TEST(Call, RowsWithoutElementsAreCounted) {
  const CollectiveOptions threes{.counts = {3, 3, 3, 3}};
  EXPECT_EQ(output_shape(Collective::all_gather_v, {4, 3, 0}, threes), (Shape{4, 12, 0}));
  EXPECT_EQ(output_shape(Collective::gather_v, {4, 3, 0}, threes), (Shape{12, 0}));
  EXPECT_EQ(output_shape(Collective::scatter_v, {4, 12, 0}, threes), (Shape{4, 3, 0}));
  EXPECT_EQ(output_shape(Collective::all_gather_v, {4, 3, 5}, threes), (Shape{4, 12, 5}));
  for (const std::int64_t rest : {0, 5}) {
    Zeros x({4, 3, rest}), y({4, 12, rest});
    run(Collective::all_gather_v, x.view(), y.view(), threes);
    expect_error(ErrorKind::bad_argument, {"all_gather_v", "rank 0 sends 30", "has 3"}, [&] {
      run(Collective::all_gather_v, x.view(), y.view(), {.counts = {30, 3, 3, 3}});
    });
    expect_error(ErrorKind::bad_argument, {"negative"}, [&] {
      run(Collective::all_gather_v, x.view(), y.view(), {.counts = {-1, 3, 3, 3}});
    });
    Zeros few({2, 2, rest}), received({2, 2, rest});
    expect_error(ErrorKind::bad_argument,
                 {"pair 0->1: rank 0 sends 1 of dimension 1 but rank 1 expects 2"}, [&] {
                   run(Collective::all_to_all_v, few.view(), received.view(),
                       {.counts = {1, 1, 1, 1}, .receive_counts = {1, 1, 2, 1}});
                 });
  }
  // In numbers of elements beyond any memory.
  EXPECT_THROW((void)output_shape(Collective::all_gather_v, {1, INT64_MAX / 2, 4},
                                  {.counts = {INT64_MAX / 2}}),
               Error);
}

TEST(Call, WorkspacesOfGroupsAndRaggedRows) {
  const CollectiveOptions groups{.groups = {{0, 1}, {2, 3}}, .counts = {3, 2}};
  for (const Collective collective : {Collective::scatter_v, Collective::reduce_scatter_v})
    EXPECT_GE(workspace_bytes(problem_of(collective, {4, 5}, DType::f32, groups), {}, groups),
              std::size_t{4 * 5 * 4});
  EXPECT_NO_THROW((void)workspace_bytes(
      problem_of(Collective::all_gather_v, {4, 3}, DType::f32, groups), {}, groups));

  const CollectiveOptions ragged{.counts = {1, 1, 1, 1}, .ragged = true};
  expect_error(ErrorKind::bad_argument, {"ragged", "all_to_all_v"}, [&] {
    (void)workspace_bytes(problem_of(Collective::all_to_all_v, {2, 5000}, DType::f32, ragged), {},
                          ragged);
  });
  const Shape shape{2, 5000};
  std::vector<std::byte> memory(
      workspace_bytes(Collective::all_to_all_v, shape, DType::f32, {}, ragged));
  Zeros x(shape);
  CollectiveOptions options = ragged;
  options.workspace = {memory.data(), memory.size()};
  EXPECT_NO_THROW(run(Collective::all_to_all_v, x.view(), x.view(), options));
}

// --- memory -------------------------------------------------------------------------------------

TEST(Call, RanksMustLieApart) {
  std::vector<std::int32_t> memory(100);
  const auto at = [&](std::int64_t offset, const Shape& shape, const Strides& strides = {}) {
    return TensorView{memory.data() + offset, DType::i32, shape, strides};
  };
  const auto call = [&](const TensorView& in, const TensorView& out, const TensorView& ranks,
                        const Groups& groups = {}) {
    scan(in, out, {.op = ReduceOp::max_loc, .groups = groups, .ranks = ranks});
  };
  expect_error(ErrorKind::bad_argument, {"slice 0 of the ranks", "slice 1 of the input"}, [&] {
    call(at(0, {3, 2}), at(20, {3, 2}), at(2, {3, 2}));
  });
  expect_error(ErrorKind::bad_argument, {"slice 0 of the ranks", "slice 0 of the output"}, [&] {
    call(at(0, {3, 2}), at(20, {3, 2}), at(20, {3, 2}));
  });
  expect_error(ErrorKind::bad_argument, {"slice 2 of the ranks", "slice 0 of the output"}, [&] {
    call(at(0, {3, 2}), at(25, {3, 2}), at(20, {3, 2}), {{2}, {0, 1}});
  });
  expect_error(ErrorKind::bad_argument, {"of the ranks", "of the input"}, [&] {
    call(at(0, {3, 2}, {4, 2}), at(20, {3, 2}), at(4, {3, 2}, {4, 2}));
  });
  // Between the elements of the input and of the output there is room.
  memory = {5, -1, 6, -1, 7, -1, 8, -1, 1, -1, 9, -1};
  call(at(0, {3, 2}, {4, 2}), at(0, {3, 2}, {4, 2}), at(1, {3, 2}, {4, 2}));
  EXPECT_EQ(memory, (std::vector<std::int32_t>{5, 0, 6, 0, 7, 1, 8, 1, 7, 1, 9, 2}));
}

TEST(Call, StridedOutputsOfAListMustLieApart) {
  float x[4] = {1, 2, 3, 4}, y[8] = {};
  const auto column = [&](std::int64_t offset, std::int64_t stride = 2) {
    return TensorView{y + offset, DType::f32, {2}, {stride}};
  };
  const std::vector<TensorView> in{view(x, {2}), view(x + 2, {2})};
  const auto refused = [&](const TensorView& a, const TensorView& b) {
    const std::vector<TensorView> out{a, b};
    expect_error(ErrorKind::bad_argument, {"output", "ranks", "overlap"},
                 [&] { run(Collective::scan, in, out, {.op = ReduceOp::sum}); });
  };
  refused(column(0), column(0));
  refused(column(0), column(2));
  refused(column(2), column(0));
  refused(column(3, -3), column(3, -3));
  const std::vector<TensorView> out{column(1), column(0)};
  run(Collective::scan, in, out, {.op = ReduceOp::sum});
  EXPECT_TRUE(std::ranges::equal(std::span(y, 4), std::array<float, 4>{4, 1, 6, 2}));
}

}  // namespace
}  // namespace vranks
