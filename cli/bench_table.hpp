// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What `vranks bench` found: for people in nccl-tests' columns, row by row as they are done; for
// programs as JSON or CSV with numbers as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/bench_case.hpp"
#include "cli/report.hpp"

namespace vranks::cli {

// One size by one algorithm.
struct BenchRow {
  BenchSize size;
  std::string algorithm;  // that was asked for
  Provenance ran;
  Traffic traffic;
  std::optional<Measured> apart, in_place;
};

// The numbers of one place, as nccl-tests define them; GB are 10^9 bytes.
struct Bandwidths {
  double algorithm = 0;  // size / time
  double bus = 0;        // times bus_factor()
  double memory = 0;     // (bytes read + written) / time
};
Bandwidths bandwidths_of(const BenchRow& row, const Measured& measured, double factor);

class BenchTable {
 public:
  // `left_out`: what isn't measured, and why, a line each.
  BenchTable(const BenchOptions& options, std::vector<std::int64_t> sizes, Device device,
             std::string device_name, std::int64_t cache_bytes, std::vector<std::string> left_out);

  void add(BenchRow row);
  std::int64_t wrong() const;  // elements, of all rows

  // In nccl-tests' form; flushed, so that rows can be read while the next are measured.
  void print_head() const;
  void print_row(const BenchRow& row) const;
  void print_end() const;
  const BenchRow& last() const { return rows_.back(); }

  std::string json() const;
  void print_csv() const;

 private:
  Table table() const;
  // Of all rows of that algorithm, in place and out; of all if the name is empty.
  double average_bus_bandwidth(const std::string& algorithm) const;
  bool has_checks() const { return options_.check; }
  int op_width() const;
  std::string op_name() const;

  const BenchOptions& options_;
  std::vector<std::int64_t> sizes_;
  Device device_;
  std::string device_name_;
  std::int64_t cache_bytes_;
  std::vector<std::string> left_out_;
  double factor_;
  std::vector<BenchRow> rows_;
};

}  // namespace vranks::cli
