// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program meets on a machine before anything has happened: the links of each lane, what they
// have left for data, and when each rank can start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/simulate.hpp"

namespace vranks {

struct PlacedProgram {
  // Preconditions: the topology has the ranks of the program; those of SimulationOptions.
  PlacedProgram(const SizedProgram& program, const Topology& topology, const MessageCosts& costs,
                const SimulationOptions& options);

  // Whether the rank's core is busy for message_overhead before the lane sends.
  bool has_overhead(std::int32_t lane) const { return overheads[static_cast<std::size_t>(lane)]; }

  // By lane that sends; of others there is nothing.
  std::vector<std::int32_t> route_links;  // of lane 0, of lane 1, ...
  std::vector<std::size_t> route_ends;    // behind the last link of each lane
  std::vector<double> latencies;          // of a message: its own and those of its links
  std::vector<std::int32_t> back;         // the lane that sends the other way; -1: none. Where
                                          // exchanges have a cost; empty elsewhere
  std::vector<char> overheads;            // see above
  // Bytes a second that each link has for data: of those that stand for others, for the leaders.
  std::vector<double> capacities;
  // Seconds until each rank starts: the call is launched, a reduction's input is copied, and
  // temporary memory is there.
  std::vector<double> starts;
  double floor = 0;        // what the host takes to start the ranks of a node
  double missed_work = 1;  // share of combined and copied bytes that no cache holds, nor a switch
                           // does
};

}  // namespace vranks
