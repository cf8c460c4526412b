// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/measured_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "simulator/measured_rules.hpp"

namespace vranks {

namespace {

using measured::fits;
using measured::fits_any;

// Why a row can't be judged.
struct Unfit {
  std::string reason;
};

// "LL128" as we write it.
std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool is_for(std::string_view collectives, Collective collective) {
  return collectives == "*" || has_word(collectives, name(collective));
}

// The whole number behind `label` in `text`: "channels=4". 0: there is none.
std::int32_t number_behind(std::string_view text, std::string_view label) {
  const auto at = text.find(label);
  std::int32_t number = 0;
  if (at == std::string_view::npos) return number;
  text.remove_prefix(at + label.size());
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The whole number before `label`: "; 4 channels". 0: there is none.
std::int32_t number_before(std::string_view text, std::string_view label) {
  const auto end = text.find(label);
  if (end == std::string_view::npos) return 0;
  const auto before = text.find_last_not_of("0123456789", end == 0 ? 0 : end - 1);
  const std::string_view digits =
      text.substr(before == std::string_view::npos ? 0 : before + 1, end);
  std::int32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

Collective collective_of(const MeasuredRow& row) {
  try {
    return parse_collective(row.collective);
  } catch (const Error&) {
    throw Unfit{"no collective of that name"};
  }
}

std::string topology_of(const MeasuredRow& row, std::span<const std::string> topologies) {
  if (std::ranges::find(topologies, row.machine) != topologies.end()) return row.machine;
  for (const measured::MachineRule& rule : measured::machine_rules()) {
    if (!fits(rule.text, row.machine)) continue;
    if (rule.topology.empty()) throw Unfit{std::string(rule.reason)};
    if (std::ranges::find(topologies, rule.topology) != topologies.end())
      return std::string(rule.topology);
  }
  throw Unfit{"no topology of that machine"};
}

void refuse_excluded(const MeasuredRow& row, std::string_view topology, Collective collective) {
  for (const measured::Exclusion& rule : measured::exclusions())
    if (fits_any(rule.topologies, topology) && is_for(rule.collectives, collective) &&
        fits_any(rule.text, row.algorithm, '|') && fits(rule.source, row.source) &&
        rule.bytes_from <= row.bytes && row.bytes < rule.bytes_below &&
        rule.ranks_from <= row.ranks && row.ranks <= rule.ranks_to &&
        rule.nodes_from <= row.nodes && row.nodes <= rule.nodes_to)
      throw Unfit{std::string(rule.reason)};
}

// Elements of a rank's input, rounded down to equal blocks where data has blocks.
std::int64_t elements_of(const MeasuredRow& row, std::string_view topology,
                         const Problem& problem) {
  std::int64_t bytes = row.bytes;
  for (const measured::SizeRule& rule : measured::size_rules())
    if (fits_any(rule.topologies, topology)) bytes /= rule.times;
  const std::int64_t elements = bytes / static_cast<std::int64_t>(size_bytes(problem.dtype));
  switch (problem.collective) {
    case Collective::all_gather:
    case Collective::gather:
      return elements / problem.ranks;
    case Collective::reduce_scatter:
    case Collective::scatter:
    case Collective::all_to_all:
      return elements - elements % problem.ranks;
    default:
      return elements;
  }
}

Problem problem_of(const MeasuredRow& row, std::string_view topology, Collective collective) {
  if (takes_counts(collective) || collective == Collective::permute)
    throw Unfit{"the row doesn't say who sends how much to whom"};
  Problem problem{.collective = collective, .ranks = row.ranks, .op = ReduceOp::sum};
  for (const measured::DtypeRule& rule : measured::dtype_rules())
    if (fits(rule.text, row.source)) {
      problem.dtype = rule.dtype;
      break;
    }
  problem.elements = elements_of(row, topology, problem);
  if (problem.elements == 0 && collective != Collective::barrier)
    throw Unfit{"less than an element for each rank"};
  return problem;
}

// Adds the algorithm to `candidates`, once for each protocol that it may have run with.
void add(const Algorithm& algorithm, const MeasuredRow& row, std::int32_t ranks_per_node,
         std::int32_t chunks, std::vector<Candidate>& candidates) {
  const auto reads = [&](std::string_view parameter) {
    return has_word(algorithm.parameters, parameter);
  };
  Candidate candidate{.algorithm = &algorithm};
  candidate.channels =
      std::max(number_behind(row.algorithm, "channels="), number_before(row.source, " channels"));
  candidate.instances = std::max(1, number_behind(row.algorithm, "instances="));
  if (reads("channels") && candidate.channels > 0)
    candidate.parameters.channels = candidate.channels;
  if (reads("ranks-per-node")) candidate.parameters.ranks_per_node = ranks_per_node;
  candidate.parameters.chunks = chunks;

  std::vector<Protocol> with;
  if (!row.protocol.empty()) {
    with.push_back(parse_protocol(lower_case(row.protocol)));
  } else if (reads("protocol")) {
    for (const ProtocolInfo& info : protocols()) with.push_back(info.protocol);
  } else {
    with.push_back(Protocol::simple);
  }
  for (const Protocol protocol : with) {
    candidate.protocol = protocol;
    if (reads("protocol")) candidate.parameters.protocol = protocol;
    candidates.push_back(candidate);
  }
}

std::vector<Candidate> by_rules(const MeasuredRow& row, std::string_view topology,
                                Collective collective, std::int32_t ranks_per_node) {
  std::vector<Candidate> candidates;
  for (const measured::AlgorithmRule& rule : measured::algorithm_rules()) {
    if (!fits_any(rule.topologies, topology) || !is_for(rule.collectives, collective) ||
        !fits(rule.text, row.algorithm) || !fits(rule.source, row.source))
      continue;
    for (const Algorithm& algorithm : algorithms())
      if (has_word(rule.algorithms, algorithm.name) && supports(algorithm, collective))
        add(algorithm, row, ranks_per_node, rule.chunks, candidates);
    break;
  }
  return candidates;
}

Match match_or_throw(const MeasuredRow& row, std::span<const std::string> topologies) {
  const Collective collective = collective_of(row);
  if (!row.seconds) throw Unfit{"no time"};
  Match match{.topology = topology_of(row, topologies)};
  if (row.nodes > 0) {
    if (row.ranks % row.nodes != 0) throw Unfit{"ranks aren't spread over the nodes evenly"};
    match.ranks_per_node = row.ranks / row.nodes;
  }
  const bool is_own = row.machine == match.topology;  // whoever wrote it knows our names
  if (!is_own) refuse_excluded(row, match.topology, collective);
  match.problem = problem_of(row, match.topology, collective);
  match.in_place = fits("*placement=ip*", row.source);

  std::optional<std::string> unknown;
  if (is_own && !row.algorithm.empty()) try {
      add(find_algorithm(row.algorithm, collective), row, match.ranks_per_node, 0,
          match.candidates);
    } catch (const Error& error) {
      unknown = error.what();
    }
  if (match.candidates.empty())
    match.candidates = by_rules(row, match.topology, collective, match.ranks_per_node);
  if (match.candidates.empty()) throw Unfit{unknown.value_or("no algorithm of that name")};
  return match;
}

}  // namespace

Match match(const MeasuredRow& row, std::span<const std::string> topologies) {
  try {
    return match_or_throw(row, topologies);
  } catch (const Unfit& unfit) {
    return {.reason = unfit.reason};
  } catch (const Error& error) {  // of a name
    return {.reason = error.what()};
  }
}

}  // namespace vranks
