// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ops of one's own on the CPU.
#include "collectives/custom_op.hpp"

#include <gtest/gtest.h>

#include "tests/collectives/custom_ops.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

using custom_ops::Digits;
using custom_ops::ScaledSquares;

TEST(CustomOp, OrderIsThatOfTheRanks) {
  custom_ops::expect_digits([](Collective collective, const char* algorithm, std::int64_t ranks,
                               std::int64_t n, std::vector<std::uint64_t>& in) {
    std::vector<std::uint64_t> out(in.size());
    run(collective, view(in.data(), {ranks, n}), view(out.data(), {ranks, n}), Digits{},
        {.algorithm = algorithm});
    return out;
  });
}

TEST(CustomOp, GroupsInPlaceAndState) {
  std::vector<float> x{1, 2, 3, 4, 5, 6};
  const TensorView all = view(x.data(), {3, 2});
  run(Collective::all_reduce, all, all, ScaledSquares{0.5}, {.groups = {{2, 0}, {1}}});
  EXPECT_EQ(x, (std::vector<float>{13, 20, 4.5, 8, 13, 20}));
  // State is that of the call, also where the call is the same.
  run(Collective::all_reduce, all, all, ScaledSquares{1}, {.groups = {{2, 0}, {1}}});
  EXPECT_EQ(x, (std::vector<float>{338, 800, 20.25, 64, 338, 800}));
}

TEST(CustomOp, WhatMakesNoSenseIsRefused) {
  std::vector<float> x(4), y(4);
  std::vector<double> z(4);
  const TensorView in = view(x.data(), {2, 2}), out = view(y.data(), {2, 2});
  expect_error(ErrorKind::bad_argument, {"broadcast", "only copies"},
               [&] { run(Collective::broadcast, in, out, ScaledSquares{}); });
  expect_error(ErrorKind::not_supported, {"identity"},
               [&] { run(Collective::exscan, in, out, ScaledSquares{}); });
  expect_error(ErrorKind::bad_argument, {"custom op"}, [&] {
    run(Collective::all_reduce, in, out, ScaledSquares{}, {.accumulate = Accumulate::f64});
  });
  for (const CollectiveOptions& options :
       {CollectiveOptions{.factor = 2}, CollectiveOptions{.weights = {1, 1}},
        CollectiveOptions{.ranks = out}})
    expect_error(ErrorKind::bad_argument, {"custom op"},
                 [&] { run(Collective::all_reduce, in, out, ScaledSquares{}, options); });
  expect_error(ErrorKind::bad_argument, {"f32", "f64"}, [&] {
    const TensorView doubles = view(z.data(), {2, 2});
    run(Collective::all_reduce, doubles, doubles, ScaledSquares{});
  });
}

}  // namespace
}  // namespace vranks
