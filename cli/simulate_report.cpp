// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cli/call_options.hpp"
#include "cli/report.hpp"
#include "ranks/names.hpp"
#include "ranks/output_file.hpp"
#include "simulator/critical_path.hpp"
#include "simulator/trace.hpp"

namespace vranks::cli {

namespace {

// Parts of the only call's time.
struct Explained {
  Timeline timeline;
  CriticalPath path;
};

Table time_table(const SimulateOptions& options, const Simulated& simulated) {
  Table table{.name = "times",
              .columns = {"size", "count", "type", "redop", "root", "algorithm", "time_us",
                          "algbw_GBs", "busbw_GBs", "fastest", "ran"},
              .rows = {},
              .shown = 10};
  for (const Prediction& row : simulated.rows()) {
    const bool is_fastest = std::ranges::none_of(simulated.rows(), [&](const Prediction& other) {
      return other.size.bytes == row.size.bytes && other.seconds < row.seconds;
    });
    const double algorithm =
        row.seconds > 0 ? static_cast<double>(row.size.bytes) / row.seconds * 1e-9 : 0;
    table.rows.push_back(
        {row.size.bytes, row.size.count, name(options.dtype),
         reduces(options.collective) ? Value(name(options.op.value_or(ReduceOp::sum)))
                                     : Value("none"),
         has_root(options.collective) ? Value(options.root.value_or(0)) : Value(-1),
         simulated.contenders()[row.contender].label, row.seconds * 1e6, algorithm,
         algorithm * simulated.bus_factor(), is_fastest, row.ran});
  }
  return table;
}

// Microseconds, as long as they fit into the column.
std::string time_text(double microseconds) {
  return microseconds < 1e7 ? fmt::format("{:.2f}", microseconds)
                            : fmt::format("{:.6g}", microseconds);
}

// As people read it: of each size the fastest and the next.
void print_times(const SimulateOptions& options, const Simulated& simulated) {
  const bool is_one = simulated.contenders().size() == 1;
  fmt::print("{:>12}  {:>12}  {:>5}  {:>5}  {:>4}  {:>10}  {:>8}  {:>8}  {}\n", "size", "count",
             "type", "redop", "root", "time", "algbw", "busbw",
             is_one ? "" : "fastest, and the next");
  fmt::print("{:>12}  {:>12}  {:>5}  {:>5}  {:>4}  {:>10}  {:>8}  {:>8}\n", "(B)", "(elements)", "",
             "", "", "(us)", "(GB/s)", "(GB/s)");
  std::vector<std::int64_t> sizes;
  for (const Prediction& row : simulated.rows())
    if (std::ranges::find(sizes, row.size.bytes) == sizes.end()) sizes.push_back(row.size.bytes);
  std::ranges::sort(sizes);
  for (const std::int64_t size : sizes) {
    std::vector<const Prediction*> rows;
    for (const Prediction& row : simulated.rows())
      if (row.size.bytes == size) rows.push_back(&row);
    std::ranges::stable_sort(rows, {}, [](const Prediction* row) { return row->seconds; });
    const Prediction& best = *rows[0];
    const double algorithm = best.seconds > 0 ? static_cast<double>(size) / best.seconds * 1e-9 : 0;
    std::string who;
    if (!is_one) who = simulated.contenders()[best.contender].label;
    if (rows.size() > 1)
      who += fmt::format(", {} x{:.2f}", simulated.contenders()[rows[1]->contender].label,
                         best.seconds > 0 ? rows[1]->seconds / best.seconds : 1);
    fmt::print("{:>12}  {:>12}  {:>5}  {:>5}  {:>4}  {:>10}  {:>8.2f}  {:>8.2f}  {}\n", size,
               best.size.count, name(options.dtype),
               reduces(options.collective) ? name(options.op.value_or(ReduceOp::sum)) : "none",
               has_root(options.collective) ? options.root.value_or(0) : -1,
               time_text(best.seconds * 1e6), algorithm, algorithm * simulated.bus_factor(), who);
  }
}

std::string size_text(std::int64_t bytes) {
  constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

void print_explained(const Explained& explained, const Simulated& simulated) {
  const CriticalPath& path = explained.path;
  const double total = explained.timeline.device_seconds;
  const auto share = [&](double seconds) {
    return fmt::format("{:>12}  {:5.1f} %", seconds_text(seconds),
                       total > 0 ? 100 * seconds / total : 0);
  };
  fmt::print("\nWhat it waits for, one after the other ({} messages): bound by {}\n\n",
             path.messages, path.bound());
  fmt::print("  start     {}  launch, and input and memory made ready\n", share(path.start));
  fmt::print("  links     {}", share(path.links));
  if (!path.by_link.empty()) {
    const CriticalPath::Share& first = path.by_link[0];
    fmt::print("  most of it, {}, on {}", seconds_text(first.seconds),
               simulated.clock().topology().links()[static_cast<std::size_t>(first.link)].name);
  }
  fmt::print("\n  latency   {}\n", share(path.latency));
  fmt::print("  work      {}  combining and copying\n", share(path.work));
  if (path.waiting > 0) fmt::print("  waiting   {}  for a rank's core\n", share(path.waiting));
  if (path.counted > 0)
    fmt::print("  counted   {}  for what does as the rest did, and wasn't run\n",
               share(path.counted));
  if (explained.timeline.seconds > total)
    fmt::print("  The host takes {} to start the ranks of a node.\n",
               seconds_text(explained.timeline.seconds));
}

Table path_table(const Explained& explained, const Simulated& simulated) {
  const CriticalPath& path = explained.path;
  Table table{.name = "critical_path",
              .columns = {"bound", "messages", "start_us", "links_us", "latency_us", "work_us",
                          "waiting_us", "counted_us", "slowest_link", "slowest_link_us"},
              .rows = {}};
  Value link, on_link;
  if (!path.by_link.empty()) {
    link =
        simulated.clock().topology().links()[static_cast<std::size_t>(path.by_link[0].link)].name;
    on_link = path.by_link[0].seconds * 1e6;
  }
  table.rows.push_back({path.bound(), path.messages, path.start * 1e6, path.links * 1e6,
                        path.latency * 1e6, path.work * 1e6, path.waiting * 1e6, path.counted * 1e6,
                        link, on_link});
  return table;
}

Table fastest_table(const std::vector<Crossover>& fastest, const Simulated& simulated) {
  Table table{.name = "fastest", .columns = {"from_bytes", "algorithm"}, .rows = {}};
  for (const Crossover& each : fastest)
    table.rows.push_back({each.bytes, simulated.contenders()[each.contender].label});
  return table;
}

Table machine_table(const SimulateOptions& options, const Simulated& simulated) {
  const Machine& machine = simulated.clock().machine();
  Table table{.name = "machine",
              .columns = {"topology", "title", "calibration", "ranks", "collective"},
              .rows = {}};
  table.rows.push_back({machine.name(), machine.title(), text_or_null(machine.calibration()),
                        std::int64_t{simulated.clock().topology().ranks()},
                        name(options.collective)});
  return table;
}

void write_trace_file(const std::string& path, const Explained& explained, Simulated& simulated,
                      const Contender& contender, const BenchSize& size) {
  const Problem problem = simulated.problem(size);
  const TimedCall call{
      select(*contender.algorithm, problem, contender.parameters), contender.protocol, {}};
  const Layout layout = simulated.clock().layout(problem, call);
  const SizedProgram program(simulated.clock().program(problem, call), layout,
                             static_cast<std::int64_t>(info(problem.dtype).bytes));
  OutputFile file(path);
  write_trace(explained.timeline, program, simulated.clock().topology(),
              [&](std::string_view text) { file.write(std::as_bytes(std::span(text))); });
  file.finish();
}

}  // namespace

void print_simulated(const SimulateOptions& options, Simulated& simulated) {
  std::vector<Crossover> fastest;
  if (simulated.contenders().size() > 1) fastest = simulated.fastest();
  std::optional<Explained> explained;
  if (simulated.rows().size() == 1) {
    const Prediction& row = simulated.rows()[0];
    const Contender& contender = simulated.contenders()[row.contender];
    explained.emplace();
    explained->timeline = simulated.explain();
    explained->path = critical_path(explained->timeline);
    if (!options.trace.empty())
      write_trace_file(options.trace, *explained, simulated, contender, row.size);
  }
  if (options.format != Format::table) {
    std::vector<Table> tables = {time_table(options, simulated)};
    if (options.format == Format::json) {
      tables.insert(tables.begin(), machine_table(options, simulated));
      tables.push_back(fastest_table(fastest, simulated));
      Table left_out{.name = "left_out", .columns = {"reason"}, .rows = {}};
      for (const std::string& line : simulated.left_out()) left_out.rows.push_back({line});
      tables.push_back(left_out);
      if (explained) tables.push_back(path_table(*explained, simulated));
    }
    print_tables(tables, options.format);
    return;
  }
  const Machine& machine = simulated.clock().machine();
  fmt::print("{} over {} ranks on {}: {}\n", name(options.collective),
             simulated.clock().topology().ranks(), machine.name(), machine.title());
  fmt::print("{}\n\n", machine.calibration().empty()
                           ? "uncalibrated: nobody has fitted its costs to measured times"
                           : "calibrated: " + machine.calibration());
  print_times(options, simulated);
  if (explained) print_explained(*explained, simulated);
  if (!fastest.empty()) {
    fmt::print("\nThe fastest, by size:\n");
    for (const Crossover& each : fastest)
      fmt::print("  from {:>10}  {}\n", size_text(each.bytes),
                 simulated.contenders()[each.contender].label);
  }
  if (!simulated.left_out().empty()) {
    fmt::print("\nLeft out:\n");
    for (const std::string& line : simulated.left_out())
      fmt::print("  {}\n", wrapped(line, page_columns - 2, 4));
  }
}

}  // namespace vranks::cli
