// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/simulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cli/call_options.hpp"
#include "cli/progress.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

constexpr std::int64_t usual_ranks = 8;
// Of each, where all are timed: a few seconds.
constexpr std::int64_t most_transfers_of_all = 10'000'000;

bool is_all(const SimulateOptions& options) {
  return options.algorithms == std::vector<std::string>{"all"};
}

// An algorithm that reads a protocol stands once for each that the machine has costs of.
std::vector<Contender> contenders_of(const SimulateOptions& options) {
  std::vector<Contender> all;
  const auto add = [&](const Algorithm& algorithm) {
    const auto& given = options.parameters.names;
    const bool says_protocol = std::ranges::find(given, "protocol") != given.end();
    if (!has_word(algorithm.parameters, "protocol") || says_protocol) {
      const Protocol protocol = options.parameters.values.protocol;
      all.push_back({&algorithm, options.parameters.values, protocol,
                     says_protocol ? fmt::format("{} {}", algorithm.name, name(protocol))
                                   : std::string(algorithm.name)});
      return;
    }
    for (const ProtocolInfo& protocol : protocols()) {
      Contender each{&algorithm, options.parameters.values, protocol.protocol,
                     fmt::format("{} {}", algorithm.name, protocol.name)};
      each.parameters.protocol = protocol.protocol;
      all.push_back(std::move(each));
    }
  };
  if (is_all(options)) {
    for (const Algorithm& algorithm : algorithms())
      if (supports(algorithm, options.collective)) add(algorithm);
  } else {
    for (const std::string& text : options.algorithms) {
      const Algorithm& algorithm = find_algorithm(text, options.collective);
      check_parameters(algorithm, options.parameters);
      if (std::ranges::find(all, &algorithm, &Contender::algorithm) != all.end())
        throw Error(ErrorKind::bad_argument,
                    fmt::format("--algorithm: {} is there twice", algorithm.name));
      add(algorithm);
    }
  }
  return all;
}

}  // namespace

Simulated::Simulated(const SimulateOptions& options, std::shared_ptr<const Machine> machine)
    : options_(options),
      clock_(std::move(machine), static_cast<std::int32_t>(options.ranks.value_or(usual_ranks)),
             options.parameters.values.ranks_per_node),
      ranks_(options.ranks.value_or(usual_ranks)),
      contenders_(contenders_of(options)) {
  if (!options.trace.empty() && contenders_.size() != 1)
    throw Error(ErrorKind::bad_argument,
                fmt::format("--trace is about one call, and {} stands for {}; give --protocol, too",
                            options.algorithms[0], contenders_.size()));
  if (is_all(options)) clock_.most_transfers = most_transfers_of_all;
  // What the machine knows and nobody said.
  const auto says = [&](std::string_view name) {
    return std::ranges::find(options.parameters.names, name) != options.parameters.names.end();
  };
  std::int32_t on_node = 0;  // none: there is but one
  if (const Topology& topology = clock_.topology(); topology.node(topology.ranks() - 1) > 0)
    while (topology.node(on_node) == 0) ++on_node;
  for (Contender& each : contenders_) {
    if (has_word(each.algorithm->parameters, "channels") && !says("channels"))
      each.parameters.channels = clock_.channels(each.protocol);
    if (has_word(each.algorithm->parameters, "ranks-per-node") && !says("ranks-per-node"))
      each.parameters.ranks_per_node = on_node;
  }
}

double Simulated::bus_factor() const { return cli::bus_factor(options_.collective, ranks_); }

std::optional<BenchSize> Simulated::size_of(std::int64_t bytes) const {
  if (options_.collective == Collective::barrier) return BenchSize{};
  return bench_size(options_.collective, ranks_, bytes,
                    static_cast<std::int64_t>(info(options_.dtype).bytes));
}

Problem Simulated::problem(const BenchSize& size) const {
  Problem problem;
  problem.collective = options_.collective;
  problem.ranks = ranks_;
  problem.elements = size.elements;
  problem.dtype = options_.dtype;
  problem.op = options_.op.value_or(ReduceOp::sum);
  problem.root = root_of(options_.collective, options_.root);
  return problem;
}

Timeline Simulated::time(const Contender& contender, const BenchSize& size, bool keep_events) {
  const Problem timed = problem(size);
  TimedCall call{select(*contender.algorithm, timed, contender.parameters),
                 contender.protocol,
                 {.keep_events = keep_events}};
  call.folds = options_.trace.empty();
  return clock_.time(timed, call);
}

Timeline Simulated::explain() {
  if (explained_) return *std::exchange(explained_, std::nullopt);
  Prediction& row = rows_[0];
  Timeline timeline = time(contenders_[row.contender], row.size, true);
  row.seconds = timeline.seconds;
  return timeline;
}

void Simulated::run() {
  ProgressLine progress("simulating");
  const std::vector<std::int64_t> sizes = options_.collective == Collective::barrier
                                              ? std::vector<std::int64_t>{0}
                                              : sizes_of(options_.sizes);
  const bool is_single = contenders_.size() * sizes.size() == 1;
  std::vector<Contender> kept;
  for (std::size_t c = 0; c < contenders_.size(); ++c) {
    const Contender& contender = contenders_[c];
    std::vector<Prediction> rows;
    try {
      for (std::size_t s = 0; s < sizes.size(); ++s) {
        progress(static_cast<std::int64_t>(c * sizes.size() + s),
                 static_cast<std::int64_t>(contenders_.size() * sizes.size()));
        const std::optional<BenchSize> size = size_of(sizes[s]);
        if (!size || (!rows.empty() && rows.back().size.bytes == size->bytes &&
                      options_.collective != Collective::barrier))
          continue;
        const Problem timed = problem(*size);
        const Selection selection = select(*contender.algorithm, timed, contender.parameters);
        Timeline timeline =
            clock_.time(timed, {selection, contender.protocol, {.keep_events = is_single}});
        rows.push_back(
            {kept.size(), *size, std::string(selection.algorithm->name), timeline.seconds});
        if (is_single) explained_ = std::move(timeline);
      }
    } catch (const Error& error) {
      if (!is_all(options_)) throw;
      left_out_.push_back(fmt::format("{}: {}", contender.label, error.what()));
      continue;
    }
    kept.push_back(contender);
    rows_.insert(rows_.end(), rows.begin(), rows.end());
  }
  contenders_ = std::move(kept);
  if (rows_.empty() && left_out_.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("--bytes: {} bytes have no element of {} for each of {} ranks",
                            sizes.back(), name(options_.dtype), ranks_));
}

// Between two sizes with different winners only those two compete.
std::vector<Crossover> Simulated::fastest() {
  struct Best {
    BenchSize size;
    std::size_t contender;
    double seconds;
  };
  std::vector<Best> best;
  for (const Prediction& row : rows_) {
    const auto at = std::ranges::find_if(
        best, [&](const Best& each) { return each.size.bytes == row.size.bytes; });
    if (at == best.end())
      best.push_back({row.size, row.contender, row.seconds});
    else if (row.seconds < at->seconds)
      *at = {row.size, row.contender, row.seconds};
  }
  std::vector<Crossover> result;
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (i > 0 && best[i].contender == best[i - 1].contender) continue;
    std::int64_t border = best[i].size.bytes;
    if (i > 0) {
      std::int64_t low = best[i - 1].size.bytes;
      const auto overtakes = [&](std::int64_t bytes) {
        const std::optional<BenchSize> size = size_of(bytes);
        return size && time(contenders_[best[i].contender], *size, false).seconds <
                           time(contenders_[best[i - 1].contender], *size, false).seconds;
      };
      while (static_cast<double>(border) > 1.01 * static_cast<double>(low) && border - low > 16) {
        const std::int64_t middle = low + (border - low) / 2;
        (overtakes(middle) ? border : low) = middle;
      }
    }
    result.push_back({border, best[i].contender});
  }
  return result;
}

}  // namespace vranks::cli
