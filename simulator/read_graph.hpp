// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The keys `switches`, `links` and `routes` of topology files, which mean the same inside a node
// and between nodes.
#pragma once

#include "simulator/routes.hpp"
#include "simulator/yaml_field.hpp"

namespace vranks {

inline constexpr std::string_view graph_keys = "switches links routes";

// Adds what those keys of `map` say to the ends that `graph` has. Throws bad_input.
void read_graph(const YamlField& map, Graph& graph);

// A value of a map that must be there. Throws bad_input.
YamlField needed(const YamlField& map, const std::string& key);

}  // namespace vranks
