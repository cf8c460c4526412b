// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks bench --report`: how right, how large and how fast one configuration is.
#pragma once

#include <cstdint>

#include "cli/bench_case.hpp"
#include "cli/report.hpp"

namespace vranks::cli {

struct BenchReport {
  Report report;
  bool is_right = false;
};

// Runs `trials` calls on different random data, and times what was asked for of the case, for which
// an algorithm has been chosen.
BenchReport report_bench(BenchCase& bench, const BenchOptions& options, const BenchSize& size,
                         std::int64_t trials);

}  // namespace vranks::cli
