// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_error.hpp"

#include <algorithm>
#include <cmath>

namespace vranks::cli {

void ErrorSums::add(const Outcome& outcome) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  const Problem problem = group_problem(outcome.key, 0);
  const auto width = static_cast<std::int64_t>(size_bytes(problem.dtype));
  const std::int64_t parts = is_complex(problem.dtype) ? 2 : 1;
  const Rows rows = rows_of(outcome.in.view(), "input");
  const bool by_rows = is_prefix(problem.collective);
  const std::int64_t all = problem.elements * (by_rows ? problem.ranks : 1);
  const std::int64_t stride = (all + most - 1) / most;
  const std::int64_t looked_at = stride == 0 ? 0 : (all + stride - 1) / stride;

  std::int64_t compared = 0, relatives = 0;
  double max_absolute = max_absolute_, max_relative = max_relative_;
  double sum_absolute = 0, sum_relative = 0;
  // One element is a problem of its own, and its largest error the error.
#pragma omp parallel for reduction(+ : compared, relatives, sum_absolute, sum_relative) \
    reduction(max : max_absolute, max_relative)
  for (std::int64_t k = 0; k < looked_at; ++k) {
    const std::int64_t i = k * stride, row = i / problem.elements;
    Problem one = problem;
    one.elements = 1;
    if (by_rows) one.ranks = row + (problem.collective == Collective::scan);
    if (one.ranks == 0) continue;  // what an exscan gives rank 0 comes from no element
    Rows column = rows;
    column.ranks = one.ranks;
    column.elements = 1;
    column.data += i % problem.elements * width;
    const std::byte* const result = outcome.out.data() + i * width;
    const Deviation found = deviation_from_exact(one, column, result, outcome.bound);
    double exact = found.worst_exact;
    if (found.worst < 0) {
      exact = 0;
      for (std::int64_t part = 0; part < parts; ++part)
        exact = std::max(exact, std::abs(element_as_double(result, part, problem.dtype)));
    }
    ++compared;
    sum_absolute += found.max_abs;
    max_absolute = std::max(max_absolute, found.max_abs);
    if (exact == 0 || !std::isfinite(exact)) continue;
    const double relative = found.max_abs / std::abs(exact);
    ++relatives;
    sum_relative += relative;
    max_relative = std::max(max_relative, relative);
  }
  compared_ += compared;
  relatives_ += relatives;
  sum_absolute_ += sum_absolute;
  sum_relative_ += sum_relative;
  max_absolute_ = max_absolute;
  max_relative_ = max_relative;
}

}  // namespace vranks::cli
