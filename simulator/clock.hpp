// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The time that a call takes on a machine, from its algorithm's name on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "collectives/algorithm.hpp"
#include "simulator/simulate.hpp"

namespace vranks {

// What is timed besides the problem.
struct TimedCall {
  Selection selection;                   // as select() gives it
  Protocol protocol = Protocol::simple;  // whose costs count
  SimulationOptions options = {};
  std::int32_t channels = 0, instances = 1;  // see spread_lanes()
};

class Clock {
 public:
  // `ranks` ranks on a machine, as Machine::place(); throws as that does.
  Clock(std::shared_ptr<const Machine> machine, std::int32_t ranks,
        std::int32_t ranks_per_node = 0);

  const Machine& machine() const { return *machine_; }
  const Topology& topology() const { return *topology_; }
  // The costs that count for a protocol; software() changes them.
  const MessageCosts& costs(Protocol protocol) const { return software_.of(protocol); }
  // Of NCCL's communicator.
  std::int32_t channels(Protocol protocol) const {
    return std::max(1, static_cast<std::int32_t>(costs(protocol).channels));
  }
  SoftwareCosts& software() { return software_; }

  // The program that the call runs as; kept, with a few others, for further sizes. Throws as
  // Algorithm::build, and not_supported if it has more than most_transfers.
  const Program& program(const Problem& problem, const TimedCall& call);
  Layout layout(const Problem& problem, const TimedCall& call);
  // Throws as program() and simulate(). Precondition: the problem has the ranks of the clock.
  Timeline time(const Problem& problem, const TimedCall& call);

  // Longer programs are refused; they take about 100 bytes a transfer.
  std::int64_t most_transfers = 40'000'000;

 private:
  // Throws not_supported unless the switches of the machine can do what the algorithm needs.
  void check_in_network(const Algorithm& algorithm) const;
  Timeline time_run(const Problem& problem, const TimedCall& call);
  std::optional<Timeline> time_of_channels(const Problem& problem, const TimedCall& call);
  Timeline time_with(const Problem& problem, const TimedCall& call, const MessageCosts& costs);

  struct Kept {
    Problem problem;  // what its schedule depends on
    const Algorithm* algorithm;
    Parameters parameters;
    std::int32_t channels, instances;
    Program program;
  };

  std::shared_ptr<const Machine> machine_;
  std::shared_ptr<const Topology> topology_;
  SoftwareCosts software_;
  std::list<Kept> kept_;  // latest use first
};

}  // namespace vranks
