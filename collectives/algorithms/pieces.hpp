// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How many pieces a pipelined algorithm cuts the vector into.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "collectives/parameters.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

// The parameter `chunks`, or `otherwise` if it is 0. Throws bad_argument below that.
inline std::int32_t pieces_of(const Parameters& parameters, std::int32_t otherwise) {
  if (parameters.chunks < 0)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("a pipeline needs at least one piece, but chunks is {}", parameters.chunks));
  return parameters.chunks == 0 ? otherwise : parameters.chunks;
}

}  // namespace vranks::algorithms_of
