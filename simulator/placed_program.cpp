// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/placed_program.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

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

// The routes of lanes whose messages switches sum (all that go to one rank make one message) or
// copy (so do all that come from one). The bytes of each rank pass its own links to the switch and
// back: the first lane of a sum, or of a copy, has these on its route as well.
class InNetworkRoutes {
 public:
  InNetworkRoutes(const Program& program, const Topology& topology)
      : topology_(topology),
        has_sum_(static_cast<std::size_t>(program.shape().ranks), 0),
        has_copy_(has_sum_) {}

  void add(const Lane& lane, std::vector<std::int32_t>& route) {
    if (lane.channel == summed_channel) {
      topology_.route_up(lane.rank, route);
      if (is_first(has_sum_, lane.send_to)) {
        topology_.route_up(lane.send_to, route);
        topology_.route_down(lane.send_to, route);
      }
    } else {
      if (is_first(has_copy_, lane.rank)) {
        topology_.route_up(lane.rank, route);
        topology_.route_down(lane.rank, route);
      }
      topology_.route_down(lane.send_to, route);
    }
  }

 private:
  static bool is_first(std::vector<char>& has, std::int32_t rank) {
    return std::exchange(has[static_cast<std::size_t>(rank)], 1) == 0;
  }

  const Topology& topology_;
  std::vector<char> has_sum_, has_copy_;  // by the rank that gets, or sends, it
};

}  // namespace

PlacedProgram::PlacedProgram(const SizedProgram& program, const Topology& topology,
                             const MessageCosts& costs, bool is_in_network)
    : capacities(capacities_of(
          program, topology,
          costs.link_efficiency * (is_in_network ? topology.in_network()->efficiency : 1))),
      missed_work(missed_share(costs.cache_bytes, static_cast<double>(program.vector_bytes()))) {
  const Program& lanes = program.program();
  InNetworkRoutes in_network(lanes, topology);
  const double latency =
      costs.message_latency + (is_in_network ? topology.in_network()->latency : 0);
  std::vector<std::int32_t> route;  // from rank to rank
  for (const Lane& lane : lanes.lanes()) {
    route.clear();
    latencies.push_back(latency);
    if (lane.send_to != no_rank) {
      topology.route(lane.rank, lane.send_to, route);
      for (const std::int32_t link : route)
        latencies.back() += topology.links()[static_cast<std::size_t>(link)].latency;
      if (is_in_network)
        in_network.add(lane, route_links);
      else
        route_links.insert(route_links.end(), route.begin(), route.end());
    }
    route_ends.push_back(route_links.size());
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
