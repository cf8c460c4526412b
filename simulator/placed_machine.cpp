// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/placed_machine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ranks/error.hpp"

namespace vranks {

Node::Node(std::int32_t ranks, std::int32_t ports, Graph graph, std::optional<InNetwork> in_network)
    : ranks_(ranks), ports_(ports), routes_(std::move(graph)), in_network_(std::move(in_network)) {
  const auto is_port = [&](std::int32_t vertex) {
    return vertex >= ranks_ && vertex < ranks_ + ports_;
  };
  has_links_of_ports_ = std::ranges::any_of(routes_.graph().edges, [&](const Graph::Edge& edge) {
    return is_port(edge.from) || is_port(edge.to);
  });
  routes_.check_all(0, ranks_);
  for (std::int32_t r = 0; r < ranks_; ++r) port_.push_back(find_port(r));
  if (in_network_) {
    const auto& names = routes_.graph().vertices;
    summing_switch_ =
        static_cast<std::int32_t>(std::ranges::find(names, in_network_->name) - names.begin());
    check_in_network();
  }
}

void Node::check_in_network() const {
  const auto vertices = static_cast<std::int32_t>(routes_.graph().vertices.size());
  if (summing_switch_ < ranks_ + ports_ || summing_switch_ == vertices)
    throw Error(ErrorKind::bad_argument,
                fmt::format("in_network: there is no switch '{}'", in_network_->name));
  // What passes it once and is copied would have to pass it as often as there are copies.
  if (routes_.graph().inside[static_cast<std::size_t>(summing_switch_)].bandwidth > 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("in_network: switch '{}' sums, so that only its links can have a "
                            "bandwidth",
                            in_network_->name));
  std::vector<std::int32_t> links;
  for (std::int32_t a = 0; a < ranks_; ++a)
    for (std::int32_t b = 0; b < ranks_; ++b) {
      links.clear();
      if (a != b && links_to_switch(a, b, links) == links.size())
        throw Error(ErrorKind::bad_argument,
                    fmt::format("in_network: the route from rank {} to rank {} doesn't pass {}", a,
                                b, in_network_->name));
    }
}

std::size_t Node::links_to_switch(std::int32_t from, std::int32_t to,
                                  std::vector<std::int32_t>& links) const {
  routes_.add(from, to, 0, links);
  const auto& edges = routes_.graph().edges;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto link = static_cast<std::size_t>(links[i]);
    if (link < edges.size() && edges[link].to == summing_switch_) return i + 1;
  }
  return links.size();
}

std::int32_t Node::find_port(std::int32_t rank) const {
  if (!has_links_of_ports_) return rank % ports_;
  std::int32_t best = -1;
  std::size_t least = 0;
  for (std::int32_t i = 0; i < ports_; ++i) {
    const std::int32_t port = (rank + i) % ports_;
    if (!routes_.leads(rank, ranks_ + port) || !routes_.leads(ranks_ + port, rank)) continue;
    std::vector<std::int32_t> way;
    routes_.add(rank, ranks_ + port, 0, way);
    if (best >= 0 && way.size() >= least) continue;
    best = port;
    least = way.size();
  }
  if (best < 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("no links lead from rank {} to a port and back, though ports have "
                            "links",
                            rank));
  return best;
}

void Node::add_inside(std::int32_t from, std::int32_t to, std::int32_t first,
                      std::vector<std::int32_t>& route) const {
  if (from != to) routes_.add(from, to, first, route);
}
void Node::add_out(std::int32_t rank, std::int32_t first, std::vector<std::int32_t>& route) const {
  if (has_links_of_ports_) routes_.add(rank, ranks_ + port(rank), first, route);
}
void Node::add_in(std::int32_t rank, std::int32_t first, std::vector<std::int32_t>& route) const {
  if (has_links_of_ports_) routes_.add(ranks_ + port(rank), rank, first, route);
}

// By the route to the next rank: all routes lead by the switch.
void Node::add_up(std::int32_t rank, std::int32_t first, std::vector<std::int32_t>& route) const {
  std::vector<std::int32_t> links;
  const std::size_t count = links_to_switch(rank, (rank + 1) % ranks_, links);
  for (std::size_t i = 0; i < count; ++i) route.push_back(first + links[i]);
}
void Node::add_down(std::int32_t rank, std::int32_t first, std::vector<std::int32_t>& route) const {
  std::vector<std::int32_t> links;
  const std::size_t count = links_to_switch((rank + 1) % ranks_, rank, links);
  for (std::size_t i = count; i < links.size(); ++i) route.push_back(first + links[i]);
}

namespace {

class PlacedTopology : public Topology {
 public:
  PlacedTopology(std::shared_ptr<const MachineParts> parts, std::int32_t ranks,
                 std::int32_t ranks_per_node)
      : parts_(std::move(parts)), ranks_(ranks), per_node_(ranks_per_node) {
    const std::int32_t nodes = (ranks + per_node_ - 1) / per_node_;
    const std::vector<Link>& inside = parts_->node->links();
    first_network_ = count_links(static_cast<double>(nodes) * static_cast<double>(inside.size()));
    links_.reserve(static_cast<std::size_t>(first_network_));
    for (std::int32_t node = 0; node < nodes; ++node)
      for (const Link& link : inside) {
        links_.push_back(link);
        if (nodes > 1) links_.back().name = fmt::format("node {}: {}", node, link.name);
      }
    if (nodes > 1)
      network_ = parts_->network->make(parts_->numbers, nodes, parts_->node->ports(), links_);
  }

  const std::string& name() const override { return parts_->name; }
  std::int32_t ranks() const override { return ranks_; }
  std::span<const Link> links() const override { return links_; }
  std::int32_t node(std::int32_t rank) const override { return rank / per_node_; }

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& route) const override {
    const Node& shape = *parts_->node;
    const std::int32_t a = node(from), b = node(to);
    const std::int32_t here = from % per_node_, there = to % per_node_;
    if (a == b) return shape.add_inside(here, there, first(a), route);
    shape.add_out(here, first(a), route);
    network_->route(a, shape.port(here), b, shape.port(there), first_network_, route);
    shape.add_in(there, first(b), route);
  }

  const InNetwork* in_network() const override {
    const auto& of_node = parts_->node->in_network();
    return of_node ? &*of_node : nullptr;
  }
  void route_up(std::int32_t rank, std::vector<std::int32_t>& route) const override {
    parts_->node->add_up(rank % per_node_, first(node(rank)), route);
  }
  void route_down(std::int32_t rank, std::vector<std::int32_t>& route) const override {
    parts_->node->add_down(rank % per_node_, first(node(rank)), route);
  }

 private:
  std::int32_t first(std::int32_t node) const {
    return node * static_cast<std::int32_t>(parts_->node->links().size());
  }

  std::shared_ptr<const MachineParts> parts_;
  std::int32_t ranks_, per_node_, first_network_ = 0;
  std::vector<Link> links_;
  std::unique_ptr<Network> network_;
};

class PlacedMachine : public Machine {
 public:
  explicit PlacedMachine(MachineParts parts)
      : parts_(std::make_shared<const MachineParts>(std::move(parts))) {}

  const std::string& name() const override { return parts_->name; }
  const std::string& title() const override { return parts_->title; }
  const std::string& calibration() const override { return parts_->calibration; }
  const SoftwareCosts& software() const override { return parts_->software; }

  std::shared_ptr<const Topology> place(std::int32_t ranks,
                                        std::int32_t ranks_per_node) const override {
    const std::int32_t in_node = parts_->node->ranks();
    if (ranks_per_node < 0 || ranks_per_node > in_node)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{} ranks a node: a node of {} holds at most {}", ranks_per_node,
                              name(), in_node));
    const std::int32_t per_node = ranks_per_node == 0 ? in_node : ranks_per_node;
    const std::int64_t room = std::int64_t{per_node} * parts_->most_nodes;
    if (ranks < 1 || ranks > room)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{} ranks: {} holds 1 to {} ({} nodes of {})", ranks, name(), room,
                              parts_->most_nodes, per_node));
    return std::make_shared<const PlacedTopology>(parts_, ranks, per_node);
  }

 private:
  std::shared_ptr<const MachineParts> parts_;
};

}  // namespace

std::shared_ptr<const Machine> make_machine(MachineParts parts) {
  return std::make_shared<const PlacedMachine>(std::move(parts));
}

}  // namespace vranks
