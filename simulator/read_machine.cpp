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
#include <vector>

#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "simulator/placed_machine.hpp"
#include "simulator/read_graph.hpp"
#include "simulator/yaml_field.hpp"

namespace vranks {

namespace {

constexpr std::string_view file_keys =
    "name title calibration include costs protocols nodes node network";
constexpr std::int64_t most_nodes = 1 << 20, most_ends = 256;
constexpr std::size_t most_files = 16;  // that include one another

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

// Unlike the name of any file beside it: switch.yaml may include the shipped switch.
std::string file_of(const ShippedMachine& machine) {
  return fmt::format("(shipped) {}.yaml", machine.name);
}

// What a file and those that it includes say: its own keys come before theirs, costs one by one.
class Reader {
 public:
  MachineParts read(std::string_view text, const std::string& file) {
    add(parse_yaml(text, file));
    MachineParts parts;
    parts.name = needed_field("name").text();
    if (const YamlField f = field("title"); f.is_there()) parts.title = f.text();
    if (const YamlField f = field("calibration"); f.is_there()) parts.calibration = f.text();
    read_costs(parts.software);
    if (const YamlField f = field("nodes"); f.is_there())
      parts.most_nodes = static_cast<std::int32_t>(f.whole(1, most_nodes));
    parts.node = read_node(needed_field("node"));
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
    if (reading_.size() == most_files)
      documents_.back()["include"].fail(
          fmt::format("files include one another more than {} deep", most_files));
    reading_.push_back(document.file());
    document.map(file_keys);
    documents_.push_back(document);
    const YamlField include = document["include"];
    if (!include.is_there()) return;
    const std::string name = include.text();
    if (const ShippedMachine* machine = shipped(name); machine != nullptr)
      return add(parse_yaml(machine->text, file_of(*machine)));
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
  YamlField needed_field(const std::string& key) const {
    YamlField f = field(key);
    if (!f.is_there()) root().fail(fmt::format("there is no key '{}'", key));
    return f;
  }

  static void set_costs(const YamlField& map, MessageCosts& costs) {
    for (const YamlField& f : map.map(cost_names())) {
      const CostInfo& cost = find_cost(f.key());
      costs.*cost.member = f.cost(cost);
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

  // What follows from the links alone is an error of the map that they are in.
  template <class Make>
  static auto made_of(const YamlField& map, Make&& make) {
    try {
      return make();
    } catch (const Error& error) {
      map.fail(error.what());
    }
  }

  static std::shared_ptr<const Node> read_node(const YamlField& node) {
    node.map(fmt::format("ranks ports in_network {}", graph_keys));
    const auto ranks = static_cast<std::int32_t>(needed(node, "ranks").whole(1, most_ends));
    const YamlField given = node["ports"];
    const auto ports = given.is_there() ? static_cast<std::int32_t>(given.whole(1, most_ends)) : 1;
    Graph graph;
    graph.add_ends("rank", ranks);
    graph.add_ends("port", ports);
    read_graph(node, graph);
    std::optional<InNetwork> in_network;
    if (const YamlField f = node["in_network"]; f.is_there()) {
      f.map("switch efficiency latency tile_bytes");
      in_network.emplace();
      in_network->name = needed(f, "switch").text();
      if (const YamlField share = f["efficiency"]; share.is_there()) {
        in_network->efficiency = share.positive(Quantity::ratio);
        if (in_network->efficiency > 1) share.fail("no more than 1 of the bandwidth is there");
      }
      if (f["latency"].is_there()) in_network->latency = f["latency"].quantity(Quantity::time);
      if (const YamlField tile = f["tile_bytes"]; tile.is_there())
        in_network->tile_bytes = tile.cost(find_cost("tile_bytes"));
    }
    return made_of(node, [&] {
      return std::make_shared<Node>(ranks, ports, std::move(graph), std::move(in_network));
    });
  }

  static std::shared_ptr<const Routes> read_routes(const YamlField& network, std::int32_t nodes) {
    constexpr std::int32_t most = 1024;
    if (nodes > most)
      network.fail(fmt::format("{} nodes; at most {} are joined by given links", nodes, most));
    Graph graph;
    graph.add_ends("node", nodes);
    read_graph(network, graph);
    return made_of(network, [&] {
      auto routes = std::make_shared<Routes>(std::move(graph));
      routes->check_all(0, nodes);
      return routes;
    });
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
         {"bandwidth", "latency", "nodes_per_leaf", "nodes_per_group", "global_bandwidth", "links"})
      if (has_word(found->numbers, key)) needed(f, std::string(key));
    NetworkNumbers& n = parts.numbers;
    if (has_word(found->numbers, "links")) n.routes = read_routes(f, parts.most_nodes);
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
      double given = 2 * static_cast<double>(n.dimensions.size());
      for (const std::int64_t size : n.dimensions)
        given *= static_cast<double>(std::max(size, std::int64_t{1}));
      made_of(f["dimensions"], [&] { return count_links(given); });
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
    return read_machine(machine->text, file_of(*machine));
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
