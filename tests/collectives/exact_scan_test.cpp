// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A scan is judged in one pass over its ranks: what the judge of scans says of all rows is
// what the judge of single results says of each, for all dtypes and all ops but the means.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/collectives/exact_inputs.hpp"

namespace vranks {
namespace {

// One pass over the ranks finds what a look at each row by itself does.
TEST(ExactScan, IsJudgedAsItsRows) {
  constexpr std::int64_t ranks = 9, n = 300;
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  std::uint64_t seed = 0;
  int scans = 0;
  for (const DTypeInfo& dtype : dtypes())
    for (const ReduceOpInfo& op : reduce_ops()) {
      const bool has_divisor = op.op == ReduceOp::mean || op.op == ReduceOp::weighted_mean;
      if (has_divisor || !supports(op.op, dtype.dtype)) continue;
      const bool is_float = is_floating(dtype.dtype);
      ++seed;
      const Tensor in =
          make_input(dtype.dtype, ranks, n,
                     seed % 2 == 0 && is_float ? Values::uniform : Values::any_bits, seed);
      // Sums of zeros, infinities and numbers near the smallest are looked at twice.
      for (std::int64_t r = 0; is_float && r < ranks; ++r) {
        set_element(in, r * n, r == 0 ? 0. : -0.);
        set_element(in, r * n + 1, -0.);
        set_element(in, r * n + 2, r == 3 ? infinity : r == 5 ? -infinity : 1);
        set_element(in, r * n + 3, r == 4 ? nan : 2);
        set_element(in, r * n + 4, grid_of(dtype.dtype).smallest_normal() / 2);
      }
      Tensor out(dtype.dtype, {ranks, n});
      const double factor = factor_of(op.op);
      run(Collective::scan, in.view(), out.view(), {.op = op.op, .factor = factor});
      out.data()[(ranks - 2) * n * static_cast<std::int64_t>(dtype.bytes)] ^= std::byte{1};
      Problem problem{.collective = Collective::scan,
                      .ranks = ranks,
                      .elements = n,
                      .dtype = dtype.dtype,
                      .op = op.op,
                      .factor = factor};
      Rows rows = rows_of(in.view(), "input");
      std::vector<const std::byte*> results;
      for (std::int64_t r = 0; r < ranks; ++r)
        results.push_back(out.data() + r * n * static_cast<std::int64_t>(dtype.bytes));
      const BoundOf bound_of = [&](std::int64_t count) {
        Problem prefix = problem;
        prefix.ranks = count;
        return direct_bound(prefix);
      };
      const Deviation found = scan_deviation_from_exact(problem, rows, results, bound_of);
      Deviation all;
      for (std::int64_t r = 0; r < ranks; ++r) {
        problem.ranks = rows.ranks = r + 1;
        const Deviation row = deviation_from_exact(
            problem, rows, results[static_cast<std::size_t>(r)], direct_bound(problem));
        all.compared += row.compared;
        all.different += row.different;
        all.over_bound += row.over_bound;
        all.unjudged += row.unjudged;
        all.max_abs = std::max(all.max_abs, row.max_abs);
        all.max_ulp = std::max(all.max_ulp, row.max_ulp);
        all.max_bound_used = std::max(all.max_bound_used, row.max_bound_used);
      }
      SCOPED_TRACE(std::string(op.name) + " of " + std::string(dtype.name));
      EXPECT_EQ(found.compared, all.compared);
      EXPECT_EQ(found.different, all.different);
      EXPECT_EQ(found.over_bound, all.over_bound);
      EXPECT_EQ(found.unjudged, all.unjudged);
      EXPECT_TRUE(same(found.max_abs, all.max_abs)) << found.max_abs << " " << all.max_abs;
      EXPECT_TRUE(same(found.max_ulp, all.max_ulp)) << found.max_ulp << " " << all.max_ulp;
      EXPECT_TRUE(same(found.max_bound_used, all.max_bound_used));
      ++scans;
    }
  EXPECT_GT(scans, 100);
}

}  // namespace
}  // namespace vranks
