// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Machines for tests, made by hand: their times are known by formula.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "simulator/topology.hpp"

namespace vranks {

class TestTopology : public Topology {
 public:
  TestTopology(std::int32_t ranks, std::vector<Link> links)
      : ranks_(ranks), links_(std::move(links)) {}

  const std::string& name() const override { return name_; }
  std::int32_t ranks() const override { return ranks_; }
  std::span<const Link> links() const override { return links_; }
  std::int32_t node(std::int32_t rank) const override { return rank; }

 private:
  std::string name_ = "test";
  std::int32_t ranks_;
  std::vector<Link> links_;
};

// Every rank has one link up to a switch and one down; each has half of the latency.
class SwitchTopology : public TestTopology {
 public:
  SwitchTopology(std::int32_t ranks, double bandwidth, double latency)
      : TestTopology(ranks, std::vector<Link>(static_cast<std::size_t>(2 * ranks),
                                              {"port", bandwidth, latency / 2})) {}
  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& route) const override {
    route.push_back(2 * from);
    route.push_back(2 * to + 1);
  }
};

// A link from every rank to the next one and back; messages take the shorter way.
class RingTopology : public TestTopology {
 public:
  RingTopology(std::int32_t ranks, double bandwidth, double latency)
      : TestTopology(ranks, std::vector<Link>(static_cast<std::size_t>(2 * ranks),
                                              {"link", bandwidth, latency})) {}
  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& route) const override {
    const std::int32_t up = (to - from + ranks()) % ranks();
    if (up <= ranks() - up)
      for (std::int32_t r = from; r != to; r = (r + 1) % ranks()) route.push_back(2 * r);
    else
      for (std::int32_t r = from; r != to; r = (r + ranks() - 1) % ranks())
        route.push_back(2 * r + 1);
  }
};

}  // namespace vranks
