// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/placed_program.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "simulator/spread_lanes.hpp"

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
                                  double efficiency) {
  std::int32_t nodes = 1;
  for (std::int32_t r = 0; r < topology.ranks(); ++r) nodes = std::max(nodes, topology.node(r) + 1);
  const double footprint = 2.0 * static_cast<double>(program.vector_bytes()) *
                           static_cast<double>(program.program().shape().ranks) / nodes;
  std::vector<double> capacities;
  capacities.reserve(topology.links().size());
  for (const Link& link : topology.links()) {
    const double share = missed_share(link.cache, footprint);
    capacities.push_back(share > 0 ? link.bandwidth * efficiency / share
                                   : std::numeric_limits<double>::max());
  }
  return capacities;
}

// Switches sum all that goes to one rank into one message, and copy one to all ranks that get it.
// One lane of each such message stands for it: that of the next rank.
bool stands_for_message(const Lane& lane, std::int32_t ranks) {
  return is_summed(lane) ? lane.rank == (lane.send_to + 1) % ranks
                         : lane.send_to == (lane.rank + 1) % ranks;
}

// The bytes of each rank pass its own links to the switch and back: the lane that stands for a
// message has these on its route as well.
void add_in_network_route(const Lane& lane, const Topology& topology,
                          std::vector<std::int32_t>& route) {
  const std::int32_t own = is_summed(lane) ? lane.send_to : lane.rank;
  if (stands_for_message(lane, topology.ranks())) {
    topology.route_up(own, route);
    topology.route_down(own, route);
  }
  if (is_summed(lane))
    topology.route_up(lane.rank, route);
  else
    topology.route_down(lane.send_to, route);
}

}  // namespace

PlacedProgram::PlacedProgram(const SizedProgram& program, const Topology& topology,
                             const MessageCosts& costs, const SimulationOptions& options)
    : capacities(capacities_of(
          program, topology,
          costs.link_efficiency * (options.is_in_network ? topology.in_network()->efficiency : 1))),
      // Switches do the work of ranks.
      missed_work(
          options.is_in_network
              ? 0
              : missed_share(costs.cache_bytes, static_cast<double>(program.vector_bytes()))) {
  const Program& lanes = program.program();
  const bool is_in_network = options.is_in_network;
  const double latency =
      costs.message_latency + (is_in_network ? topology.in_network()->latency : 0);
  std::vector<std::int32_t> route;  // from rank to rank
  for (const Lane& lane : lanes.lanes()) {
    route.clear();
    latencies.push_back(latency);
    overheads.push_back(costs.message_overhead > 0 && lane.send_to != no_rank &&
                        (!is_in_network || stands_for_message(lane, topology.ranks())));
    if (lane.send_to != no_rank) {
      topology.route(lane.rank, lane.send_to, route);
      for (const std::int32_t link : route)
        latencies.back() += topology.links()[static_cast<std::size_t>(link)].latency;
      if (is_in_network)
        add_in_network_route(lane, topology, route_links);
      else
        for (const std::int32_t link : route)
          route_links.push_back(options.link_orbits == nullptr
                                    ? link
                                    : options.link_orbits->leader[static_cast<std::size_t>(link)]);
    }
    route_ends.push_back(route_links.size());
  }
  if (options.link_orbits != nullptr)
    for (std::size_t l = 0; l < capacities.size(); ++l)
      capacities[l] *= static_cast<double>(options.link_orbits->size[l]) /
                       static_cast<double>(lanes.symmetry()->copies());
  if (costs.exchange_limit > 0) back = lanes_back(lanes);

  double start = costs.launch;
  if (reduces(lanes.shape().collective))
    start += missed_work *
             seconds_for(static_cast<double>(program.vector_bytes()), costs.input_copy_bandwidth);
  for (std::int32_t rank = 0; rank < lanes.shape().ranks; ++rank) {
    const auto temporary = is_in_network ? 0 : static_cast<double>(program.temporary_bytes(rank));
    starts.push_back(start + (temporary > costs.alloc_limit
                                  ? seconds_for(temporary, costs.alloc_bandwidth)
                                  : 0));
  }
  floor = costs.floor * static_cast<double>(ranks_on_first_node(topology));
}

}  // namespace vranks
