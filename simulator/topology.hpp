// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine of a simulation: links that messages share, and which of them lie between two ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/parameters.hpp"
#include "simulator/costs.hpp"

namespace vranks {

// One direction of a cable, or something else that bytes pass and share: a bus, a switch's
// backplane, the memory of a host.
struct Link {
  std::string name;      // "node 1: gpu 3 -> switch"
  double bandwidth = 0;  // bytes a second
  double latency = 0;    // seconds that it delays a byte
  // Of a host's memory: bytes that its caches hold. Of more, only the share that they miss passes
  // it. 0: everything does.
  double cache = 0;
};

// The software of a machine: costs in general, and of each protocol.
struct SoftwareCosts {
  MessageCosts costs;  // where a protocol has none of its own
  std::array<std::optional<MessageCosts>, 3> protocols = {};  // by Protocol

  const MessageCosts& of(Protocol protocol) const {
    const auto& own = protocols[static_cast<std::size_t>(protocol)];
    return own ? *own : costs;
  }
};

// What a node's switch does to data on its way (NVLink SHARP): sums what ranks send up, and copies
// what goes down. Bytes that are summed or copied pass each link once.
struct InNetwork {
  std::string name;       // of the switch
  double efficiency = 1;  // share of the links' bandwidth that is left for such bytes
  double latency = 0;     // seconds more, of each sum and of each copy
  double tile_bytes = 0;  // in place of the cost of that name, if it isn't 0
};

// A machine with a number of ranks on it.
class Topology {
 public:
  virtual ~Topology() = default;

  virtual const std::string& name() const = 0;
  virtual std::int32_t ranks() const = 0;
  virtual std::span<const Link> links() const = 0;
  // The node on which a rank is, counted from 0.
  virtual std::int32_t node(std::int32_t rank) const = 0;
  // Puts the numbers of the links that a message passes from one rank to another one into `route`,
  // in their order; of no link twice. No link: the ranks share one place.
  virtual void route(std::int32_t from, std::int32_t to,
                     std::vector<std::int32_t>& route) const = 0;
  // What the switches of its nodes do to data; null: nothing.
  virtual const InNetwork* in_network() const { return nullptr; }
  // Put the links from a rank up to that switch, and from it down to the rank, into `route`.
  // Precondition: in_network().
  virtual void route_up(std::int32_t, std::vector<std::int32_t>&) const {}
  virtual void route_down(std::int32_t, std::vector<std::int32_t>&) const {}
};

// No node has more.
inline std::int32_t ranks_on_first_node(const Topology& topology) {
  std::int32_t ranks = 0;
  while (ranks < topology.ranks() && topology.node(ranks) == 0) ++ranks;
  return ranks;
}

// A machine as its file describes it, for any number of ranks that it can hold.
class Machine {
 public:
  virtual ~Machine() = default;

  virtual const std::string& name() const = 0;   // "nvswitch_a100"
  virtual const std::string& title() const = 0;  // "8 x A100-SXM4-40GB a node, NVSwitch, ..."
  // What its numbers were fitted to. Empty: nobody fitted them.
  virtual const std::string& calibration() const = 0;
  virtual const SoftwareCosts& software() const = 0;

  // With `ranks` ranks on its first nodes, `ranks_per_node` on each (0: as many as a node holds).
  // Throws bad_argument, naming the numbers, if it can't hold them.
  virtual std::shared_ptr<const Topology> place(std::int32_t ranks,
                                                std::int32_t ranks_per_node = 0) const = 0;
};

}  // namespace vranks
