// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How the memory of a call's input and output overlap.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/operand.hpp"
#include "collectives/problem.hpp"

namespace vranks {

enum class Aliasing : std::uint8_t {
  apart,        // or the output is written after all has been read
  same_places,  // in place: an output element lies where the inputs of the same column lie
  moved,        // in place, but the input has to be copied first
};

// `problem` is that of a group; `group_sizes` are how many slices of the operands, which come group
// after group, belong to each. Throws bad_argument, naming slices and distances, for an overlap
// that is no in-place call.
Aliasing aliasing_of(const Problem& problem, std::span<const std::int64_t> group_sizes,
                     const Operand& in, const Operand& out);

}  // namespace vranks
