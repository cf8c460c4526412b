// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ranks/names.hpp"

namespace vranks {

// The build lists the files of algorithms/ here; see CMakeLists.txt.
#define VR_ALGORITHM(file) Algorithm file();
namespace algorithms_of {
#include "vranks/algorithms.inc"
}  // namespace algorithms_of
#undef VR_ALGORITHM

namespace {

// direct, the textbook ones, then a library's after the other; by name among themselves.
int family(std::string_view name) {
  if (name == "direct") return 0;
  if (name.starts_with("ompi_")) return 2;
  if (name.starts_with("nccl_")) return 3;
  return 1;
}

std::vector<Algorithm> make_table() {
  std::vector<Algorithm> table;
#define VR_ALGORITHM(file) table.push_back(algorithms_of::file());
#include "vranks/algorithms.inc"
#undef VR_ALGORITHM
  std::ranges::sort(table, {},
                    [](const Algorithm& a) { return std::pair(family(a.name), a.name); });
  return table;
}

std::string names_for(Collective collective) {
  std::string all;
  for (const Algorithm& algorithm : algorithms())
    if (supports(algorithm, collective)) (all += all.empty() ? "" : " ") += algorithm.name;
  return all;
}

}  // namespace

std::span<const Algorithm> algorithms() {
  static const std::vector<Algorithm> table = make_table();
  return table;
}

bool supports(const Algorithm& algorithm, Collective collective) {
  if (!has_word(algorithm.collectives, name(even_form(collective)))) return false;
  if (!takes_counts(collective)) return true;
  // What a library picks by size it picks by equal blocks.
  return algorithm.takes_counts || (algorithm.layout == even_layout && algorithm.select == nullptr);
}

const Costs& costs_of(const Algorithm& algorithm, Collective collective) {
  return *std::ranges::find_if(algorithm.costs, [&](const Costs& costs) {
    return has_word(costs.collectives, name(even_form(collective)));
  });
}

const Algorithm& find_algorithm(std::string_view text, Collective collective) {
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name != text && !has_word(algorithm.aliases, text)) continue;
    if (!supports(algorithm, collective))
      throw Error(ErrorKind::not_supported,
                  fmt::format("algorithm {} has no {}, only {}; for {} there are: {}",
                              algorithm.name, name(collective), algorithm.collectives,
                              name(collective), names_for(collective)));
    return algorithm;
  }
  throw Error(ErrorKind::bad_argument,
              fmt::format("there is no algorithm '{}'; for {} there are: {}", text,
                          name(collective), names_for(collective)));
}

Selection select(const Algorithm& algorithm, const Problem& problem, const Parameters& parameters) {
  for (const ParameterInfo& parameter : parameter_infos())
    if (parameter.is_set(parameters) && !has_word(algorithm.parameters, parameter.name))
      throw Error(ErrorKind::bad_argument,
                  fmt::format("algorithm {} has no parameter {}; it has: {}", algorithm.name,
                              parameter.name,
                              algorithm.parameters.empty() ? "none" : algorithm.parameters));
  Selection chosen{&algorithm, parameters, ""};
  while (chosen.algorithm->select != nullptr) {
    Selection next = chosen.algorithm->select(problem, chosen.parameters);
    const bool stays = next.algorithm == chosen.algorithm;
    if (!chosen.reason.empty() && !next.reason.empty())
      next.reason = chosen.reason + "; " + next.reason;
    else if (next.reason.empty())
      next.reason = chosen.reason;
    chosen = std::move(next);
    if (stays) break;
  }
  return chosen;
}

}  // namespace vranks
