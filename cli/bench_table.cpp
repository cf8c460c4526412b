// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "vranks/build_info.hpp"

namespace vranks::cli {

namespace {

// As nccl-tests fit a number into a column: as many decimals as there is room for.
std::string fitted(double value, int width) {
  int digits = 0;
  for (double power = 1; value >= power; power *= 10) ++digits;
  if (digits < width - 2) return fmt::format("{:{}.2f}", value, width);
  if (digits < width - 1) return fmt::format("{:{}.1f}", value, width);
  if (digits < width + 1) return fmt::format("{:{}.0f}", value, width);
  return fmt::format("{:{}.1e}", value, width);
}

std::string wrong_text(const Measured& measured) {
  return measured.wrong ? fmt::format("{:6g}", static_cast<double>(*measured.wrong)) : "   N/A";
}

void print_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  fmt::print("{}\n", line);
}

void flush() { std::fflush(stdout); }

}  // namespace

Bandwidths bandwidths_of(const BenchRow& row, const Measured& measured, double factor) {
  // A clock may not have moved on.
  const double seconds = std::max(median(measured.seconds), 1e-9);
  const double algorithm = static_cast<double>(row.size.bytes) / seconds * 1e-9;
  const auto moved = static_cast<double>(row.traffic.read + row.traffic.written);
  return {.algorithm = algorithm, .bus = algorithm * factor, .memory = moved / seconds * 1e-9};
}

BenchTable::BenchTable(const BenchOptions& options, std::vector<std::int64_t> sizes, Device device,
                       std::string device_name, std::int64_t cache_bytes,
                       std::vector<std::string> left_out)
    : options_(options),
      sizes_(std::move(sizes)),
      device_(device),
      device_name_(std::move(device_name)),
      cache_bytes_(cache_bytes),
      left_out_(std::move(left_out)),
      factor_(bus_factor(options.collective(), options.group_ranks())) {}

void BenchTable::add(BenchRow row) { rows_.push_back(std::move(row)); }

std::int64_t BenchTable::wrong() const {
  std::int64_t wrong = 0;
  for (const BenchRow& row : rows_)
    for (const auto* measured : {&row.apart, &row.in_place})
      if (*measured) wrong += (*measured)->wrong.value_or(0);
  return wrong;
}

double BenchTable::average_bus_bandwidth(const std::string& algorithm) const {
  double sum = 0;
  int count = 0;
  for (const BenchRow& row : rows_)
    for (const auto* measured : {&row.apart, &row.in_place})
      if (*measured && (algorithm.empty() || algorithm == row.algorithm)) {
        sum += bandwidths_of(row, **measured, factor_).bus;
        ++count;
      }
  return count == 0 ? 0 : sum / count;
}

std::string BenchTable::op_name() const {
  return reduces(options_.collective()) ? std::string(name(options_.op())) : "none";
}
int BenchTable::op_width() const { return std::max(6, static_cast<int>(op_name().size())); }

void BenchTable::print_head() const {
  const Collective collective = options_.collective();
  const std::int64_t ranks = *options_.details.ranks, group = options_.group_ranks();
  fmt::print("# vranks {} bench: {}{} over {} ranks", build::version, name(collective),
             reduces(collective) ? " " + op_name() : "", ranks);
  fmt::print("{}\n",
             group == ranks ? "" : fmt::format(" in {} groups of {}", ranks / group, group));
  const SizeRange& range = options_.sizes;
  fmt::print("# minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} validation: {:d}\n#\n",
             sizes_.front(), sizes_.back(),
             range.step_bytes ? fmt::format("{}(bytes)", *range.step_bytes)
                              : fmt::format("{}(factor)", range.step_factor.value_or(2)),
             options_.warmup, options_.iterations, options_.check);
  fmt::print("# Using device {}: {}\n", to_string(device_), device_name_);
  if (options_.hot)
    fmt::print("# One buffer, which caches may hold\n");
  else
    fmt::print("# Data that no cache holds: buffers rotate, against a cache of {} bytes\n",
               cache_bytes_);
  fmt::print("# time: median of the iterations; mem: bytes read and written by a call;\n");
  fmt::print("# copy: speed against a plain copy of as many bytes, measured in turns\n");
  for (const std::string& line : left_out_) fmt::print("# Left out: {}\n", line);
  fmt::print("#\n");
  const int op = op_width();
  print_line(fmt::format("# {:>{}}{:^33}{:^33}{:^17}{:^17}", "", 48 + op - 4, "out-of-place",
                         "in-place", "out-of-place", "in-place"));
  const auto heads = [&](const char* a, const char* b, const char* c, const char* d, const char* e,
                         const char* time, const char* algorithm, const char* bus,
                         const char* wrong, const char* memory, const char* copy, const char* ran) {
    std::string line = fmt::format("# {:>10}  {:>12}  {:>8}  {:>{}}  {:>6}", a, b, c, d, op, e);
    for (int place = 0; place < 2; ++place)
      line += fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", time, algorithm, bus, wrong);
    for (int place = 0; place < 2; ++place) line += fmt::format("  {:>7}  {:>6}", memory, copy);
    print_line(line + fmt::format("  {}", ran));
  };
  heads("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "mem", "copy",
        "algorithm");
  heads("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(GB/s)", "(x)", "");
  flush();
}

void BenchTable::print_row(const BenchRow& row) const {
  const Collective collective = options_.collective();
  std::string line = fmt::format(
      "{:12}  {:12}  {:>8}  {:>{}}  {:6}", row.size.bytes, row.size.count,
      element_name(options_.problem.dtype.value_or(DType::f32), options_.problem.opaque_bytes),
      op_name(), op_width(), has_root(collective) ? options_.details.root.value_or(0) : -1);
  std::string memory;
  for (const auto* measured : {&row.apart, &row.in_place}) {
    if (!*measured) {
      line += fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "N/A", "N/A", "N/A", "N/A");
      memory += fmt::format("  {:>7}  {:>6}", "N/A", "N/A");
      continue;
    }
    const Bandwidths found = bandwidths_of(row, **measured, factor_);
    line += fmt::format("  {}  {}  {}  {}", fitted(median((*measured)->seconds) * 1e6, 7),
                        fitted(found.algorithm, 6), fitted(found.bus, 6), wrong_text(**measured));
    memory += fmt::format("  {}  {}", fitted(found.memory, 7), fitted((*measured)->copy_ratio, 6));
  }
  const std::string& ran = row.ran.algorithm;
  print_line(line + memory + "  " +
             (ran == row.algorithm ? ran : fmt::format("{}: {}", row.algorithm, ran)));
  flush();
}

void BenchTable::print_end() const {
  if (has_checks())
    fmt::print("# Out of bounds values : {} {}\n", wrong(), wrong() == 0 ? "OK" : "FAILED");
  if (options_.algorithms.size() > 1)
    for (const std::string& algorithm : options_.algorithms)
      fmt::print("# Avg bus bandwidth    : {:g} ({})\n", average_bus_bandwidth(algorithm),
                 algorithm);
  else
    fmt::print("# Avg bus bandwidth    : {:g}\n", average_bus_bandwidth(""));
  fmt::print("#\n");
}

Table BenchTable::table() const {
  Table table{.name = "rows",
              .columns = {"size", "count", "elements_per_rank", "type", "redop", "root",
                          "asked_algorithm", "algorithm", "reason", "bytes_read", "bytes_written"},
              .rows = {}};
  for (const char* place : {"out_of_place", "in_place"})
    for (const char* key : {"median_seconds", "min_seconds", "max_seconds", "algbw", "busbw",
                            "wrong", "gigabytes_per_second", "copy_ratio", "copy_median_seconds",
                            "copy_min_seconds", "copy_max_seconds", "buffers"})
      table.columns.push_back(fmt::format("{}_{}", place, key));
  const Collective collective = options_.collective();
  for (const BenchRow& row : rows_) {
    List values = {
        row.size.bytes,
        row.size.count,
        row.size.elements,
        element_name(options_.problem.dtype.value_or(DType::f32), options_.problem.opaque_bytes),
        reduces(collective) ? Value(op_name()) : Value(),
        has_root(collective) ? Value(options_.details.root.value_or(0)) : Value(),
        row.algorithm,
        row.ran.algorithm,
        text_or_null(row.ran.reason),
        row.traffic.read,
        row.traffic.written};
    for (const auto* measured : {&row.apart, &row.in_place}) {
      if (!*measured) {
        values.resize(values.size() + 12);
        continue;
      }
      const Measured& m = **measured;
      const Bandwidths found = bandwidths_of(row, m, factor_);
      const List more = {median(m.seconds),
                         m.seconds.front(),
                         m.seconds.back(),
                         found.algorithm,
                         found.bus,
                         m.wrong ? Value(*m.wrong) : Value(),
                         found.memory,
                         m.copy_ratio,
                         median(m.copy_seconds),
                         m.copy_seconds.front(),
                         m.copy_seconds.back(),
                         m.buffers};
      values.insert(values.end(), more.begin(), more.end());
    }
    table.rows.push_back(std::move(values));
  }
  return table;
}

void BenchTable::print_csv() const { print_tables({table()}, Format::csv); }

std::string BenchTable::json() const {
  const Collective collective = options_.collective();
  const SizeRange& range = options_.sizes;
  List algorithms, left_out;
  for (const std::string& each : options_.algorithms) algorithms.emplace_back(each);
  for (const std::string& each : left_out_) left_out.emplace_back(each);
  const std::int64_t group = options_.group_ranks();
  const std::pair<const char*, Value> keys[] = {
      {"version", build::version},
      {"device", to_string(device_)},
      {"device_name", device_name_},
      {"collective", name(collective)},
      {"op", reduces(collective) ? Value(op_name()) : Value()},
      {"dtype",
       element_name(options_.problem.dtype.value_or(DType::f32), options_.problem.opaque_bytes)},
      {"ranks", *options_.details.ranks},
      {"ranks_a_group", group},
      {"begin_bytes", sizes_.front()},
      {"end_bytes", sizes_.back()},
      {"step_factor", range.step_bytes ? Value() : Value(range.step_factor.value_or(2))},
      {"step_bytes", range.step_bytes ? Value(*range.step_bytes) : Value()},
      {"iterations", options_.iterations},
      {"warmup", options_.warmup},
      {"check", options_.check},
      {"seed", options_.problem.seed},
      {"in_place", text_or_null(name(options_.in_place.value_or(Place::nccl)))},
      {"hot", options_.hot},
      {"cache_bytes", options_.hot ? Value() : Value(cache_bytes_)},
      {"bus_factor", factor_},
      {"algorithms", algorithms},
      {"left_out", left_out},
      {"wrong", has_checks() ? Value(wrong()) : Value()},
      {"average_bus_bandwidth", average_bus_bandwidth("")}};
  std::string text;
  for (const auto& [key, value] : keys)
    text += fmt::format("  {}: {},\n", json_text(key), json_text(value));
  const Table rows = table();
  std::string lines;
  for (const List& row : rows.rows) {
    std::string members;
    for (std::size_t c = 0; c < row.size(); ++c)
      members += fmt::format("{}{}: {}", c == 0 ? "" : ", ", json_text(rows.columns[c]),
                             json_text(row[c]));
    lines += fmt::format("{}    {{{}}}", lines.empty() ? "" : ",\n", members);
  }
  return fmt::format("{{\n{}  \"rows\": [\n{}\n  ]\n}}\n", text, lines);
}

}  // namespace vranks::cli
