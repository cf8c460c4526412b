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
#include <utility>

#include "collectives/algorithm.hpp"
#include "simulator/simulate.hpp"

namespace vranks {

// What is timed besides the problem.
struct TimedCall {
  Selection selection;                   // as select() gives it
  Protocol protocol = Protocol::simple;  // whose costs count
  SimulationOptions options = {};
  std::int32_t channels = 0, instances = 1;  // see spread_lanes()
  bool folds = true;  // of ranks that do alike one may be run for all; events are of those run
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

  // The program of all ranks that the call stands for; kept, with a few others, for further sizes.
  // Throws as Algorithm::build, and not_supported if it has more than most_transfers.
  const Program& program(const Problem& problem, const TimedCall& call);
  Layout layout(const Problem& problem, const TimedCall& call);
  // Throws as program() and simulate(). Precondition: the problem has the ranks of the clock.
  Timeline time(const Problem& problem, const TimedCall& call);

  // Longer programs are refused; they take about 100 bytes a transfer.
  std::int64_t most_transfers = 40'000'000;
  // Of schedules of that many transfers symmetries are looked for.
  std::int64_t least_folded = 1 << 16;

 private:
  struct Kept {
    Problem problem;  // what its schedule depends on
    const Algorithm* algorithm;
    Parameters parameters;
    std::int32_t channels, instances;
    bool folds;  // as far as can be; otherwise of all ranks
    Program program;
    std::optional<LinkOrbits> orbits;  // of a symmetry's leaders

    bool fits(const Problem& shape, const TimedCall& call, bool wants_fold) const;
  };

  // Throws not_supported unless the switches of the machine can do what the algorithm needs.
  void check_in_network(const Algorithm& algorithm) const;
  bool can_fold(const Problem& problem, const TimedCall& call) const;
  const Kept& keep(const Problem& problem, const TimedCall& call);
  std::pair<Program, std::optional<LinkOrbits>> lowered(const Schedule& schedule,
                                                        const Algorithm& algorithm,
                                                        bool folds) const;
  Timeline time_run(const Problem& problem, const TimedCall& call);
  std::optional<Timeline> time_of_channels(const Problem& problem, const TimedCall& call);
  Timeline time_with(const Problem& problem, const TimedCall& call, const MessageCosts& costs);

  std::shared_ptr<const Machine> machine_;
  std::shared_ptr<const Topology> topology_;
  SoftwareCosts software_;
  std::list<Kept> kept_;  // latest use first
};

}  // namespace vranks
