// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A machine of equal nodes joined by a network: what files describe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/networks.hpp"
#include "simulator/routes.hpp"
#include "simulator/topology.hpp"

namespace vranks {

// The ends of its links are the ranks, then the ports to the network.
class Node {
 public:
  // Throws bad_argument if a rank can't reach another one, or no port of those that have links, and
  // for a switch that should sum and isn't between all ranks.
  Node(std::int32_t ranks, std::int32_t ports, Graph graph,
       std::optional<InNetwork> in_network = {});

  std::int32_t ranks() const { return ranks_; }
  std::int32_t ports() const { return ports_; }
  const std::vector<Link>& links() const { return routes_.links(); }
  // The port by which a rank leaves the node: the first of those that are the fewest links away,
  // beginning with port rank mod ports. Where no port has links that one costs nothing.
  std::int32_t port(std::int32_t rank) const { return port_[static_cast<std::size_t>(rank)]; }

  // Put links, numbered from `first` on, into `route`: from a rank to another one, to its port, and
  // from its port.
  void add_inside(std::int32_t from, std::int32_t to, std::int32_t first,
                  std::vector<std::int32_t>& route) const;
  void add_out(std::int32_t rank, std::int32_t first, std::vector<std::int32_t>& route) const;
  void add_in(std::int32_t rank, std::int32_t first, std::vector<std::int32_t>& route) const;

  const std::optional<InNetwork>& in_network() const { return in_network_; }
  // The same from a rank up to the switch that sums, and down from it.
  void add_up(std::int32_t rank, std::int32_t first, std::vector<std::int32_t>& route) const;
  void add_down(std::int32_t rank, std::int32_t first, std::vector<std::int32_t>& route) const;

 private:
  std::int32_t find_port(std::int32_t rank) const;
  void check_in_network() const;
  // The links of the route from rank to rank, and how many of them lead to the switch that sums.
  std::size_t links_to_switch(std::int32_t from, std::int32_t to,
                              std::vector<std::int32_t>& links) const;

  std::int32_t ranks_, ports_;
  Routes routes_;
  std::optional<InNetwork> in_network_;
  std::int32_t summing_switch_ = -1;  // its vertex
  bool has_links_of_ports_ = false;
  std::vector<std::int32_t> port_;
};

struct MachineParts {
  std::string name, title, calibration;
  SoftwareCosts software;
  std::shared_ptr<const Node> node;
  std::int32_t most_nodes = 1;
  const NetworkKind* network = nullptr;  // null: one node only
  NetworkNumbers numbers = {};
};

std::shared_ptr<const Machine> make_machine(MachineParts parts);

}  // namespace vranks
