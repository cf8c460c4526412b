// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/link_orbits.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "collectives/symmetry.hpp"

namespace vranks {

namespace {

class Orbits {
 public:
  explicit Orbits(std::size_t links) : parents_(links) {
    std::iota(parents_.begin(), parents_.end(), 0);
  }
  std::int32_t leader(std::int32_t link) {
    while (parent(link) != link) link = parent(link) = parent(parent(link));
    return link;
  }
  void unite(std::int32_t a, std::int32_t b) {
    a = leader(a);
    b = leader(b);
    parent(std::max(a, b)) = std::min(a, b);
  }

 private:
  std::int32_t& parent(std::int32_t link) { return parents_[static_cast<std::size_t>(link)]; }
  std::vector<std::int32_t> parents_;
};

// A number that stands for a flow, so that sums of them stand for sets of flows (splitmix64).
std::uint64_t mark_of(std::uint64_t flow) {
  flow += 0x9e3779b97f4a7c15U;
  flow = (flow ^ (flow >> 30)) * 0xbf58476d1ce4e5b9U;
  flow = (flow ^ (flow >> 27)) * 0x94d049bb133111ebU;
  return flow ^ (flow >> 31);
}

bool are_alike(const Link& a, const Link& b) {
  return a.bandwidth == b.bandwidth && a.latency == b.latency && a.cache == b.cache;
}

}  // namespace

std::optional<LinkOrbits> find_link_orbits(const Program& program, const Topology& topology) {
  const Symmetry& symmetry = *program.symmetry();
  const std::span<const Link> links = topology.links();
  std::vector<std::pair<std::int32_t, std::int32_t>> flows;
  for (const Lane& lane : program.lanes())
    if (lane.send_to != no_rank) flows.emplace_back(lane.rank, lane.send_to);
  std::ranges::sort(flows);
  flows.erase(std::unique(flows.begin(), flows.end()), flows.end());

  Orbits orbits(links.size());
  std::vector<std::uint64_t> marks(links.size(), 0);  // of the flows that pass each link
  std::vector<std::int32_t> first, route;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const auto& [from, to] = flows[f];
    first.clear();
    topology.route(from, to, first);
    for (std::int32_t number = 0; number < symmetry.ranks; number += symmetry.step) {
      route.clear();
      topology.route(symmetry.rank(from, number), symmetry.rank(to, number), route);
      if (route.size() != first.size()) return {};
      for (std::size_t i = 0; i < route.size(); ++i) {
        const auto a = static_cast<std::size_t>(first[i]), b = static_cast<std::size_t>(route[i]);
        if (!are_alike(links[a], links[b])) return {};
        orbits.unite(first[i], route[i]);
        marks[b] += mark_of(f);
      }
    }
  }

  LinkOrbits found{std::vector<std::int32_t>(links.size()),
                   std::vector<std::int32_t>(links.size(), 0)};
  for (std::size_t l = 0; l < links.size(); ++l) {
    const std::int32_t leader = orbits.leader(static_cast<std::int32_t>(l));
    if (marks[l] != marks[static_cast<std::size_t>(leader)]) return {};
    found.leader[l] = leader;
    ++found.size[static_cast<std::size_t>(leader)];
  }
  for (std::size_t l = 0; l < links.size(); ++l)
    found.size[l] = found.size[static_cast<std::size_t>(found.leader[l])];
  return found;
}

}  // namespace vranks
