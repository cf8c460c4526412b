// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A machine of equal nodes joined by a network: what files describe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simulator/networks.hpp"
#include "simulator/topology.hpp"

namespace vranks {

// A node: vertices are its ranks, then its ports, then its switches. Every rank reaches every port
// and every other rank.
struct NodeShape {
  std::int32_t ranks = 1, ports = 1;
  std::vector<std::string> vertices;  // names; ranks + ports + switches
  struct Edge {
    std::int32_t from, to;
    Link link;
  };
  std::vector<Edge> edges;  // one direction each
  // What is passed with a switch: a backplane or memory. By vertex; no bandwidth: nothing.
  std::vector<Link> inside;
  // Of pairs of vertices, in place of the shortest: the vertices that are passed, both ends
  // included.
  std::vector<std::vector<std::int32_t>> routes = {};
};

struct MachineParts {
  std::string name, title, calibration;
  SoftwareCosts software;
  NodeShape node;
  std::int32_t most_nodes = 1;
  const NetworkKind* network = nullptr;  // null: one node only
  NetworkNumbers numbers = {};
};

// Finds all routes inside a node. Throws bad_argument if a rank can't reach another one or its
// port.
std::shared_ptr<const Machine> make_machine(MachineParts parts);

}  // namespace vranks
