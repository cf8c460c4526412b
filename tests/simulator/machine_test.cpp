// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Topology files: routes, what ships, and what is wrong with bad ones.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "simulator/read_machine.hpp"
#include "tests/ranks/expect_error.hpp"
#include "tests/ranks/temporary_folder.hpp"

namespace vranks {
namespace {

std::vector<std::int32_t> route_of(const Topology& topology, std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> route;
  topology.route(from, to, route);
  return route;
}

double latency_of(const Topology& topology, std::int32_t from, std::int32_t to) {
  double latency = 0;
  for (const std::int32_t link : route_of(topology, from, to))
    latency += topology.links()[static_cast<std::size_t>(link)].latency;
  return latency;
}

TEST(ShippedMachines, LoadAndRoute) {
  for (const ShippedMachine& each : shipped_machines()) {
    const auto machine = find_machine(std::string(each.name));
    EXPECT_EQ(machine->name(), each.name);
    EXPECT_FALSE(machine->title().empty()) << each.name;
    int placed = 0;
    for (const std::int32_t ranks : {1, 2, 3, 4, 8, 16, 33, 100, 512}) {
      std::shared_ptr<const Topology> topology;
      try {
        topology = machine->place(ranks);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_argument) << error.what();
        continue;
      }
      ++placed;
      EXPECT_EQ(topology->ranks(), ranks);
      const std::int32_t step = std::max(1, ranks / 23);
      for (std::int32_t from = 0; from < ranks; from += step)
        for (std::int32_t to = 0; to < ranks; to += step) {
          if (from == to) continue;
          const std::vector<std::int32_t> route = route_of(*topology, from, to);
          ASSERT_FALSE(route.empty()) << each.name << ' ' << from << ' ' << to;
          EXPECT_EQ(std::set(route.begin(), route.end()).size(), route.size()) << each.name;
          for (const std::int32_t link : route) {
            ASSERT_GE(link, 0);
            ASSERT_LT(static_cast<std::size_t>(link), topology->links().size());
            EXPECT_GT(topology->links()[static_cast<std::size_t>(link)].bandwidth, 0);
          }
          EXPECT_NEAR(latency_of(*topology, from, to), latency_of(*topology, to, from), 1e-15)
              << each.name << ' ' << from << ' ' << to;
        }
    }
    EXPECT_GE(placed, 3) << each.name;
  }
}

TEST(ShippedMachines, ManyRanks) {
  constexpr std::int32_t ranks = 65536;
  for (const char* name : {"switch", "torus", "mesh", "fat_tree", "ring", "fugaku"}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto topology = find_machine(name)->place(ranks);
    EXPECT_FALSE(route_of(*topology, 0, ranks - 1).empty());
    // Milliseconds, but for sanitizers and machines that do much else.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << name;
    EXPECT_LE(topology->links().size(), 6U * ranks) << name;
  }
}

TEST(ReadMachine, ManyLinksOfANode) {
  const auto begin = std::chrono::steady_clock::now();
  const auto topology = read_machine(
                            "name: full\nnode:\n  ranks: 256\n  links:\n    - {from: rank, to: "
                            "rank, bandwidth: 1 GB/s}\n",
                            "full.yaml")
                            ->place(256);
  EXPECT_EQ(topology->links().size(), 256U * 255);
  EXPECT_EQ(route_of(*topology, 3, 200).size(), 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

constexpr const char* two_nodes = R"(name: pair
title: two boxes
nodes: 2
node:
  ranks: 4
  ports: 2
  switches: [plane, {name: memory, bandwidth: 20 GB/s, latency: 10 ns, cache: 1 MiB}]
  links:
    - {from: rank, to: plane, bandwidth: 10 GB/s, latency: 1 us, back: {bandwidth: 5 GB/s, latency: 2 us}}
    - {from: rank, to: port, bandwidth: 3 GB/s, latency: 4 us}
    - {from: rank 0, to: memory, bandwidth: 8 GB/s}
    - {from: rank 1, to: memory, bandwidth: 8 GB/s}
  routes:
    - [rank 0, memory, rank 1]
network: {kind: switch, bandwidth: 100 Gbit/s, latency: 10 us}
protocols:
  ll: {launch: 3 us}
costs: {launch: 1 us, slots: 8}
)";

TEST(ReadMachine, NodesLinksAndRoutes) {
  const auto machine = read_machine(two_nodes, "pair.yaml");
  EXPECT_EQ(machine->software().of(Protocol::simple).launch, 1e-6);
  EXPECT_EQ(machine->software().of(Protocol::ll).launch, 3e-6);
  EXPECT_EQ(machine->software().of(Protocol::ll).slots, 8);
  const auto topology = machine->place(8);
  EXPECT_EQ(topology->node(3), 0);
  EXPECT_EQ(topology->node(4), 1);
  // Inside: up and down have their own numbers.
  const std::vector<std::int32_t> inside = route_of(*topology, 2, 3);
  ASSERT_EQ(inside.size(), 2U);
  EXPECT_EQ(topology->links()[static_cast<std::size_t>(inside[0])].bandwidth, 10e9);
  EXPECT_EQ(topology->links()[static_cast<std::size_t>(inside[1])].bandwidth, 5e9);
  EXPECT_NEAR(latency_of(*topology, 2, 3), 3e-6, 1e-18);
  // As the file says, over the memory, which is a link of its own.
  const std::vector<std::int32_t> given = route_of(*topology, 0, 1);
  ASSERT_EQ(given.size(), 3U);
  EXPECT_EQ(topology->links()[static_cast<std::size_t>(given[1])].name, "node 0: memory");
  EXPECT_EQ(topology->links()[static_cast<std::size_t>(given[1])].cache, 1048576);
  // Between nodes: rank 3 leaves by port 1, and so arrives rank 5.
  const std::vector<std::int32_t> between = route_of(*topology, 3, 5);
  ASSERT_EQ(between.size(), 4U);
  EXPECT_EQ(topology->links()[static_cast<std::size_t>(between[0])].name,
            "node 0: rank 3 -> port 1");
  EXPECT_EQ(topology->links()[static_cast<std::size_t>(between[1])].name, "node 0 port 1 up");
  EXPECT_EQ(topology->links()[static_cast<std::size_t>(between[2])].name, "node 1 port 1 down");
  EXPECT_EQ(topology->links()[static_cast<std::size_t>(between[3])].name,
            "node 1: port 1 -> rank 1");
  EXPECT_NEAR(latency_of(*topology, 3, 5), 18e-6, 1e-18);
  // Fewer ranks a node.
  EXPECT_EQ(machine->place(4, 2)->node(2), 1);
  expect_error(ErrorKind::bad_argument, {"9 ranks", "pair", "1 to 8"}, [&] { machine->place(9); });
  expect_error(ErrorKind::bad_argument, {"5 ranks a node", "at most 4"},
               [&] { machine->place(5, 5); });
}

TEST(ReadMachine, Networks) {
  const auto place = [](const std::string& network, std::int32_t ranks) {
    return read_machine("name: n\nnodes: 1000\nnode: {ranks: 1}\nnetwork: " + network, "n.yaml")
        ->place(ranks);
  };
  const auto hops = [](const Topology& topology, std::int32_t from, std::int32_t to) {
    return route_of(topology, from, to).size();
  };
  const auto torus =
      place("{kind: torus, bandwidth: 1 GB/s, latency: 1 us, dimensions: [4, 3]}", 12);
  EXPECT_EQ(hops(*torus, 0, 3), 1U);  // round the end
  EXPECT_EQ(hops(*torus, 0, 2), 2U);
  EXPECT_EQ(hops(*torus, 0, 11), 2U);
  EXPECT_EQ(hops(*torus, 1, 10), 2U);
  const auto mesh = place("{kind: mesh, bandwidth: 1 GB/s, latency: 1 us, dimensions: [4, 3]}", 12);
  EXPECT_EQ(hops(*mesh, 0, 3), 3U);
  EXPECT_EQ(hops(*mesh, 0, 11), 5U);
  const auto tree =
      place("{kind: fat_tree, bandwidth: 1 GB/s, latency: 1 us, nodes_per_leaf: 4}", 12);
  EXPECT_EQ(hops(*tree, 0, 3), 2U);
  EXPECT_EQ(hops(*tree, 0, 4), 4U);
  const auto fly = place(
      "{kind: dragonfly, bandwidth: 1 GB/s, latency: 1 us, nodes_per_group: 4, global_bandwidth: 2 "
      "GB/s}",
      12);
  EXPECT_EQ(hops(*fly, 0, 3), 2U);
  EXPECT_EQ(hops(*fly, 0, 4), 3U);
  expect_error(ErrorKind::bad_argument, {"13 nodes", "4 x 3"}, [&] {
    place("{kind: torus, bandwidth: 1 GB/s, latency: 0, dimensions: [4, 3]}", 13);
  });
  expect_error(ErrorKind::bad_input, {"n.yaml:4", "nodes_per_leaf"},
               [&] { place("{kind: fat_tree, bandwidth: 1 GB/s, latency: 1 us}", 2); });
}

constexpr const char* two_leaves = R"(name: leaves
nodes: 4
node: {ranks: 2}
network:
  kind: links
  switches: [left, right, {name: core, bandwidth: 3 GB/s, latency: 1 us}]
  links:
    - {from: node 0, to: left, bandwidth: 10 GB/s, latency: 1 us}
    - {from: node 1, to: left, bandwidth: 10 GB/s, latency: 1 us}
    - {from: node 2, to: right, bandwidth: 20 GB/s, latency: 2 us, back: {bandwidth: 5 GB/s}}
    - {from: node 3, to: right, bandwidth: 20 GB/s, latency: 2 us}
    - {from: left, to: core, bandwidth: 8 GB/s, latency: 3 us}
    - {from: right, to: core, bandwidth: 8 GB/s, latency: 3 us}
    - {from: node 0, to: node 1, bandwidth: 1 GB/s, latency: 9 us}
    - {from: node 1, to: node 3, bandwidth: 2 GB/s, latency: 9 us}
  routes:
    - [node 0, left, node 1]
    - [node 0, node 1, node 3]
)";

TEST(ReadMachine, LinksBetweenNodes) {
  std::string text = two_leaves;
  text.replace(text.find("{ranks: 2}"), 10, "{ranks: 1}");
  const auto topology = read_machine(text, "leaves.yaml")->place(4);
  EXPECT_EQ(topology->node(3), 3);
  const auto names = [&](std::int32_t from, std::int32_t to) {
    std::vector<std::string> result;
    for (const std::int32_t link : route_of(*topology, from, to))
      result.push_back(topology->links()[static_cast<std::size_t>(link)].name);
    return result;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(0, 2),
            Names({"node 0 -> left", "left -> core", "core", "core -> right", "right -> node 2"}));
  EXPECT_NEAR(latency_of(*topology, 0, 2), 10e-6 - 2e-6, 1e-18);  // the way back says none
  EXPECT_NEAR(latency_of(*topology, 2, 0), 10e-6, 1e-18);
  EXPECT_EQ(names(0, 1), Names({"node 0 -> left", "left -> node 1"}));  // given
  EXPECT_EQ(names(1, 0), Names({"node 1 -> node 0"}));                  // the fewest links
  EXPECT_EQ(names(0, 3), Names({"node 0 -> node 1", "node 1 -> node 3"}));
  EXPECT_EQ(read_machine(text, "leaves.yaml")->place(2)->ranks(), 2);

  expect_error(ErrorKind::bad_input, {"leaves.yaml:3", "rank 0 to rank 1"},
               [] { read_machine(two_leaves, "leaves.yaml"); });
  const auto bad = [&](std::string_view from, std::string_view to,
                       std::initializer_list<const char*> phrases) {
    std::string wrong = text;
    wrong.replace(wrong.find(from), from.size(), to);
    expect_error(ErrorKind::bad_input, phrases, [&] { read_machine(wrong, "leaves.yaml"); });
  };
  bad("from: node 3", "from: node 4", {"leaves.yaml:11", "no 'node 4'", "node 0 to 3"});
  bad("from: right, to: core", "from: right, to: right", {"leaves.yaml:13", "where it comes from"});
  bad("nodes: 4", "nodes: 5", {"leaves.yaml:5", "no links lead from node 0 to node 4"});
  bad("nodes: 4", "nodes: 5000", {"leaves.yaml:5", "5000 nodes", "at most 1024"});
  bad("- [node 0, left, node 1]", "- [node 0, core, node 1]",
      {"leaves.yaml:17", "no link leads from node 0 to core"});
  bad("- [node 0, node 1, node 3]", "- [node 0, node 1]",
      {"leaves.yaml:18", "two routes from node 0 to node 1"});
  bad("[left, right,", "[left, right, node,", {"leaves.yaml:6", "'node' is no name"});
}

// No file makes what doesn't fit into memory.
TEST(ReadMachine, SizesHaveLimits) {
  const auto machine = [](const std::string& network) {
    return read_machine(
        "name: n\nnodes: 1048576\nnode: {ranks: 1}\nnetwork: {bandwidth: 1 GB/s, latency: 0, " +
            network + "}\n",
        "n.yaml");
  };
  for (const char* dimensions :
       {"[100000, 100000]", "[1000, 1000, 1000, auto]", "[1000000, 1000000, 1000000, 1000000]"})
    expect_error(ErrorKind::bad_input, {"n.yaml:4", "dimensions", "links are too many"},
                 [&] { machine("kind: torus, dimensions: " + std::string(dimensions)); });
  const auto fly = machine("kind: dragonfly, nodes_per_group: 1, global_bandwidth: 1 GB/s");
  EXPECT_EQ(fly->place(9)->ranks(), 9);
  expect_error(ErrorKind::bad_argument, {"10000000000 links", "at most"},
               [&] { fly->place(100'000); });
  const auto full = read_machine(
      "name: n\nnodes: 1048576\nnode: {ranks: 64, links: [{from: rank, to: rank, bandwidth: 1 "
      "GB/s}]}\nnetwork: {kind: switch, bandwidth: 1 GB/s, latency: 0}\n",
      "n.yaml");
  expect_error(ErrorKind::bad_argument, {"links are too many"}, [&] { full->place(1'000'000); });
}

TEST(ReadMachine, CommentsMayHoldAnything) {
  const std::string comment = "# " + std::string(40, '[') + " ... {\n";
  const std::string text = comment + "---\n" + comment + "name: c\nnode: {ranks: 1}  # [[\n";
  EXPECT_EQ(read_machine(text, "c.yaml")->name(), "c");
}

TEST(ReadMachine, Includes) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  };
  const std::string mine =
      write("mine.yaml", "name: mine\ninclude: switch\ncosts: {launch: 9 us}\n");
  const auto machine = find_machine(mine);
  EXPECT_EQ(machine->name(), "mine");
  EXPECT_EQ(machine->software().costs.launch, 9e-6);
  EXPECT_EQ(machine->place(5)->ranks(), 5);
  const std::string a = write("a.yaml", "name: a\ninclude: b.yaml\n");
  write("b.yaml", "name: b\ninclude: a.yaml\n");
  expect_error(ErrorKind::bad_input, {"b.yaml:2", "include one another", "a.yaml"},
               [&] { find_machine(a); });
  // A file may have the name of the shipped one that it includes.
  const std::string own = write("switch.yaml", "name: own\ninclude: switch\n");
  EXPECT_EQ(find_machine(own)->name(), "own");
  EXPECT_EQ(read_machine("name: own\ninclude: switch\n", "switch.yaml")->place(5)->ranks(), 5);
  const auto chain = [&](int files) {
    for (int f = 0; f < files; ++f)
      write(fmt::format("{}.yaml", f), fmt::format("name: f\ninclude: {}.yaml\n", f + 1));
    write(fmt::format("{}.yaml", files - 1), "name: f\nnode: {ranks: 1}\n");
    return find_machine(folder / "0.yaml");
  };
  EXPECT_EQ(chain(16)->name(), "f");
  expect_error(ErrorKind::bad_input, {"/15.yaml:2", "include", "more than 16 deep"},
               [&] { chain(17); });
  const std::string lost = write("lost.yaml", "name: lost\ninclude: nowhere.yaml\n");
  expect_error(ErrorKind::bad_input, {"lost.yaml:2", "nowhere.yaml", "No such file"},
               [&] { find_machine(lost); });
  expect_error(ErrorKind::io, {"none.yaml", "No such file"}, [&] { find_machine("./none.yaml"); });
  expect_error(ErrorKind::bad_argument, {"no topology 'swich'", "switch"},
               [&] { find_machine("swich"); });
}

// Routes are as short as an independent search finds them: inside a node and between nodes.
TEST(ReadMachine, RoutesAreShortest) {
  EXPECT_TRUE(rc::check("routes have the fewest links, of those the least latency", [] {
    const bool is_node = *rc::gen::arbitrary<bool>();
    const auto ends = *rc::gen::inRange(2, 6), switches = *rc::gen::inRange(1, 5);
    const int vertices = ends + switches;
    std::string text = is_node ? fmt::format("name: random\nnode:\n  ranks: {}\n", ends)
                               : fmt::format(
                                     "name: random\nnode: {{ranks: 1}}\nnodes: {}\n"
                                     "network:\n  kind: links\n",
                                     ends);
    text += "  switches: [";
    for (int s = 0; s < switches; ++s) text += fmt::format("{}s{}", s > 0 ? ", " : "", s);
    text += "]\n  links:\n";
    // A link costs 1 000 000 and its nanoseconds: fewer links come first.
    constexpr std::int64_t a_link = 1'000'000, far = 1000 * a_link;
    std::vector<std::int64_t> costs(static_cast<std::size_t>(vertices * vertices), far);
    const auto at = [&](int i, int k) -> std::int64_t& {
      return costs[static_cast<std::size_t>(i * vertices + k)];
    };
    const auto vertex = [&](int v) {
      return v < ends ? fmt::format("{} {}", is_node ? "rank" : "node", v)
                      : fmt::format("s{}", v - ends);
    };
    for (int i = 0; i < vertices; ++i)
      for (int k = 0; k < i; ++k) {
        // Every vertex reaches switch 0, others at random.
        if (k != ends && i != ends && *rc::gen::inRange(0, 3) != 0) continue;
        const auto there = *rc::gen::inRange(0, 4), back = *rc::gen::inRange(0, 4);
        text += fmt::format(
            "    - {{from: {}, to: {}, bandwidth: 1 GB/s, latency: {} ns, back: {{bandwidth: 1 "
            "GB/s, latency: {} ns}}}}\n",
            vertex(i), vertex(k), there, back);
        at(i, k) = a_link + there;
        at(k, i) = a_link + back;
      }
    // Ends don't pass on what isn't theirs: paths go by switches (Floyd and Warshall).
    for (int by = ends; by < vertices; ++by)
      for (int i = 0; i < vertices; ++i)
        for (int k = 0; k < vertices; ++k) at(i, k) = std::min(at(i, k), at(i, by) + at(by, k));
    const auto topology = read_machine(text, "random.yaml")->place(ends);
    for (std::int32_t i = 0; i < ends; ++i)
      for (std::int32_t k = 0; k < ends; ++k) {
        if (i == k) continue;
        RC_ASSERT(static_cast<std::int64_t>(route_of(*topology, i, k).size()) == at(i, k) / a_link);
        const double nanoseconds = static_cast<double>(at(i, k) % a_link);
        RC_ASSERT(std::abs(latency_of(*topology, i, k) * 1e9 - nanoseconds) < 1e-6);
      }
  }));
}

}  // namespace
}  // namespace vranks
