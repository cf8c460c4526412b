// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The rings and trees of a communicator's channels: as given, checked; otherwise those that NCCL
// made in all measured communicators. Other machines can have others: NCCL's log tells, in lines
// such as `Channel 00/02 : 0 1 2 3` and `Trees [0] 1/-1/-1->0->-1` (children, rank, parent).
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/parameters.hpp"

namespace vranks::nccl {

// Ranks in ring order; rank 0 is at position 0.
using Ring = std::vector<std::int32_t>;
// Each rank's children, in the order in which they are added. The root is nobody's child.
using Tree = std::vector<Children>;

// One ring a channel: parameters.rings, each turned so that it starts at rank 0, or the ranks in
// order. Throws bad_argument for a list that is no ring over all ranks.
std::vector<Ring> rings_of(std::int64_t ranks, const Parameters& parameters);

// One tree a channel: parameters.trees, or those that follow from parameters.ranks_per_node. Throws
// bad_argument for a list that is no tree over all ranks.
std::vector<Tree> trees_of(std::int64_t ranks, const Parameters& parameters);

// The chain 0 -> 1 -> ... of ranks on one node; 0 is the root.
Tree chain(std::int32_t ranks);

// The first (0) or second (1) of the two binary trees over nodes, which runs through the chain of
// `per_node` ranks of every node. Precondition: at least two nodes.
Tree double_tree(std::int32_t nodes, std::int32_t per_node, int which);

// All ranks of a tree, parents before children, from the root on; fewer if not all hang together.
std::vector<std::int32_t> top_down(const Tree& tree);

}  // namespace vranks::nccl
