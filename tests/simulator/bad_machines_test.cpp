// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a topology file is said with its line.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "simulator/read_machine.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

// Every bad file is named with its line.
TEST(ReadMachine, BadFiles) {
  const auto bad = [](const std::string& text, std::initializer_list<const char*> phrases) {
    expect_error(ErrorKind::bad_input, phrases, [&] { read_machine(text, "bad.yaml"); });
  };
  const std::string head = "name: bad\n";
  bad("", {"bad.yaml", "keys with values"});
  bad(head + "node: {ranks: 1}\n---\nname: b\n", {"bad.yaml:3", "second document"});
  bad("- 1\n- 2\n", {"bad.yaml:1", "keys with values"});
  bad("name: [\n", {"bad.yaml:"});
  bad(head, {"bad.yaml", "no key 'node'"});
  bad(head + "node: {ranks: 2}\n", {"bad.yaml:2", "node", "no links lead from rank 0 to rank 1"});
  bad(head + "node: {ranks: 0}\n", {"bad.yaml:2", "ranks", "'0'", "from 1 to"});
  bad(head + "node: {ranks: 1}\ncolour: red\n", {"bad.yaml:3", "colour", "there are: name"});
  bad(head + "name: twice\nnode: {ranks: 1}\n", {"bad.yaml:2", "name is there twice"});
  bad(head + "nodes: 2\nnode: {ranks: 1}\n", {"bad.yaml:2", "need a network"});
  const auto link = [&](const std::string& rest) {
    return head + "node:\n  ranks: 2\n  switches: [s]\n  links:\n    - {from: rank, to: s, " +
           rest + "}\n";
  };
  bad(link("bandwidth: 1 parsec/s"), {"bad.yaml:6", "bandwidth", "parsec/s", "GB/s"});
  bad(link("bandwidth: 5"), {"bad.yaml:6", "no unit"});
  bad(link("bandwidth: 0 GB/s"), {"bad.yaml:6", "bandwidth", "not above 0"});
  bad(link("bandwidth: -2 GB/s"), {"bad.yaml:6", "bandwidth", "below 0"});
  bad(link("latency: 1 us"), {"bad.yaml:6", "no key 'bandwidth'"});
  bad(link("bandwidth: 1 GB/s, latency: 1 GB"), {"bad.yaml:6", "latency", "unknown unit"});
  bad(link("bandwidth: 1 GB/s, one_way: true"), {"bad.yaml:3", "no links lead"});
  bad(link("bandwidth: 1 GB/s, one_way: maybe"), {"bad.yaml:6", "maybe", "true nor false"});
  bad(link("bandwidth: 1 GB/s") + "    - {from: rank 1, to: s, bandwidth: 1 GB/s}\n",
      {"bad.yaml:7", "two links from rank 1 to s"});
  bad(link("bandwidth: 1 GB/s") + "    - {from: rank 7, to: s, bandwidth: 1 GB/s}\n",
      {"bad.yaml:7", "no 'rank 7'", "rank 0 to 1"});
  bad(link("bandwidth: 1 GB/s") + "    - {from: s, to: s, bandwidth: 1 GB/s}\n",
      {"bad.yaml:7", "where it comes from"});
  bad(link("bandwidth: 1 GB/s") + "  routes:\n    - [rank 0, rank 1]\n",
      {"bad.yaml:8", "no link leads from rank 0 to rank 1"});
  bad(link("bandwidth: 1 GB/s") +
          "  routes:\n    - [rank 0, s, rank 1]\n    - [rank 0, s, rank 1]\n",
      {"bad.yaml:9", "two routes from rank 0 to rank 1"});
  bad(link("bandwidth: 1 GB/s") + "  routes:\n    - [rank 0, s, rank 0]\n",
      {"bad.yaml:8", "nothing twice"});
  bad(link("bandwidth: 1 GB/s") + "    - {from: rank 0, to: port, bandwidth: 1 GB/s}\n",
      {"bad.yaml:3", "from rank 1 to a port and back"});
  bad(link("bandwidth: 1 GB/s") +
          "    - {from: rank, to: port, bandwidth: 1 GB/s, one_way: true}\n",
      {"bad.yaml:3", "from rank 0 to a port and back"});
  bad(head +
          "node:\n  ranks: 2\n  links:\n    - {from: rank, to: rank, bandwidth: 1 GB/s, back: "
          "{bandwidth: 2 GB/s}}\n",
      {"bad.yaml:5", "alike both ways"});
  bad(head + "node:\n  ranks: 1\n  switches: [s, s]\n", {"bad.yaml:4", "two of the name 's'"});
  const auto in_network = [&](const std::string& rest) {
    return link("bandwidth: 1 GB/s") + "  in_network: {" + rest + "}\n";
  };
  bad(in_network("switch: t"), {"bad.yaml:3", "in_network", "no switch 't'"});
  bad(in_network("switch: rank 0"), {"bad.yaml:3", "in_network", "no switch 'rank 0'"});
  bad(in_network("efficiency: 0.5"), {"bad.yaml:7", "no key 'switch'"});
  bad(in_network("switch: s, efficiency: 2"), {"bad.yaml:7", "efficiency", "no more than 1"});
  bad(in_network("switch: s, efficiency: 0"), {"bad.yaml:7", "efficiency", "not above 0"});
  bad(in_network("switch: s, tile_bytes: -1 B"), {"bad.yaml:7", "tile_bytes", "below 0"});
  bad(in_network("switch: s, latency: 1"), {"bad.yaml:7", "latency", "no unit"});
  bad(head +
          "node:\n  ranks: 3\n  switches: [s]\n  links:\n    - {from: rank, to: s, bandwidth: 1 "
          "GB/s}\n    - {from: rank 1, to: rank 2, bandwidth: 1 GB/s}\n  in_network: {switch: s}\n",
      {"bad.yaml:3", "from rank 1 to rank 2 doesn't pass s"});
  bad(head +
          "node:\n  ranks: 2\n  switches: [{name: s, bandwidth: 1 GB/s}]\n  links:\n    - {from: "
          "rank, to: s, bandwidth: 1 GB/s}\n  in_network: {switch: s}\n",
      {"bad.yaml:3", "switch 's' sums", "only its links"});
  bad(head + "node: {ranks: 1}\nnetwork: {kind: cloud}\n",
      {"bad.yaml:3", "cloud", "there are: switch"});
  bad(head + "node: {ranks: 1}\ncosts: {lunch: 1 us}\n", {"bad.yaml:3", "lunch", "launch"});
  bad(head + "node: {ranks: 1}\ncosts: {launch: 1 GB}\n", {"bad.yaml:3", "launch", "a time"});
  bad(head + "node: {ranks: 1}\nprotocols: {tcp: {}}\n", {"bad.yaml:3", "tcp", "simple"});
  bad(head + "node: &a {ranks: 1, switches: [*a]}\n", {"bad.yaml"});
  bad(head + "node: {ranks: 1}\ncosts: {slots: 2.5}\n", {"bad.yaml:3", "slots", "whole"});
  bad(std::string(100'000, '['), {"bad.yaml:1", "nested"});
  bad(std::string(2 << 20, 'a'), {"bad.yaml", "2097152 bytes"});
}

}  // namespace
}  // namespace vranks
