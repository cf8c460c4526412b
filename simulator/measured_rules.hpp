// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How the words of published timings translate: tables, of which the first row that fits counts.
// In a pattern * stands for any characters; an empty pattern fits the empty text only.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "ranks/dtype.hpp"

namespace vranks::measured {

// A machine.
struct MachineRule {
  std::string_view text;      // pattern of the column `machine`
  std::string_view topology;  // its name; empty: there is none, because of `reason`
  std::string_view reason = {};
};

// An algorithm.
struct AlgorithmRule {
  std::string_view topologies;   // patterns, separated by spaces
  std::string_view collectives;  // names, separated by spaces; * for all
  std::string_view text;         // pattern of the column `algo`
  // Of the registry, separated by spaces; the fastest counts. One that reads a protocol stands for
  // itself with each protocol, unless the row names one.
  std::string_view algorithms;
  std::int32_t chunks = 0;        // as in Parameters
  std::string_view source = "*";  // pattern of the column `source`
};

// Rows that don't show what they are labelled, or nothing that a simulation could.
struct Exclusion {
  std::string_view topologies;         // patterns, separated by spaces
  std::string_view collectives = "*";  // names, separated by spaces; * for all
  std::string_view text = "*";         // patterns of the column `algo`, with | between them
  std::string_view source = "*";       // pattern of the column `source`
  std::int64_t bytes_from = 0, bytes_below = std::numeric_limits<std::int64_t>::max();
  std::int32_t ranks_from = 0, ranks_to = std::numeric_limits<std::int32_t>::max();
  std::int32_t nodes_from = 0, nodes_to = std::numeric_limits<std::int32_t>::max();
  std::string_view reason = {};
};

// A dtype, of which `text` in the column `source` tells.
struct DtypeRule {
  std::string_view text;  // pattern
  DType dtype;
};

// A table whose sizes are that many times what was sent.
struct SizeRule {
  std::string_view topologies;  // patterns, separated by spaces
  std::int64_t times;
};

std::span<const MachineRule> machine_rules();
std::span<const AlgorithmRule> algorithm_rules();
std::span<const Exclusion> exclusions();
std::span<const DtypeRule> dtype_rules();
std::span<const SizeRule> size_rules();

// Whether `text` fits the pattern.
bool fits(std::string_view pattern, std::string_view text);
// Whether it fits one of several patterns, which have `between` between them.
bool fits_any(std::string_view patterns, std::string_view text, char between = ' ');

}  // namespace vranks::measured
