// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "collectives/algorithm.hpp"
#include "collectives/interpreters/lower.hpp"
#include "collectives/plan.hpp"
#include "simulator/simulate.hpp"

namespace vranks {

// The problem of `elements` elements of a rank.
inline Problem problem_of(Collective collective, std::int64_t ranks, std::int64_t elements) {
  Problem problem;
  problem.collective = collective;
  problem.ranks = ranks;
  problem.elements = elements;
  return problem;
}

// That algorithm, as it is built, of elements of `element_bytes` bytes.
inline Timeline timed(const Problem& problem, const std::string& algorithm,
                      const Topology& topology, const MessageCosts& costs = {},
                      const Parameters& parameters = {}, std::int64_t element_bytes = 4,
                      const SimulationOptions& options = {}) {
  const Selection selection =
      select(find_algorithm(algorithm, problem.collective), problem, parameters);
  const Schedule schedule = build_schedule(problem, selection);
  const Program program = lower(schedule);
  const Layout layout = make_layout(problem, schedule, selection);
  return simulate(SizedProgram(program, layout, element_bytes), topology, costs, options);
}

}  // namespace vranks
