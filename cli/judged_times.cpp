// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/judged_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "simulator/clock.hpp"
#include "simulator/measured.hpp"
#include "simulator/measured_match.hpp"
#include "simulator/read_machine.hpp"

namespace vranks::cli {

namespace {

struct Judged {
  const MeasuredRow* row;
  std::string topology, ran;
  double seconds;

  double ratio() const { return seconds / *row->seconds; }
};

// Clocks are kept: consecutive rows are mostly about one machine and number of ranks.
class Clocks {
 public:
  explicit Clocks(const SimulateOptions& options) : options_(options) {
    if (!options.says_topology) return;
    const auto own = find_machine(options.topology);
    machines_[own->name()] = own;
  }

  Clock& of(const std::string& topology, std::int64_t ranks, std::int32_t ranks_per_node) {
    const Key key{topology, ranks, ranks_per_node};
    auto at = clocks_.find(key);
    if (at == clocks_.end()) {
      auto& machine = machines_[topology];
      if (machine == nullptr) machine = find_machine(topology);
      auto clock =
          std::make_unique<Clock>(machine, static_cast<std::int32_t>(ranks), ranks_per_node);
      apply_costs(options_.costs, clock->software());
      at = clocks_.emplace(key, std::move(clock)).first;
    }
    return *at->second;
  }

 private:
  using Key = std::tuple<std::string, std::int64_t, std::int32_t>;
  const SimulateOptions& options_;
  std::map<std::string, std::shared_ptr<const Machine>> machines_;
  std::map<Key, std::unique_ptr<Clock>> clocks_;
};

// Of the candidates the fastest. Throws what the last one threw if none can run.
Judged judge(const MeasuredRow& row, const Match& match, Clocks& clocks) {
  Clock& clock = clocks.of(match.topology, match.problem.ranks, match.ranks_per_node);
  Judged judged{&row, match.topology, {}, std::numeric_limits<double>::infinity()};
  std::optional<Error> failed;
  for (const Candidate& candidate : match.candidates) {
    try {
      Parameters parameters = candidate.parameters;
      const bool has_channels = has_word(candidate.algorithm->parameters, "channels");
      if (has_channels && candidate.channels == 0)
        parameters.channels = clock.channels(candidate.protocol);
      const TimedCall call{select(*candidate.algorithm, match.problem, parameters),
                           candidate.protocol,
                           {},
                           has_channels ? 0 : candidate.channels,
                           candidate.instances};
      const double seconds = clock.time(match.problem, call).seconds;
      if (seconds >= judged.seconds) continue;
      judged.seconds = seconds;
      judged.ran = call.selection.algorithm->name;
    } catch (const Error& error) {
      failed = error;
    }
  }
  if (judged.ran.empty() && failed) throw *failed;
  return judged;
}

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

// Errors of rows that belong together.
struct Group {
  std::vector<double> ratios, errors;

  void add(double ratio) {
    ratios.push_back(ratio);
    errors.push_back(std::abs(ratio - 1));
  }
  List numbers() const {
    return {static_cast<std::int64_t>(ratios.size()), quantile(ratios, 0.5), quantile(errors, 0.5),
            quantile(errors, 0.9)};
  }
};

template <class Key>
Table group_table(const char* name, std::vector<std::string> columns,
                  const std::map<Key, Group>& groups, auto head) {
  Table table{.name = name, .columns = std::move(columns), .rows = {}};
  for (const char* column : {"rows", "predicted_over_measured", "median_error", "p90_error"})
    table.columns.emplace_back(column);
  for (const auto& [key, group] : groups) {
    List row = head(key);
    for (Value& value : group.numbers()) row.push_back(std::move(value));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

void apply_costs(const std::vector<std::pair<std::string, std::string>>& costs,
                 SoftwareCosts& software) {
  for (const auto& [name, text] : costs) {
    // "ll.launch" is about that protocol alone.
    const std::size_t dot = name.find('.');
    const CostInfo& cost = find_cost(dot == std::string::npos ? name : name.substr(dot + 1));
    const double value = parse_cost(cost, text, "--set " + name);
    if (dot != std::string::npos) {
      auto& own = software.protocols[static_cast<std::size_t>(parse_protocol(name.substr(0, dot)))];
      if (!own) own = software.costs;
      (*own).*cost.member = value;
      continue;
    }
    software.costs.*cost.member = value;
    for (auto& own : software.protocols)
      if (own) (*own).*cost.member = value;
  }
}

int judge_times(const SimulateOptions& options) {
  const std::vector<MeasuredRow> rows = read_measured(options.measured);
  std::vector<std::string> topologies;
  for (const ShippedMachine& machine : shipped_machines()) topologies.emplace_back(machine.name);
  Clocks clocks(options);
  std::vector<Judged> judged;
  std::map<std::string, std::int64_t> reasons;
  Table left_out{.name = "left_out", .columns = {"line", "reason"}, .rows = {}};
  {
    ProgressLine progress("simulating");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      progress(static_cast<std::int64_t>(i), static_cast<std::int64_t>(rows.size()));
      const Match match = vranks::match(rows[i], topologies);
      std::string reason = match.reason;
      if (reason.empty()) {
        try {
          judged.push_back(judge(rows[i], match, clocks));
        } catch (const Error& error) {
          reason = error.what();
        }
      }
      if (reason.empty()) continue;
      ++reasons[reason];
      left_out.rows.push_back({rows[i].line, reason});
    }
  }
  std::map<std::tuple<std::string, SizeBand>, Group> bands;
  std::map<std::tuple<std::string, std::string, std::string, SizeBand>, Group> by_algorithm;
  Table row_table{.name = "rows",
                  .columns = {"line", "machine", "topology", "collective", "nranks", "nnodes",
                              "algo", "proto", "ran", "size_bytes", "measured_us", "predicted_us"},
                  .rows = {}};
  for (const Judged& each : judged) {
    const SizeBand band = size_band(each.row->bytes);
    bands[{each.topology, band}].add(each.ratio());
    by_algorithm[{each.topology, each.row->collective, each.row->algorithm, band}].add(
        each.ratio());
    row_table.rows.push_back({each.row->line, each.row->machine, each.topology,
                              each.row->collective, std::int64_t{each.row->ranks},
                              std::int64_t{each.row->nodes}, each.row->algorithm,
                              each.row->protocol, each.ran, each.row->bytes,
                              *each.row->seconds * 1e6, each.seconds * 1e6});
  }
  Table band_table = group_table("bands", {"topology", "band"}, bands, [](const auto& key) {
    return List{std::get<0>(key), name(std::get<1>(key))};
  });
  if (options.format == Format::csv) {
    print_tables({row_table}, options.format);
    return exit_ok;
  }
  Table algorithm_table = group_table(
      "by_algorithm", {"topology", "collective", "algo", "band"}, by_algorithm,
      [](const auto& key) {
        return List{std::get<0>(key), std::get<1>(key), std::get<2>(key), name(std::get<3>(key))};
      });
  if (options.format == Format::json) {
    print_tables({row_table, band_table, algorithm_table, left_out}, options.format);
    return exit_ok;
  }
  Table reason_table{.name = "left out", .columns = {"rows", "reason"}, .rows = {}};
  for (const auto& [reason, count] : reasons) reason_table.rows.push_back({count, reason});
  std::vector<Table> tables = {std::move(algorithm_table), std::move(band_table)};
  if (!reason_table.rows.empty()) tables.push_back(std::move(reason_table));
  print_tables(tables, options.format);
  return exit_ok;
}

}  // namespace vranks::cli
