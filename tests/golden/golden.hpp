// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What a real library answered: one record a collective call, with the hash of its result. See
// README.md for the text form.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "collectives/parameters.hpp"
#include "collectives/problem.hpp"
#include "tests/golden/golden_input.hpp"

namespace vranks::golden {

struct GoldenRecord {
  std::string algorithm;  // nccl_ring, nccl_tree or nccl_pat
  Parameters parameters;  // protocol, channels, and the lists of rings or trees
  Collective collective = Collective::all_reduce;
  std::int64_t ranks = 1;
  std::int64_t ranks_per_node = 1;
  std::int64_t elements = 0;  // of a rank's input
  std::string dtype, op;      // by name
  InputKind input = InputKind::values;
  std::uint64_t hash = 0;  // of the result: rank 0's, or all blocks of a reduce-scatter

  // Throws bad_argument for a dtype or op that has no such name.
  Problem problem() const;
  // For messages.
  std::string to_string() const;
};

// Throws Error(bad_input), naming the line, for text that is no list of records.
std::vector<GoldenRecord> read_golden(std::istream& text);

}  // namespace vranks::golden
