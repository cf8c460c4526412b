// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The trees along which Open MPI reduces to one rank and broadcasts from one.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/parameters.hpp"
#include "collectives/problem.hpp"
#include "collectives/schedule.hpp"

namespace vranks::openmpi {

struct Tree {
  std::int32_t root = 0;
  std::vector<Children> children;  // of each rank, in the order in which they are combined
};

// Except for the in-order tree all are those of root 0, with the root added to every rank.

// The other ranks cut into `fanout` (at least 1, at most ranks - 1) columns of neighbours, the
// first ones longer; the heads of the columns are the root's children. Fan-out 1 is a pipeline.
Tree chain_tree(std::int32_t ranks, std::int32_t root, std::int32_t fanout);
// Levels of 1, 2, 4 ... ranks; the children of s in a level of m are s + m and s + 2m.
Tree binary_tree(std::int32_t ranks, std::int32_t root);
// Children s + 1, s + 2, s + 4 ... as far as s has zeros at its end.
Tree binomial_tree(std::int32_t ranks, std::int32_t root);
// Always rooted at the last rank; every rank stands behind its two subtrees of neighbours.
Tree in_order_binary_tree(std::int32_t ranks);

// A reduction along a tree to its root: a rank combines its first child's result with its own
// input, then adds the other children's. One chunk: segments of it repeat the same transfers.
// `result` is where the root's lies; other inner ranks use scratch[0].
void add_tree_reduce(ScheduleBuilder& builder, const Tree& tree, const ChunkRef& result);

// Schedule of a reduce to problem.root along a tree. Where the tree has another root, that one
// sends its result on.
Schedule tree_reduce(const Problem& problem, const Tree& tree);

// Copies outputs [0, chunks) of rank 0 to all ranks, which pass it on in ceil(log2 R) steps.
void add_binomial_broadcast(ScheduleBuilder& builder, std::int32_t ranks, std::int32_t chunks);

}  // namespace vranks::openmpi
