// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Which ranks each process holds, where those that mpirun started share them, and how that is said.
#pragma once

#include <cstdint>
#include <string>

#include "ranks/npy.hpp"

namespace vranks::cli {

// The ranks that a process holds: blocks in order, the first `ranks` mod `processes` of them one
// rank longer. Throws bad_argument if a process would hold none.
RankRange share_of(std::int64_t ranks, int processes, int process);

// "1 process", "4 processes".
std::string processes_text(std::int64_t processes);

// "4 processes, 2 with 2 ranks and 2 with 1". Throws as share_of.
std::string shares_text(std::int64_t ranks, int processes);

}  // namespace vranks::cli
