// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/read_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace vranks {

namespace {

constexpr std::size_t most_switches = 1024, most_edges = 65536;

class GraphReader {
 public:
  explicit GraphReader(Graph& graph) : graph_(graph) {
    for (std::size_t v = 0; v < graph_.vertices.size(); ++v)
      vertices_[graph_.vertices[v]] = static_cast<std::int32_t>(v);
  }

  void read(const YamlField& map) {
    if (const YamlField f = map["switches"]; f.is_there())
      for (const YamlField& each : f.list()) read_switch(each);
    if (const YamlField f = map["links"]; f.is_there())
      for (const YamlField& each : f.list()) read_link(each);
    if (const YamlField f = map["routes"]; f.is_there())
      for (const YamlField& each : f.list()) read_route(each);
  }

 private:
  struct Ends {
    std::int32_t first, count;
  };

  void read_switch(const YamlField& f) {
    Link inside;
    if (f.is_map()) {
      f.map("name bandwidth latency cache");
      inside.name = needed(f, "name").text();
      inside.bandwidth = needed(f, "bandwidth").positive(Quantity::bandwidth);
      if (f["latency"].is_there()) inside.latency = f["latency"].quantity(Quantity::time);
      if (f["cache"].is_there()) inside.cache = f["cache"].quantity(Quantity::bytes);
    } else {
      inside.name = f.text();
    }
    const std::string& name = inside.name;
    if (name.empty() ||
        std::ranges::find(graph_.groups, name, &Graph::Group::name) != graph_.groups.end())
      f.fail(fmt::format("'{}' is no name for a switch", name));
    const auto vertex = static_cast<std::int32_t>(graph_.vertices.size());
    if (!vertices_.try_emplace(name, vertex).second)
      f.fail(fmt::format("there are two of the name '{}'", name));
    if (graph_.vertices.size() >= static_cast<std::size_t>(graph_.ends()) + most_switches)
      f.fail(fmt::format("there are more than {} switches", most_switches));
    graph_.vertices.push_back(name);
    graph_.inside.push_back(inside);
  }

  std::int32_t vertex(const YamlField& f) const {
    const std::string text = f.text();
    if (const auto found = vertices_.find(text); found != vertices_.end()) return found->second;
    std::string ends;
    for (const Graph::Group& group : graph_.groups)
      ends += fmt::format("{} 0 to {}, ", group.name, group.count - 1);
    f.fail(fmt::format("there is no '{}' here; there are {}and the switches", text, ends));
  }
  const std::string& name(std::int32_t vertex) const {
    return graph_.vertices[static_cast<std::size_t>(vertex)];
  }

  // "rank" stands for all of them.
  Ends ends_of(const YamlField& f) const {
    const std::string text = f.text();
    for (const Graph::Group& group : graph_.groups)
      if (group.name == text) return {group.first, group.count};
    return {vertex(f), 1};
  }

  static Link read_numbers(const YamlField& f) {
    Link link;
    link.bandwidth = needed(f, "bandwidth").positive(Quantity::bandwidth);
    if (f["latency"].is_there()) link.latency = f["latency"].quantity(Quantity::time);
    return link;
  }

  void add(const YamlField& f, std::int32_t from, std::int32_t to, Link link) {
    link.name = fmt::format("{} -> {}", name(from), name(to));
    if (!joined_.insert({from, to}).second)
      f.fail(fmt::format("there are two links from {} to {}", name(from), name(to)));
    if (graph_.edges.size() >= most_edges)
      f.fail(fmt::format("there are more than {} links", most_edges));
    graph_.edges.push_back({from, to, link});
  }

  void read_link(const YamlField& f) {
    f.map("from to bandwidth latency one_way back");
    const Link there = read_numbers(f);
    Link back = there;
    const bool one_way = f["one_way"].is_there() && f["one_way"].truth();
    if (f["back"].is_there()) {
      if (one_way) f["back"].fail("a link with one_way: true has no way back");
      f["back"].map("bandwidth latency");
      back = read_numbers(f["back"]);
    }
    const Ends from = ends_of(needed(f, "from")), to = ends_of(needed(f, "to"));
    if (from.count == 1 && to.count == 1 && from.first == to.first)
      f.fail("a link leads to where it comes from");
    // Both stand for the same ends: the other direction of each pair comes by itself.
    const bool is_each_pair = from.first == to.first && from.count == to.count;
    if (is_each_pair && (one_way || f["back"].is_there()))
      f.fail(
          fmt::format("links between each two of all {}s are alike both ways; name two of them "
                      "for others",
                      needed(f, "from").text()));
    // Rank r and port r mod ports, or the other way round.
    const bool by_number = from.count > 1 && to.count > 1 && !is_each_pair;
    for (std::int32_t i = 0; i < from.count; ++i)
      for (std::int32_t k = 0; k < to.count; ++k) {
        if (by_number && i % to.count != k % from.count) continue;
        const std::int32_t a = from.first + i, b = to.first + k;
        if (a == b) continue;
        add(f, a, b, there);
        if (!one_way && !is_each_pair) add(f, b, a, back);
      }
  }

  void read_route(const YamlField& f) {
    std::vector<std::int32_t> route;
    for (const YamlField& stop : f.list()) route.push_back(vertex(stop));
    const std::int32_t ends = graph_.ends();
    if (route.size() < 2 || route.front() >= ends || route.back() >= ends)
      f.fail(fmt::format("a route leads from a {} to another one", end_names()));
    if (std::set(route.begin(), route.end()).size() != route.size())
      f.fail("a route passes nothing twice");
    for (std::size_t i = 0; i + 1 < route.size(); ++i)
      if (!joined_.contains({route[i], route[i + 1]}))
        f.fail(fmt::format("no link leads from {} to {}", name(route[i]), name(route[i + 1])));
    if (!given_.insert({route.front(), route.back()}).second)
      f.fail(fmt::format("there are two routes from {} to {}", name(route.front()),
                         name(route.back())));
    graph_.routes.push_back(std::move(route));
  }
  std::string end_names() const {
    std::string names;
    for (const Graph::Group& group : graph_.groups)
      (names += names.empty() ? "" : " or ") += group.name;
    return names;
  }

  using Pairs = std::set<std::pair<std::int32_t, std::int32_t>>;

  Graph& graph_;
  std::map<std::string, std::int32_t> vertices_;
  Pairs joined_, given_;
};

}  // namespace

void read_graph(const YamlField& map, Graph& graph) { GraphReader(graph).read(map); }

YamlField needed(const YamlField& map, const std::string& key) {
  YamlField f = map[key];
  if (!f.is_there()) map.fail(fmt::format("there is no key '{}'", key));
  return f;
}

}  // namespace vranks
