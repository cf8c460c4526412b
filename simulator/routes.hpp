// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Links between named places as a file writes them, the inside of a node or what joins nodes, and
// the routes over them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulator/topology.hpp"

namespace vranks {

// Vertices are ends, where routes begin and end, then switches.
struct Graph {
  // A word of files for `count` ends from `first` on: "rank" for "rank 0", "rank 1" ...
  struct Group {
    std::string name;
    std::int32_t first, count;
  };
  // One direction.
  struct Edge {
    std::int32_t from, to;
    Link link;
  };

  std::vector<Group> groups = {};
  std::vector<std::string> vertices = {};  // names
  std::vector<Edge> edges = {};            // no two between the same vertices
  // What is passed with a switch: a backplane or memory. By vertex; no bandwidth: nothing.
  std::vector<Link> inside = {};
  // In place of the shortest: the vertices that are passed, both ends included.
  std::vector<std::vector<std::int32_t>> routes = {};

  // Adds a group's ends; all groups come before the first switch.
  void add_ends(const std::string& name, std::int32_t count);
  std::int32_t ends() const;
};

// A route for each pair of ends: the fewest edges, of those the least latency, of those the first
// written. It passes switches only, unless the file gives it.
class Routes {
 public:
  explicit Routes(Graph graph);

  const Graph& graph() const { return graph_; }
  // Of every edge and then of the switches that are links themselves: what routes number.
  const std::vector<Link>& links() const { return links_; }
  // Whether there is a route; there is none to where it comes from.
  bool leads(std::int32_t from, std::int32_t to) const;
  // Puts the links of the route into `route`, numbered from `first` on. Precondition: it leads.
  void add(std::int32_t from, std::int32_t to, std::int32_t first,
           std::vector<std::int32_t>& route) const;
  // Throws bad_argument unless each of `count` ends from `first` on leads to each other one.
  void check_all(std::int32_t first, std::int32_t count) const;

 private:
  void find(std::int32_t from);
  // The edge by which the shortest route comes to a vertex; -1: there is none.
  std::int32_t& edge_to(std::int32_t from, std::int32_t vertex) {
    return edge_to_[static_cast<std::size_t>(from) * graph_.vertices.size() +
                    static_cast<std::size_t>(vertex)];
  }
  std::int32_t edge_to(std::int32_t from, std::int32_t vertex) const {
    return const_cast<Routes*>(this)->edge_to(from, vertex);
  }

  Graph graph_;
  std::vector<Link> links_;
  std::vector<std::int32_t> inside_;              // by vertex: the link it is; -1: none
  std::vector<std::vector<std::int32_t>> edges_;  // by vertex: those that leave it
  std::vector<std::int32_t> edge_to_;             // ends x vertices
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int32_t>> given_;  // links
};

}  // namespace vranks
