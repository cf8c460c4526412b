// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways to run every registered algorithm over R ranks that are worth a test: its defaults, for
// those that read parameters some more, roots, and permutations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithm.hpp"
#include "ranks/names.hpp"

namespace vranks {

inline std::vector<Parameters> variants(const Algorithm& algorithm, std::int64_t ranks) {
  const auto reads = [&](std::string_view name) { return has_word(algorithm.parameters, name); };
  std::vector<Parameters> all{{}};
  if (reads("protocol"))
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128})
      all.push_back({.protocol = protocol});
  if (reads("channels")) all.push_back({.channels = 3});
  // Open MPI's pieces follow from segment-bytes.
  if (reads("chunks") && !reads("segment-bytes")) all.push_back({.chunks = 7});
  if (reads("segment-bytes")) all.push_back({.segment_bytes = 16});
  if (reads("ranks-per-node"))
    for (const std::int32_t on_a_node : {1, 2, 3, 4})
      if (ranks % on_a_node == 0 && ranks > on_a_node) all.push_back({.ranks_per_node = on_a_node});
  return all;
}

// Of a permute: for each rank whose slice it gets, -1 for none.
using Sources = std::vector<std::int32_t>;

// Every rank gets another one's or its own slice; with `holes` every third rank, from rank 0 on,
// gets none.
inline Sources random_permutation(std::int64_t ranks, bool holes = false) {
  Sources sources(static_cast<std::size_t>(ranks));
  std::iota(sources.begin(), sources.end(), 0);
  std::mt19937 random(static_cast<unsigned>(ranks));
  std::ranges::shuffle(sources, random);
  for (std::size_t r = 0; holes && r < sources.size(); r += 3) sources[r] = -1;
  return sources;
}

// Those that are worth a test, with their names.
inline std::vector<std::pair<std::string, Sources>> permutations(std::int64_t ranks) {
  const auto count = static_cast<std::int32_t>(ranks);
  const auto each = [&](auto&& source_of) {
    Sources sources;
    for (std::int32_t r = 0; r < count; ++r) sources.push_back(source_of(r));
    return sources;
  };
  return {{"to itself", each([](std::int32_t r) { return r; })},
          {"up by 1", each([&](std::int32_t r) { return (r + count - 1) % count; })},
          {"down by 1", each([&](std::int32_t r) { return (r + 1) % count; })},
          {"by half", each([&](std::int32_t r) { return (r + count / 2) % count; })},
          {"reversed", each([&](std::int32_t r) { return count - 1 - r; })},
          {"ends swapped",
           each([&](std::int32_t r) { return r == 0 || r == count - 1 ? count - 1 - r : r; })},
          {"up by 1, not around", each([](std::int32_t r) { return r - 1; })},
          {"even ranks to odd ones", each([](std::int32_t r) { return r % 2 == 1 ? r - 1 : -1; })},
          {"one message", each([&](std::int32_t r) { return r == 0 ? count - 1 : -1; })},
          {"none", each([](std::int32_t) { return -1; })},
          {"one rank to all", each([&](std::int32_t) { return count / 2; })},
          {"random", random_permutation(ranks)},
          {"random with holes", random_permutation(ranks, true)}};
}

// The problems that a collective has over R ranks: roots at both ends and between, all
// permutations. Of `elements` elements a rank.
inline std::vector<Problem> problems_of(Collective collective, std::int64_t ranks,
                                        std::int64_t elements) {
  const Problem problem{
      .collective = collective, .ranks = ranks, .elements = elements, .op = ReduceOp::sum};
  std::vector<Problem> all;
  if (has_root(collective)) {
    for (const std::int64_t root : std::set<std::int64_t>{0, ranks / 2, ranks - 1})
      (all.emplace_back(problem)).root = root;
  } else if (collective == Collective::permute) {
    for (auto& [name, sources] : permutations(ranks))
      (all.emplace_back(problem)).sources = std::move(sources);
  } else {
    all.push_back(problem);
  }
  return all;
}

// "channels=3 protocol=ll", for messages.
inline std::string to_string(const Parameters& p) {
  std::string text = std::string(name(p.protocol)) + " channels=" + std::to_string(p.channels);
  if (p.chunks != 0) text += " chunks=" + std::to_string(p.chunks);
  if (p.segment_bytes != 0) text += " segment-bytes=" + std::to_string(p.segment_bytes);
  if (p.ranks_per_node != 0) text += " ranks-per-node=" + std::to_string(p.ranks_per_node);
  return text;
}

}  // namespace vranks
