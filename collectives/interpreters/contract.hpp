// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What each output chunk of a collective must hold, whatever the algorithm.
#pragma once

#include <cstdint>
#include <functional>

#include "collectives/interpreters/finding.hpp"
#include "collectives/interpreters/interpret.hpp"
#include "collectives/schedule.hpp"

namespace vranks {

// Input chunk `chunk` of the ranks [first, last), each exactly once.
struct Contributions {
  std::int32_t first = 0, last = 0;
  std::int32_t chunk = 0;

  bool operator==(const Contributions&) const = default;
  bool holds(std::int32_t rank) const { return rank >= first && rank < last; }
};

// What output chunk `index` of that rank must hold. Precondition: shape.has_output(rank).
Contributions contract(const ScheduleShape& shape, std::int32_t rank, std::int32_t index);

// Where an output chunk was written last: lane (id) and step, -1 where there is none.
struct LastWrite {
  std::int32_t lane = -1, step = -1;
};

// Compares every output chunk with the contract. `last_write` is asked about chunks that differ.
void check_contract(const ScheduleShape& shape, const Folds& folds,
                    const std::function<LastWrite(const ChunkRef&)>& last_write,
                    Findings& findings);

}  // namespace vranks
