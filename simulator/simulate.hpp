// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The clock: runs a program on a machine and says when everything happens. docs/model.md has the
// rules and their limits.
#pragma once

#include "simulator/costs.hpp"
#include "simulator/link_orbits.hpp"
#include "simulator/sized_program.hpp"
#include "simulator/timeline.hpp"
#include "simulator/topology.hpp"

namespace vranks {

struct SimulationOptions {
  bool keep_events = false;  // about 64 bytes a piece
  // Switches sum and copy, as Algorithm::is_in_network says; the program went through
  // separate_sums(), and the topology has in_network().
  bool is_in_network = false;
  // An instruction waits for the whole of another one, never piece by piece:
  // Algorithm::takes_turns.
  bool takes_turns = false;
  // Of a program that has a symmetry; without events and in-network sums.
  const LinkOrbits* link_orbits = nullptr;
};

// Times the program on that machine. Nothing is random: equal arguments give equal bits. Throws
// bad_argument if the machine has fewer ranks than the program, and, naming rank, lane and step,
// for a program that blocks.
Timeline simulate(const SizedProgram& program, const Topology& topology, const MessageCosts& costs,
                  const SimulationOptions& options = {});

}  // namespace vranks
