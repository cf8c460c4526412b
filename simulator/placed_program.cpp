// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/placed_program.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>

namespace vranks {

namespace {

// Share of accesses that a cache of that size doesn't hold: none of a small footprint, half of one
// as large as the cache, all of a large one.
double missed_share(double cache, double footprint) {
  if (cache <= 0) return 1;
  if (footprint <= 0) return 0;
  return 1 / (1 + (cache / footprint) * (cache / footprint));
}

double seconds_for(double bytes, double bandwidth) { return bandwidth > 0 ? bytes / bandwidth : 0; }

// The lane of the same channel that sends from there to here, of every lane that sends.
std::vector<std::int32_t> lanes_back(const Program& program) {
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::int32_t> senders;
  std::vector<std::int32_t> back(program.lanes().size(), -1);
  for (std::size_t i = 0; i < back.size(); ++i) {
    const Lane& lane = program.lanes()[i];
    if (lane.send_to == no_rank) continue;
    senders[{lane.rank, lane.send_to, lane.channel}] = static_cast<std::int32_t>(i);
    const auto other = senders.find({lane.send_to, lane.rank, lane.channel});
    if (other == senders.end()) continue;
    back[i] = other->second;
    back[static_cast<std::size_t>(other->second)] = static_cast<std::int32_t>(i);
  }
  return back;
}

// A memory is passed by what the caches of its node don't hold of the inputs and outputs of the
// ranks there.
std::vector<double> capacities_of(const SizedProgram& program, const Topology& topology,
                                  const MessageCosts& costs) {
  std::int32_t nodes = 1;
  for (std::int32_t r = 0; r < topology.ranks(); ++r) nodes = std::max(nodes, topology.node(r) + 1);
  const double footprint = 2.0 * static_cast<double>(program.vector_bytes()) *
                           static_cast<double>(program.program().shape().ranks) / nodes;
  std::vector<double> capacities;
  capacities.reserve(topology.links().size());
  for (const Link& link : topology.links()) {
    const double share = missed_share(link.cache, footprint);
    capacities.push_back(share > 0 ? link.bandwidth * costs.link_efficiency / share
                                   : std::numeric_limits<double>::max());
  }
  return capacities;
}

}  // namespace

PlacedProgram::PlacedProgram(const SizedProgram& program, const Topology& topology,
                             const MessageCosts& costs)
    : capacities(capacities_of(program, topology, costs)),
      missed_work(missed_share(costs.cache_bytes, static_cast<double>(program.vector_bytes()))) {
  const Program& lanes = program.program();
  for (const Lane& lane : lanes.lanes()) {
    const std::size_t begin = route_links.size();
    if (lane.send_to != no_rank) topology.route(lane.rank, lane.send_to, route_links);
    route_ends.push_back(route_links.size());
    double latency = costs.message_latency;
    for (std::size_t h = begin; h < route_links.size(); ++h)
      latency += topology.links()[static_cast<std::size_t>(route_links[h])].latency;
    latencies.push_back(latency);
  }
  if (costs.exchange_limit > 0) back = lanes_back(lanes);

  double start = costs.launch;
  if (reduces(lanes.shape().collective))
    start += missed_work *
             seconds_for(static_cast<double>(program.vector_bytes()), costs.input_copy_bandwidth);
  for (std::int32_t rank = 0; rank < lanes.shape().ranks; ++rank) {
    const auto temporary = static_cast<double>(program.temporary_bytes(rank));
    starts.push_back(start + (temporary > costs.alloc_limit
                                  ? seconds_for(temporary, costs.alloc_bandwidth)
                                  : 0));
  }
  floor = costs.floor * static_cast<double>(ranks_on_first_node(topology));
}

}  // namespace vranks
