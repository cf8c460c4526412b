// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ranks/error.hpp"

namespace vranks {

namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::bad_argument, problem);
}

// As many more, or an error; what a network has beside those of its nodes.
void reserve(std::vector<Link>& links, double more) {
  count_links(more);
  links.reserve(links.size() + static_cast<std::size_t>(more));
}

// Every port has a link up and one down; what lies between them has bandwidth for all, but for what
// derived networks put there.
class Ports : public Network {
 public:
  Ports(const NetworkNumbers& n, std::int32_t nodes, std::int32_t ports, std::vector<Link>& links)
      : ports_(ports) {
    reserve(links, 2.0 * nodes * ports);
    for (std::int32_t node = 0; node < nodes; ++node)
      for (std::int32_t port = 0; port < ports; ++port) {
        const std::string name = fmt::format("node {} port {}", node, port);
        links.push_back({name + " up", n.bandwidth, n.latency / 2});
        links.push_back({name + " down", n.bandwidth, n.latency / 2});
      }
  }
  void route(std::int32_t from_node, std::int32_t from_port, std::int32_t to_node,
             std::int32_t to_port, std::int32_t first,
             std::vector<std::int32_t>& route) const override {
    route.push_back(first + 2 * (from_node * ports_ + from_port));
    between(from_node, to_node, first, route);
    route.push_back(first + 2 * (to_node * ports_ + to_port) + 1);
  }

 protected:
  virtual void between(std::int32_t, std::int32_t, std::int32_t, std::vector<std::int32_t>&) const {
  }

 private:
  std::int32_t ports_;
};

// What is behind a leaf switch is one link up and one down for all of its nodes: as if its traffic
// were spread evenly over the spines.
class FatTree : public Ports {
 public:
  FatTree(const NetworkNumbers& n, std::int32_t nodes, std::int32_t ports, std::vector<Link>& links)
      : Ports(n, nodes, ports, links),
        per_leaf_(static_cast<std::int32_t>(n.nodes_per_leaf)),
        first_leaf_(2 * nodes * ports) {
    const double bandwidth =
        n.bandwidth * static_cast<double>(n.nodes_per_leaf) * ports / n.oversubscription;
    for (std::int32_t leaf = 0; leaf * per_leaf_ < nodes; ++leaf)
      for (const char* way : {"up", "down"})
        links.push_back({fmt::format("leaf {} {}", leaf, way), bandwidth, n.leaf_latency / 2});
  }

 protected:
  void between(std::int32_t from, std::int32_t to, std::int32_t first,
               std::vector<std::int32_t>& route) const override {
    if (from / per_leaf_ == to / per_leaf_) return;
    route.push_back(first + first_leaf_ + 2 * (from / per_leaf_));
    route.push_back(first + first_leaf_ + 2 * (to / per_leaf_) + 1);
  }

 private:
  std::int32_t per_leaf_, first_leaf_;
};

// Groups of leaf switches; each pair of groups has a bundle of global links, which is one link each
// way. Routes are minimal: one global link.
class Dragonfly : public Ports {
 public:
  Dragonfly(const NetworkNumbers& n, std::int32_t nodes, std::int32_t ports,
            std::vector<Link>& links)
      : Ports(n, nodes, ports, links),
        per_group_(static_cast<std::int32_t>(n.nodes_per_group)),
        groups_((nodes + per_group_ - 1) / per_group_),
        first_global_(2 * nodes * ports) {
    reserve(links, static_cast<double>(groups_) * groups_);
    for (std::int32_t from = 0; from < groups_; ++from)
      for (std::int32_t to = 0; to < groups_; ++to)
        links.push_back(
            {fmt::format("group {} -> group {}", from, to), n.global_bandwidth, n.global_latency});
  }

 protected:
  void between(std::int32_t from, std::int32_t to, std::int32_t first,
               std::vector<std::int32_t>& route) const override {
    if (from / per_group_ == to / per_group_) return;
    route.push_back(first + first_global_ + from / per_group_ * groups_ + to / per_group_);
  }

 private:
  std::int32_t per_group_, groups_, first_global_;
};

// A link from each node to the next one and back in every dimension, first dimension first; the
// shorter way round, ties upwards. All ports of a node share them.
class Grid : public Network {
 public:
  Grid(const NetworkNumbers& n, std::int32_t nodes, bool wraps, std::vector<Link>& links)
      : sizes_(sizes_of(n.dimensions, nodes)), wraps_(wraps) {
    double total = 1;
    for (const std::int32_t size : sizes_) total *= size;
    reserve(links, total * 2 * static_cast<double>(sizes_.size()));
    for (std::int32_t node = 0; node < static_cast<std::int32_t>(total); ++node)
      for (std::size_t d = 0; d < sizes_.size(); ++d)
        for (const char way : {'+', '-'})
          links.push_back(
              {fmt::format("node {} {}{}", node, way, axis(d)), n.bandwidth, n.latency});
  }
  void route(std::int32_t from, std::int32_t, std::int32_t to, std::int32_t, std::int32_t first,
             std::vector<std::int32_t>& route) const override {
    std::int32_t at = from, stride = 1;
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      const std::int32_t size = sizes_[d], target = to / stride % size;
      const std::int32_t up = (target - at / stride % size + size) % size;
      const bool goes_up = wraps_ ? 2 * up <= size : target >= at / stride % size;
      while (at / stride % size != target) {
        route.push_back(
            first +
            2 * (at * static_cast<std::int32_t>(sizes_.size()) + static_cast<std::int32_t>(d)) +
            (goes_up ? 0 : 1));
        const std::int32_t here = at / stride % size;
        at += ((here + (goes_up ? 1 : size - 1)) % size - here) * stride;
      }
      stride *= size;
    }
  }

 private:
  static std::string axis(std::size_t d) {
    return d < 3 ? std::string(1, "xyz"[d]) : fmt::format("d{}", d);
  }
  // Where a size is 0 it is as the nodes need, all those alike or one more.
  static std::vector<std::int32_t> sizes_of(const std::vector<std::int64_t>& given,
                                            std::int32_t nodes) {
    std::int64_t left = nodes, open = 0;
    for (const std::int64_t size : given) {
      if (size == 0)
        ++open;
      else
        left = (left + size - 1) / size;
    }
    std::vector<std::int32_t> sizes;
    for (std::int64_t size : given) {
      if (size == 0) {
        // A divisor near the root if there is one.
        const auto root = static_cast<std::int64_t>(
            std::llround(std::pow(static_cast<double>(left), 1.0 / static_cast<double>(open))));
        size = std::max<std::int64_t>(1, root);
        for (std::int64_t near = size; near >= std::max<std::int64_t>(1, size / 2); --near)
          if (left % near == 0) {
            size = near;
            break;
          }
        if (open == 1) size = left;
        left = (left + size - 1) / size;
        --open;
      }
      sizes.push_back(static_cast<std::int32_t>(size));
    }
    double room = 1;
    for (const std::int32_t size : sizes) room *= size;
    if (room < nodes)
      refuse(fmt::format("{} nodes don't fit into {}", nodes, fmt::join(sizes, " x ")));
    return sizes;
  }

  std::vector<std::int32_t> sizes_;
  bool wraps_;
};

class FullyConnected : public Network {
 public:
  static constexpr std::int32_t most_nodes = 4096;

  FullyConnected(const NetworkNumbers& n, std::int32_t nodes, std::vector<Link>& links)
      : nodes_(nodes) {
    if (nodes > most_nodes)
      refuse(fmt::format("{} nodes have too many links from each to each; at most {}", nodes,
                         most_nodes));
    reserve(links, static_cast<double>(nodes) * nodes);
    for (std::int32_t from = 0; from < nodes; ++from)
      for (std::int32_t to = 0; to < nodes; ++to)
        links.push_back({fmt::format("node {} -> node {}", from, to), n.bandwidth, n.latency});
  }
  void route(std::int32_t from, std::int32_t, std::int32_t to, std::int32_t, std::int32_t first,
             std::vector<std::int32_t>& route) const override {
    route.push_back(first + from * nodes_ + to);
  }

 private:
  std::int32_t nodes_;
};

// As the file says. All of its links are there, however few nodes are used.
class GivenLinks : public Network {
 public:
  GivenLinks(std::shared_ptr<const Routes> routes, std::vector<Link>& links)
      : routes_(std::move(routes)) {
    links.insert(links.end(), routes_->links().begin(), routes_->links().end());
  }
  void route(std::int32_t from, std::int32_t, std::int32_t to, std::int32_t, std::int32_t first,
             std::vector<std::int32_t>& route) const override {
    routes_->add(from, to, first, route);
  }

 private:
  std::shared_ptr<const Routes> routes_;
};

template <class Kind>
std::unique_ptr<Network> make_ports(const NetworkNumbers& n, std::int32_t nodes, std::int32_t ports,
                                    std::vector<Link>& links) {
  return std::make_unique<Kind>(n, nodes, ports, links);
}
std::unique_ptr<Network> make_full(const NetworkNumbers& n, std::int32_t nodes, std::int32_t,
                                   std::vector<Link>& links) {
  return std::make_unique<FullyConnected>(n, nodes, links);
}
std::unique_ptr<Network> make_given(const NetworkNumbers& n, std::int32_t, std::int32_t,
                                    std::vector<Link>& links) {
  return std::make_unique<GivenLinks>(n.routes, links);
}
template <bool wraps, int dimensions>
std::unique_ptr<Network> make_grid(const NetworkNumbers& n, std::int32_t nodes, std::int32_t,
                                   std::vector<Link>& links) {
  NetworkNumbers numbers = n;
  if (numbers.dimensions.empty()) numbers.dimensions.assign(dimensions, 0);
  return std::make_unique<Grid>(numbers, nodes, wraps, links);
}

}  // namespace

std::int32_t count_links(double links) {
  if (links > most_links)
    refuse(fmt::format("{:.0f} links are too many; at most {} are simulated", links, most_links));
  return static_cast<std::int32_t>(links);
}

std::span<const NetworkKind> network_kinds() {
  static constexpr NetworkKind rows[] = {
      {"switch", "bandwidth latency", "each port up to one switch that never blocks, and down",
       make_ports<Ports>},
      {"fat_tree", "bandwidth latency nodes_per_leaf [oversubscription] [leaf_latency]",
       "leaf switches, and spines that traffic is spread over evenly", make_ports<FatTree>},
      {"dragonfly", "bandwidth latency nodes_per_group global_bandwidth [global_latency]",
       "groups that never block, a bundle of links between each two", make_ports<Dragonfly>},
      {"ring", "bandwidth latency", "nodes in a circle", make_grid<true, 1>},
      {"mesh", "bandwidth latency [dimensions]", "a grid, of two dimensions unless said",
       make_grid<false, 2>},
      {"torus", "bandwidth latency [dimensions]",
       "a grid with its ends joined, of three dimensions unless said", make_grid<true, 3>},
      {"fully_connected", "bandwidth latency", "a link from each node to each", make_full},
      {"links", "links [switches] [routes]", "every link as the file gives it", make_given},
  };
  return rows;
}

}  // namespace vranks
