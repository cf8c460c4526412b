// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The registry of algorithms: who combines what with whom, in which order.
#pragma once

#include <span>
#include <string_view>

#include "collectives/problem.hpp"

namespace vranks {

struct Algorithm {
  std::string_view name;
  std::string_view aliases;
  std::string_view collectives;  // names, separated by spaces
  std::string_view order;        // of the arithmetic, for seven ranks
  std::string_view source;       // paper and section, or library and version
};

// Every algorithm, in the order users should see them.
std::span<const Algorithm> algorithms();

// The algorithm called `text` for that collective. Throws bad_argument with what there is.
const Algorithm& find_algorithm(std::string_view text, Collective collective);

}  // namespace vranks
