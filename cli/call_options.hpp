// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that say what a call is about beside its op and data: root, groups, counts,
// permutation, factor and weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "collectives/collectives.hpp"

namespace vranks::cli {

using Permutation = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Numbers for each rank, or for each pair of ranks.
struct CountTable {
  Counts numbers = {};
  std::vector<std::size_t> row_lengths = {};  // of a matrix
  bool is_matrix() const { return !row_lengths.empty(); }
};

// What was given; nothing where an option wasn't.
struct CallDetails {
  std::optional<std::int64_t> root = {};
  std::optional<std::int64_t> ranks = {};
  std::optional<Groups> groups = {};
  std::optional<std::vector<MeshAxis>> mesh = {};
  std::optional<std::string> axis = {};
  std::optional<CountTable> counts = {}, send_counts = {}, receive_counts = {};
  std::optional<CountTable> send_displacements = {}, receive_displacements = {};
  bool ragged = false;
  std::optional<Permutation> permutation = {};
  std::optional<double> factor = {};
  std::optional<std::vector<double>> weights = {};
};

OptionsDescription call_options(CallDetails& details);

// The op of that collective unless one is given: a prefix has no mean.
ReduceOp op_of(Collective collective, std::optional<ReduceOp> given);

// Throws bad_argument if an op was given and the collective combines nothing.
void check_op(Collective collective, std::optional<ReduceOp> given);

// Throws bad_argument for options that contradict each other, or that the collective or its op
// doesn't read.
void check_details(const CallDetails& details, Collective collective, ReduceOp op);

// Says in `options` what was given, for a call on that many ranks. Throws bad_argument if a mesh
// has another number of them.
void add_details(const CallDetails& details, std::int64_t ranks, CollectiveOptions& options);

// Adds --ranks, --root, --groups, --mesh and --axis.
void add_member_options(OptionsDescription& options, CallDetails& details);
// Adds --factor and --weights.
void add_operand_options(OptionsDescription& options, CallDetails& details);
// Adds --root.
void add_root_option(OptionsDescription& options, std::optional<std::int64_t>& root);
// The root of that collective, 0 unless said. Throws bad_argument if one was given and the
// collective has none.
std::int64_t root_of(Collective collective, std::optional<std::int64_t> given);
// Adds --counts.
void add_counts_option(OptionsDescription& options, std::optional<CountTable>& counts);
// Adds --permutation.
void add_permutation_option(OptionsDescription& options, std::optional<Permutation>& permutation);

}  // namespace vranks::cli
