// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What joins the nodes of a machine. Routes come by rule, so that any number of nodes needs no
// table of routes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/routes.hpp"
#include "simulator/topology.hpp"

namespace vranks {

// The numbers of a network's file; kinds read those that their rows name.
struct NetworkNumbers {
  double bandwidth = 0, latency = 0;                // of a port of a node, or a link between two
  double global_bandwidth = 0, global_latency = 0;  // between two groups of a dragonfly
  double leaf_latency = 0;                          // of a leaf switch and what is behind it
  double oversubscription = 1;  // of a leaf: bandwidth of its nodes to that behind it
  std::int64_t nodes_per_leaf = 0, nodes_per_group = 0;
  std::vector<std::int64_t> dimensions = {};  // of a torus or mesh; 0: as the nodes need
  std::shared_ptr<const Routes> routes = {};  // between nodes, where the file gives every link
};

// What a topology may have, so that no file makes one that doesn't fit into memory.
inline constexpr std::int32_t most_links = 1 << 24;

// `links` as a number of links. Throws bad_argument for more than those.
std::int32_t count_links(double links);

class Network {
 public:
  virtual ~Network() = default;
  // Puts the links from a port of one node to a port of another one into `route`, as numbers from
  // `first` on. Precondition: from_node != to_node.
  virtual void route(std::int32_t from_node, std::int32_t from_port, std::int32_t to_node,
                     std::int32_t to_port, std::int32_t first,
                     std::vector<std::int32_t>& route) const = 0;
};

// A kind of network; `numbers`: the keys that its files give, separated by spaces, those in
// brackets if they want to.
struct NetworkKind {
  std::string_view name;
  std::string_view numbers;
  std::string_view meaning;
  // Adds its links for that many nodes with `ports` ports each. Throws bad_argument if its numbers
  // don't fit.
  std::unique_ptr<Network> (*make)(const NetworkNumbers&, std::int32_t nodes, std::int32_t ports,
                                   std::vector<Link>& links);
};

std::span<const NetworkKind> network_kinds();

}  // namespace vranks
