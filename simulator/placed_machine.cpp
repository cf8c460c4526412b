// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/placed_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "ranks/error.hpp"

namespace vranks {

namespace {

using Path = std::vector<std::int32_t>;  // links of a node, in their order

// Routes inside a node: the fewest links, of those the least latency, of those the first written.
class NodeRoutes {
 public:
  explicit NodeRoutes(const NodeShape& node) : node_(node) {
    for (std::size_t e = 0; e < node.edges.size(); ++e) links_.push_back(node.edges[e].link);
    for (const Link& inside : node.inside) {
      inside_.push_back(inside.bandwidth > 0 ? static_cast<std::int32_t>(links_.size()) : -1);
      if (inside.bandwidth > 0) links_.push_back(inside);
    }
    const std::int32_t ends = node.ranks + node.ports;
    for (std::int32_t from = 0; from < ends; ++from) find(from);
    for (const auto& given : node.routes) override_route(given);
    for (std::int32_t r = 0; r < node.ranks; ++r) port_.push_back(nearest_port(r));
  }

  const std::vector<Link>& links() const { return links_; }
  const Path& path(std::int32_t from, std::int32_t to) const { return paths_.at(key(from, to)); }
  // Vertex of the port by which a rank leaves the node.
  std::int32_t port(std::int32_t rank) const { return port_[static_cast<std::size_t>(rank)]; }

 private:
  std::size_t key(std::int32_t from, std::int32_t to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(node_.ranks + node_.ports) +
           static_cast<std::size_t>(to);
  }

  // Ranks and ports end routes: what passes a node passes its switches.
  void find(std::int32_t from) {
    struct Reached {
      std::int32_t hops = std::numeric_limits<std::int32_t>::max();
      double latency = 0;
      std::int32_t edge = -1;
    };
    const std::int32_t ends = node_.ranks + node_.ports;
    std::vector<Reached> reached(node_.vertices.size());
    reached[static_cast<std::size_t>(from)] = {0, 0, -1};
    for (bool changes = true; std::exchange(changes, false);)
      for (std::size_t e = 0; e < node_.edges.size(); ++e) {
        const NodeShape::Edge& edge = node_.edges[e];
        const Reached& here = reached[static_cast<std::size_t>(edge.from)];
        if (here.hops == std::numeric_limits<std::int32_t>::max()) continue;
        if (edge.from != from && edge.from < ends) continue;
        Reached& there = reached[static_cast<std::size_t>(edge.to)];
        const double latency = here.latency + edge.link.latency +
                               node_.inside[static_cast<std::size_t>(edge.to)].latency;
        if (std::tuple(here.hops + 1, latency) >= std::tuple(there.hops, there.latency)) continue;
        there = {here.hops + 1, latency, static_cast<std::int32_t>(e)};
        changes = true;
      }
    paths_.resize(static_cast<std::size_t>(ends) * static_cast<std::size_t>(ends));
    is_reached_.resize(paths_.size());
    for (std::int32_t to = 0; to < ends; ++to) {
      is_reached_[key(from, to)] =
          reached[static_cast<std::size_t>(to)].hops < std::numeric_limits<std::int32_t>::max();
      if (!is_reached_[key(from, to)]) continue;
      Path& path = paths_[key(from, to)];
      for (std::int32_t at = to; at != from;) {
        const std::int32_t e = reached[static_cast<std::size_t>(at)].edge;
        const std::int32_t before = node_.edges[static_cast<std::size_t>(e)].from;
        path.push_back(e);
        if (before != from && inside_[static_cast<std::size_t>(before)] >= 0)
          path.push_back(inside_[static_cast<std::size_t>(before)]);
        at = before;
      }
      std::ranges::reverse(path);
    }
    if (from >= node_.ranks) return;
    for (std::int32_t to = 0; to < node_.ranks; ++to)
      if (!is_reached_[key(from, to)])
        throw Error(ErrorKind::bad_argument,
                    fmt::format("no links lead from rank {} to rank {} of a node", from, to));
  }

  void override_route(const std::vector<std::int32_t>& vertices) {
    Path path;
    for (std::size_t i = 0; i + 1 < vertices.size(); ++i) {
      const auto edge = std::ranges::find_if(node_.edges, [&](const NodeShape::Edge& e) {
        return e.from == vertices[i] && e.to == vertices[i + 1];
      });
      if (edge == node_.edges.end())
        throw Error(ErrorKind::bad_argument,
                    fmt::format("no link leads from {} to {}, as a route says",
                                node_.vertices[static_cast<std::size_t>(vertices[i])],
                                node_.vertices[static_cast<std::size_t>(vertices[i + 1])]));
      path.push_back(static_cast<std::int32_t>(edge - node_.edges.begin()));
      const std::int32_t passed = inside_[static_cast<std::size_t>(vertices[i + 1])];
      if (i + 2 < vertices.size() && passed >= 0) path.push_back(passed);
    }
    paths_[key(vertices.front(), vertices.back())] = path;
  }

  // Ports without links are the ranks' own: rank r has port r mod ports. Otherwise the first of
  // those that are the fewest links away, beginning with that one.
  std::int32_t nearest_port(std::int32_t rank) const {
    std::int32_t best = -1;
    for (std::int32_t i = 0; i < node_.ports; ++i) {
      const std::int32_t port = node_.ranks + (rank + i) % node_.ports;
      if (!is_reached_[key(rank, port)] || !is_reached_[key(port, rank)]) continue;
      if (best < 0 || path(rank, port).size() < path(rank, best).size()) best = port;
    }
    return best >= 0 ? best : node_.ranks + rank % node_.ports;
  }

  const NodeShape& node_;
  std::vector<Link> links_;
  std::vector<std::int32_t> inside_;  // by vertex: the link that stands for it; -1: none
  std::vector<Path> paths_;
  std::vector<bool> is_reached_;
  std::vector<std::int32_t> port_;
};

class PlacedTopology : public Topology {
 public:
  PlacedTopology(std::shared_ptr<const MachineParts> parts,
                 std::shared_ptr<const NodeRoutes> routes, std::int32_t ranks,
                 std::int32_t ranks_per_node)
      : parts_(std::move(parts)),
        routes_(std::move(routes)),
        ranks_(ranks),
        per_node_(ranks_per_node) {
    const std::int32_t nodes = (ranks + per_node_ - 1) / per_node_;
    links_.reserve(static_cast<std::size_t>(nodes) * routes_->links().size());
    for (std::int32_t node = 0; node < nodes; ++node)
      for (const Link& link : routes_->links()) {
        links_.push_back(link);
        if (nodes > 1) links_.back().name = fmt::format("node {}: {}", node, link.name);
      }
    first_network_ = static_cast<std::int32_t>(links_.size());
    if (nodes > 1)
      network_ = parts_->network->make(parts_->numbers, nodes, parts_->node.ports, links_);
  }

  const std::string& name() const override { return parts_->name; }
  std::int32_t ranks() const override { return ranks_; }
  std::span<const Link> links() const override { return links_; }
  std::int32_t node(std::int32_t rank) const override { return rank / per_node_; }

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& route) const override {
    const std::int32_t a = node(from), b = node(to);
    const std::int32_t here = from % per_node_, there = to % per_node_;
    if (a == b) {
      add(a, here, there, route);
      return;
    }
    const std::int32_t out = routes_->port(here), in = routes_->port(there);
    add(a, here, out, route);
    network_->route(a, out - parts_->node.ranks, b, in - parts_->node.ranks, first_network_, route);
    add(b, in, there, route);
  }

 private:
  void add(std::int32_t node, std::int32_t from, std::int32_t to,
           std::vector<std::int32_t>& route) const {
    const auto links = static_cast<std::int32_t>(routes_->links().size());
    for (const std::int32_t link : routes_->path(from, to)) route.push_back(node * links + link);
  }

  std::shared_ptr<const MachineParts> parts_;
  std::shared_ptr<const NodeRoutes> routes_;
  std::int32_t ranks_, per_node_, first_network_ = 0;
  std::vector<Link> links_;
  std::unique_ptr<Network> network_;
};

class PlacedMachine : public Machine {
 public:
  explicit PlacedMachine(MachineParts parts)
      : parts_(std::make_shared<const MachineParts>(std::move(parts))),
        routes_(std::make_shared<const NodeRoutes>(parts_->node)) {}

  const std::string& name() const override { return parts_->name; }
  const std::string& title() const override { return parts_->title; }
  const std::string& calibration() const override { return parts_->calibration; }
  const SoftwareCosts& software() const override { return parts_->software; }

  std::shared_ptr<const Topology> place(std::int32_t ranks,
                                        std::int32_t ranks_per_node) const override {
    const std::int32_t in_node = parts_->node.ranks;
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
    return std::make_shared<const PlacedTopology>(parts_, routes_, ranks, per_node);
  }

 private:
  std::shared_ptr<const MachineParts> parts_;
  std::shared_ptr<const NodeRoutes> routes_;
};

}  // namespace

std::shared_ptr<const Machine> make_machine(MachineParts parts) {
  return std::make_shared<const PlacedMachine>(std::move(parts));
}

}  // namespace vranks
