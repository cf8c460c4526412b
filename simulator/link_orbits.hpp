// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Links that ranks which do alike use alike.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/program.hpp"
#include "simulator/topology.hpp"

namespace vranks {

// By link: one that stands for it, and the number of those that this one stands for.
struct LinkOrbits {
  std::vector<std::int32_t> leader;
  std::vector<std::int32_t> size;  // of the orbit
};

// Nothing if the topology isn't as symmetric as the program: if routes of ranks that do alike have
// links that differ, or that others use in another way. Precondition: the program has a symmetry.
std::optional<LinkOrbits> find_link_orbits(const Program& program, const Topology& topology);

}  // namespace vranks
