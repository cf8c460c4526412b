// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// NCCL's tree all-reduce. Each of K channels has its own tree and its own part of the vector; every
// rank adds its children's values to its own, in their order, and the root's value goes down. On
// one node the tree is a chain; over several nodes it is one of two binary trees that run through
// the chain of every node. R = 4 on one node, one channel; a column is a step, 1+ a sum that was
// made by rank 1 with its own value on the left, * the sum of all:
//
//   step     1     2         3             4  5  6
//   rank 0   .     .         0+(1+(2+3))   .  .  .
//   rank 1   .     1+(2+3)   .             *  .  .
//   rank 2   2+3   .         .             .  *  .
//   rank 3   .     .         .             .  .  *
//
// Steps 2(R - 1) on one node, about 3 log2 R with one rank a node; bytes a rank 2n, or 3n.
// NCCL 2.30.7, src/device/all_reduce.h (runTreeUpDown), src/graph/trees.cc and connect.cc; verified
// against the results of the real library. After P. Sanders, J. Speck and J. L. Traff, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009.
#include <algorithm>

#include "collectives/algorithm.hpp"
#include "collectives/nccl/arithmetic.hpp"
#include "collectives/nccl/constants.hpp"
#include "collectives/nccl/trees.hpp"

namespace vranks::algorithms_of {

namespace {

using Steps = std::vector<std::vector<Transfer>>;

void add(Steps& steps, std::size_t step, const Transfer& transfer) {
  if (steps.size() <= step) steps.resize(step + 1);
  steps[step].push_back(transfer);
}

// Adds channel k's transfers, each in the first step that it can be in.
void add_tree(Steps& steps, const nccl::Tree& tree, std::int32_t k) {
  const std::vector<std::int32_t> order = nccl::top_down(tree);
  // ready[r]: the step from which on rank r's value (on the way up), then the result, can be read.
  std::vector<std::size_t> ready(tree.size(), 0);
  const auto value = [&](std::int32_t rank) {
    return tree[static_cast<std::size_t>(rank)].empty() ? input(rank, k) : output(rank, k);
  };
  for (auto rank = order.rbegin(); rank != order.rend(); ++rank) {
    std::size_t& own_ready = ready[static_cast<std::size_t>(*rank)];
    ChunkRef own = input(*rank, k);
    for (const std::int32_t child : tree[static_cast<std::size_t>(*rank)]) {
      const std::size_t step = std::max(own_ready, ready[static_cast<std::size_t>(child)]);
      add(steps, step, reduce(output(*rank, k), own, value(child)));
      own = output(*rank, k);
      own_ready = step + 1;
    }
  }
  for (const std::int32_t rank : order)
    for (const std::int32_t child : tree[static_cast<std::size_t>(rank)]) {
      const std::size_t step = ready[static_cast<std::size_t>(rank)];
      add(steps, step, copy(output(child, k), output(rank, k)));
      ready[static_cast<std::size_t>(child)] = step + 1;
    }
}

Schedule build(const Problem& problem, const Parameters& parameters) {
  nccl::constants_of(parameters.nccl_version);  // refuses versions it doesn't know
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const std::vector<nccl::Tree> trees = nccl::trees_of(problem.ranks, parameters);
  ScheduleBuilder builder({problem.collective, ranks, 0, parameters.channels, 0});
  Steps steps;
  for (std::size_t k = 0; k < trees.size(); ++k)
    add_tree(steps, trees[k], static_cast<std::int32_t>(k));
  if (ranks == 1)
    steps = {{copy(output(0, 0, parameters.channels), input(0, 0, parameters.channels))}};
  for (const auto& step : steps) {
    for (const Transfer& transfer : step) builder.add(transfer);
    builder.end_step();
  }
  return std::move(builder).build();
}

}  // namespace

Algorithm nccl_tree() {
  return {.name = "nccl_tree",
          .aliases = "",
          .collectives = "all_reduce",
          .order = "each rank adds its children to its own; one node: x0 + (x1 + (x2 + ...))",
          .costs = {{"all_reduce", "at most 2(R-1)", "at most 3n"}},
          .source = "NCCL 2.30.7, src/device/all_reduce.h and src/graph/trees.cc",
          .parameters = "protocol channels trees nccl-version ranks-per-node",
          .build = build,
          .layout = nccl_tree_layout,
          .arithmetic = nccl::defaults,
          .refine = nccl::refine};
}

}  // namespace vranks::algorithms_of
