// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/read_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "simulator/placed_machine.hpp"
#include "simulator/yaml_field.hpp"

namespace vranks {

namespace {

constexpr std::string_view file_keys =
    "name title calibration include costs protocols nodes node network";
constexpr std::int64_t most_nodes = 1 << 20, most_vertices = 256;

std::string read_file(const std::string& path) {
  // One byte more than parse_yaml() takes, for devices that never end.
  std::string text(most_file_bytes + 1, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open() || std::filesystem::is_directory(path))
    throw Error(ErrorKind::io,
                fmt::format("{}: {}", path, file.is_open() ? "is a folder" : std::strerror(errno)));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw Error(ErrorKind::io, fmt::format("{}: {}", path, std::strerror(errno)));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

const ShippedMachine* shipped(std::string_view name) {
  const auto found = std::ranges::find(shipped_machines(), name, &ShippedMachine::name);
  return found == shipped_machines().end() ? nullptr : &*found;
}

// What a file and those that it includes say: its own keys come before theirs, costs one by one.
class Reader {
 public:
  MachineParts read(std::string_view text, const std::string& file) {
    add(parse_yaml(text, file));
    MachineParts parts;
    parts.name = needed("name").text();
    if (const YamlField f = field("title"); f.is_there()) parts.title = f.text();
    if (const YamlField f = field("calibration"); f.is_there()) parts.calibration = f.text();
    read_costs(parts.software);
    if (const YamlField f = field("nodes"); f.is_there())
      parts.most_nodes = static_cast<std::int32_t>(f.whole(1, most_nodes));
    read_node(needed("node"), parts.node);
    if (const YamlField f = field("network"); f.is_there())
      read_network(f, parts);
    else if (parts.most_nodes > 1)
      field("nodes").fail(fmt::format("{} nodes need a network", parts.most_nodes));
    return parts;
  }
  const YamlField& root() const { return documents_.front(); }

 private:
  void add(const YamlField& document) {
    if (std::ranges::find(reading_, document.file()) != reading_.end()) {
      std::string circle;
      for (const std::string& file : reading_) circle += file + " -> ";
      documents_.back()["include"].fail(
          fmt::format("files include one another: {}{}", circle, document.file()));
    }
    reading_.push_back(document.file());
    document.map(file_keys);
    documents_.push_back(document);
    const YamlField include = document["include"];
    if (!include.is_there()) return;
    const std::string name = include.text();
    if (const ShippedMachine* machine = shipped(name); machine != nullptr)
      return add(parse_yaml(machine->text, std::string(machine->name) + ".yaml"));
    const std::filesystem::path beside =
        std::filesystem::path(document.file()).parent_path() / name;
    std::string text;
    try {
      text = read_file(beside.string());
    } catch (const Error& error) {
      include.fail(
          fmt::format("{}; a shipped machine or a file beside this one is right", error.what()));
    }
    add(parse_yaml(text, beside.lexically_normal().string()));
  }

  YamlField field(const std::string& key) const {
    for (const YamlField& document : documents_)
      if (YamlField f = document[key]; f.is_there()) return f;
    return documents_.front()[key];
  }
  YamlField needed(const std::string& key) const {
    YamlField f = field(key);
    if (!f.is_there()) root().fail(fmt::format("there is no key '{}'", key));
    return f;
  }
  static YamlField needed(const YamlField& map, const std::string& key) {
    YamlField f = map[key];
    if (!f.is_there()) map.fail(fmt::format("there is no key '{}'", key));
    return f;
  }

  static std::string cost_keys() {
    std::string keys;
    for (const CostInfo& cost : cost_infos()) (keys += keys.empty() ? "" : " ") += cost.name;
    return keys;
  }
  static void set_costs(const YamlField& map, MessageCosts& costs) {
    for (const YamlField& f : map.map(cost_keys())) {
      const auto cost = std::ranges::find(cost_infos(), f.key(), &CostInfo::name);
      costs.*cost->member = cost->quantity == Quantity::ratio ? f.positive(cost->quantity)
                                                              : f.quantity(cost->quantity);
    }
  }
  void read_costs(SoftwareCosts& software) const {
    for (auto document = documents_.rbegin(); document != documents_.rend(); ++document)
      if (const YamlField costs = (*document)["costs"]; costs.is_there())
        set_costs(costs, software.costs);
    for (auto document = documents_.rbegin(); document != documents_.rend(); ++document) {
      const YamlField own = (*document)["protocols"];
      if (!own.is_there()) continue;
      for (const YamlField& f : own.map("simple ll ll128")) {
        auto& costs = software.protocols[static_cast<std::size_t>(parse_protocol(f.key()))];
        if (!costs) costs = software.costs;
        set_costs(f, *costs);
      }
    }
  }

  void read_node(const YamlField& node, NodeShape& shape) {
    node.map("ranks ports switches links routes");
    shape.ranks = static_cast<std::int32_t>(needed(node, "ranks").whole(1, most_vertices));
    if (const YamlField f = node["ports"]; f.is_there())
      shape.ports = static_cast<std::int32_t>(f.whole(1, most_vertices));
    for (std::int32_t r = 0; r < shape.ranks; ++r)
      shape.vertices.push_back(fmt::format("rank {}", r));
    for (std::int32_t p = 0; p < shape.ports; ++p)
      shape.vertices.push_back(fmt::format("port {}", p));
    shape.inside.resize(shape.vertices.size());
    if (const YamlField f = node["switches"]; f.is_there())
      for (const YamlField& each : f.list()) read_switch(each, shape);
    if (const YamlField f = node["links"]; f.is_there())
      for (const YamlField& each : f.list()) read_link(each, shape);
    if (const YamlField f = node["routes"]; f.is_there())
      for (const YamlField& each : f.list()) {
        std::vector<std::int32_t> route;
        for (const YamlField& stop : each.list()) route.push_back(vertex(stop, shape));
        const auto ends = static_cast<std::int32_t>(shape.ranks + shape.ports);
        if (route.size() < 2 || route.front() >= ends || route.back() >= ends)
          each.fail("a route leads from a rank or port to another one");
        for (std::size_t i = 0; i + 1 < route.size(); ++i)
          if (std::ranges::none_of(shape.edges, [&](const NodeShape::Edge& e) {
                return e.from == route[i] && e.to == route[i + 1];
              }))
            each.fail(fmt::format("no link leads from {} to {}",
                                  shape.vertices[static_cast<std::size_t>(route[i])],
                                  shape.vertices[static_cast<std::size_t>(route[i + 1])]));
        shape.routes.push_back(std::move(route));
      }
    try {
      MachineParts alone;
      alone.name = "node";
      alone.node = shape;
      make_machine(std::move(alone));
    } catch (const Error& error) {
      node.fail(error.what());
    }
  }

  static void read_switch(const YamlField& f, NodeShape& shape) {
    Link inside;
    std::string name;
    if (f.is_map()) {
      f.map("name bandwidth latency cache");
      name = needed(f, "name").text();
      inside.bandwidth = needed(f, "bandwidth").positive(Quantity::bandwidth);
      if (f["latency"].is_there()) inside.latency = f["latency"].quantity(Quantity::time);
      if (f["cache"].is_there()) inside.cache = f["cache"].quantity(Quantity::bytes);
    } else {
      name = f.text();
    }
    inside.name = name;
    if (name.empty() || name == "rank" || name == "port")
      f.fail(fmt::format("'{}' is no name for a switch", name));
    if (std::ranges::find(shape.vertices, name) != shape.vertices.end())
      f.fail(fmt::format("there are two of the name '{}'", name));
    if (shape.vertices.size() >= 4 * most_vertices) f.fail("there are too many switches");
    shape.vertices.push_back(name);
    shape.inside.push_back(inside);
  }

  static std::int32_t vertex(const YamlField& f, const NodeShape& shape) {
    const std::string name = f.text();
    const auto found = std::ranges::find(shape.vertices, name);
    if (found == shape.vertices.end())
      f.fail(fmt::format(
          "there is no '{}' in a node; there are rank 0 to {}, port 0 to {} and the switches", name,
          shape.ranks - 1, shape.ports - 1));
    return static_cast<std::int32_t>(found - shape.vertices.begin());
  }

  // "rank" and "port" stand for all of them.
  static std::vector<std::int32_t> end_of(const YamlField& f, const NodeShape& shape) {
    std::vector<std::int32_t> result;
    const std::string name = f.text();
    const std::int32_t ranks = shape.ranks, ports = shape.ports;
    if (name == "rank")
      for (std::int32_t r = 0; r < ranks; ++r) result.push_back(r);
    else if (name == "port")
      for (std::int32_t p = 0; p < ports; ++p) result.push_back(ranks + p);
    else
      result.push_back(vertex(f, shape));
    return result;
  }

  static Link read_numbers(const YamlField& f) {
    Link link;
    link.bandwidth = needed(f, "bandwidth").positive(Quantity::bandwidth);
    if (f["latency"].is_there()) link.latency = f["latency"].quantity(Quantity::time);
    return link;
  }

  static void read_link(const YamlField& f, NodeShape& shape) {
    f.map("from to bandwidth latency one_way back");
    const Link there = read_numbers(f);
    Link back = there;
    const bool one_way = f["one_way"].is_there() && f["one_way"].truth();
    if (f["back"].is_there()) {
      if (one_way) f["back"].fail("a link with one_way: true has no way back");
      f["back"].map("bandwidth latency");
      back = read_numbers(f["back"]);
    }
    const std::vector<std::int32_t> from = end_of(needed(f, "from"), shape);
    const std::vector<std::int32_t> to = end_of(needed(f, "to"), shape);
    const auto add = [&](std::int32_t a, std::int32_t b, Link link) {
      const std::string_view names[] = {shape.vertices[static_cast<std::size_t>(a)],
                                        shape.vertices[static_cast<std::size_t>(b)]};
      link.name = fmt::format("{} -> {}", names[0], names[1]);
      if (std::ranges::any_of(shape.edges,
                              [&](const NodeShape::Edge& e) { return e.from == a && e.to == b; }))
        f.fail(fmt::format("there are two links from {} to {}", names[0], names[1]));
      if (shape.edges.size() >= 65536) f.fail("a node has more than 65536 links");
      shape.edges.push_back({a, b, link});
    };
    const bool are_pairs = from.size() > 1 && to.size() > 1 && from[0] != to[0];
    for (std::size_t i = 0; i < from.size(); ++i)
      for (std::size_t k = 0; k < to.size(); ++k) {
        // Rank r and port r mod ports, or the other way round.
        if (are_pairs && i % to.size() != k % from.size()) continue;
        if (from[i] == to[k]) {
          if (from.size() == 1 && to.size() == 1) f.fail("a link leads to where it comes from");
          continue;
        }
        add(from[i], to[k], there);
        // Where both ends stand for all ranks, the other direction comes by itself.
        if (!one_way && from[0] != to[0]) add(to[k], from[i], back);
        if (!one_way && from[0] == to[0] && from.size() != to.size()) add(to[k], from[i], back);
      }
  }

  void read_network(const YamlField& f, MachineParts& parts) {
    const std::string kind = needed(f, "kind").text();
    const auto found = std::ranges::find(network_kinds(), kind, &NetworkKind::name);
    if (found == network_kinds().end())
      f["kind"].fail(fmt::format("there is no kind of network '{}'; there are: {}", kind,
                                 names(network_kinds())));
    parts.network = &*found;
    std::string keys = "kind";
    for (const char c : " " + std::string(found->numbers))
      if (c != '[' && c != ']') keys += c;
    f.map(keys);
    for (const std::string_view key :
         {"bandwidth", "latency", "nodes_per_leaf", "nodes_per_group", "global_bandwidth"})
      if (has_word(found->numbers, key)) needed(f, std::string(key));
    NetworkNumbers& n = parts.numbers;
    const auto quantity = [&](const char* key, Quantity what, double& value, bool is_positive) {
      if (const YamlField each = f[key]; each.is_there())
        value = is_positive ? each.positive(what) : each.quantity(what);
    };
    quantity("bandwidth", Quantity::bandwidth, n.bandwidth, true);
    quantity("latency", Quantity::time, n.latency, false);
    quantity("global_bandwidth", Quantity::bandwidth, n.global_bandwidth, true);
    quantity("global_latency", Quantity::time, n.global_latency, false);
    quantity("leaf_latency", Quantity::time, n.leaf_latency, false);
    quantity("oversubscription", Quantity::ratio, n.oversubscription, true);
    if (f["nodes_per_leaf"].is_there()) n.nodes_per_leaf = f["nodes_per_leaf"].whole(1, most_nodes);
    if (f["nodes_per_group"].is_there())
      n.nodes_per_group = f["nodes_per_group"].whole(1, most_nodes);
    if (f["dimensions"].is_there()) {
      for (const YamlField& each : f["dimensions"].list())
        n.dimensions.push_back(each.text() == "auto" ? 0 : each.whole(1, most_nodes));
      if (n.dimensions.empty() || n.dimensions.size() > 8)
        f["dimensions"].fail("1 to 8 sizes are right, such as [4, 4, auto]");
    }
  }

  std::vector<YamlField> documents_;  // the file's own first
  std::vector<std::string> reading_;
};

}  // namespace

std::shared_ptr<const Machine> read_machine(std::string_view text, const std::string& file) {
  return make_machine(Reader().read(text, file));
}

std::shared_ptr<const Machine> find_machine(const std::string& name_or_path) {
  if (const ShippedMachine* machine = shipped(name_or_path); machine != nullptr)
    return read_machine(machine->text, std::string(machine->name) + ".yaml");
  if (name_or_path.find('/') == std::string::npos && !name_or_path.ends_with(".yaml")) {
    std::string all;
    for (const ShippedMachine& each : shipped_machines()) (all += ' ') += each.name;
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("there is no topology '{}'; there are:{}; a file has a slash or ends in "
                    ".yaml",
                    name_or_path, all));
  }
  return read_machine(read_file(name_or_path), name_or_path);
}

std::span<const ShippedMachine> shipped_machines() {
  static constexpr ShippedMachine machines[] = {
#define VR_MACHINE(name, text) {#name, text},
#include "vranks/machines.inc"
#undef VR_MACHINE
  };
  return machines;
}

}  // namespace vranks
