// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's ring, with the blocks cut into phases or not.
#pragma once

#include <cstdint>

#include "collectives/problem.hpp"
#include "collectives/schedule.hpp"

namespace vranks::openmpi {

// All-reduce, reduce-scatter or all-gather over R blocks of `phases` chunks. Phases are reduced one
// after the other, and handed around together.
Schedule ring(const Problem& problem, std::int32_t phases);

}  // namespace vranks::openmpi
