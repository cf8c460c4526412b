// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "ranks/error.hpp"

namespace vranks {

void Graph::add_ends(const std::string& name, std::int32_t count) {
  groups.push_back({name, static_cast<std::int32_t>(vertices.size()), count});
  for (std::int32_t i = 0; i < count; ++i) vertices.push_back(fmt::format("{} {}", name, i));
  inside.resize(vertices.size());
}

std::int32_t Graph::ends() const {
  return groups.empty() ? 0 : groups.back().first + groups.back().count;
}

Routes::Routes(Graph graph) : graph_(std::move(graph)), edges_(graph_.vertices.size()) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> edge_between;
  for (const Graph::Edge& edge : graph_.edges) {
    const auto number = static_cast<std::int32_t>(links_.size());
    links_.push_back(edge.link);
    edges_[static_cast<std::size_t>(edge.from)].push_back(number);
    edge_between[{edge.from, edge.to}] = number;
  }
  for (const Link& inside : graph_.inside) {
    inside_.push_back(inside.bandwidth > 0 ? static_cast<std::int32_t>(links_.size()) : -1);
    if (inside.bandwidth > 0) links_.push_back(inside);
  }
  edge_to_.resize(static_cast<std::size_t>(graph_.ends()) * graph_.vertices.size(), -1);
  for (std::int32_t from = 0; from < graph_.ends(); ++from) find(from);
  for (const auto& vertices : graph_.routes) {
    std::vector<std::int32_t> links;
    for (std::size_t i = 0; i + 1 < vertices.size(); ++i) {
      const std::int32_t passed = inside_[static_cast<std::size_t>(vertices[i])];
      if (i > 0 && passed >= 0) links.push_back(passed);
      links.push_back(edge_between.at({vertices[i], vertices[i + 1]}));
    }
    given_[{vertices.front(), vertices.back()}] = std::move(links);
  }
}

bool Routes::leads(std::int32_t from, std::int32_t to) const {
  return edge_to(from, to) >= 0 || given_.contains({from, to});
}

void Routes::add(std::int32_t from, std::int32_t to, std::int32_t first,
                 std::vector<std::int32_t>& route) const {
  if (!given_.empty())
    if (const auto given = given_.find({from, to}); given != given_.end()) {
      for (const std::int32_t link : given->second) route.push_back(first + link);
      return;
    }
  const auto begin = static_cast<std::ptrdiff_t>(route.size());
  for (std::int32_t at = to; at != from;) {
    const std::int32_t edge = edge_to(from, at);
    route.push_back(first + edge);
    at = graph_.edges[static_cast<std::size_t>(edge)].from;
    const std::int32_t passed = inside_[static_cast<std::size_t>(at)];
    if (at != from && passed >= 0) route.push_back(first + passed);
  }
  std::reverse(route.begin() + begin, route.end());
}

void Routes::check_all(std::int32_t first, std::int32_t count) const {
  for (std::int32_t from = first; from < first + count; ++from)
    for (std::int32_t to = first; to < first + count; ++to)
      if (from != to && !leads(from, to))
        throw Error(ErrorKind::bad_argument,
                    fmt::format("no links lead from {} to {}; what passes must pass switches",
                                graph_.vertices[static_cast<std::size_t>(from)],
                                graph_.vertices[static_cast<std::size_t>(to)]));
}

// One more edge at a time, from all vertices that the fewest so far reach.
void Routes::find(std::int32_t from) {
  std::vector<double> latency(graph_.vertices.size(), 0);
  std::vector<bool> is_reached(graph_.vertices.size());
  is_reached[static_cast<std::size_t>(from)] = true;
  for (std::vector<std::int32_t> reached{from}, next; !reached.empty(); reached.swap(next)) {
    next.clear();
    for (const std::int32_t here : reached) {
      if (here != from && here < graph_.ends()) continue;
      for (const std::int32_t edge : edges_[static_cast<std::size_t>(here)]) {
        const Graph::Edge& way = graph_.edges[static_cast<std::size_t>(edge)];
        const auto there = static_cast<std::size_t>(way.to);
        if (is_reached[there]) continue;
        const double time = latency[static_cast<std::size_t>(here)] + way.link.latency +
                            graph_.inside[there].latency;
        std::int32_t& best = edge_to(from, way.to);
        if (best < 0) next.push_back(way.to);
        if (best >= 0 && std::tuple(time, edge) >= std::tuple(latency[there], best)) continue;
        best = edge;
        latency[there] = time;
      }
    }
    for (const std::int32_t there : next) is_reached[static_cast<std::size_t>(there)] = true;
  }
}

}  // namespace vranks
