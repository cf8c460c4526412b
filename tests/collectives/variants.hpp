// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways to run every registered algorithm over R ranks that are worth a test: its defaults, and for
// those that read parameters some more.
#pragma once

#include <string>
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

// "channels=3 protocol=ll", for messages.
inline std::string to_string(const Parameters& p) {
  std::string text = std::string(name(p.protocol)) + " channels=" + std::to_string(p.channels);
  if (p.chunks != 0) text += " chunks=" + std::to_string(p.chunks);
  if (p.segment_bytes != 0) text += " segment-bytes=" + std::to_string(p.segment_bytes);
  if (p.ranks_per_node != 0) text += " ranks-per-node=" + std::to_string(p.ranks_per_node);
  return text;
}

}  // namespace vranks
