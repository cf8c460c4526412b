// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes as in ompi/mca/coll/base/coll_base_topo.c, the reduction as in
// ompi_coll_base_reduce_generic (coll_base_reduce.c) of Open MPI 4.1.4.
#include "collectives/openmpi/trees.hpp"

#include <algorithm>
#include <bit>

namespace vranks::openmpi {

namespace {

// children(s, add) calls add(child) for each child of s in the tree of root 0.
template <class F>
Tree shifted(std::int32_t ranks, std::int32_t root, F&& children) {
  Tree tree{root, std::vector<Children>(static_cast<std::size_t>(ranks))};
  for (std::int32_t s = 0; s < ranks; ++s) {
    Children& mine = tree.children[static_cast<std::size_t>((s + root) % ranks)];
    children(s, [&](std::int32_t child) { mine.push_back((child + root) % ranks); });
  }
  return tree;
}

// The block [low, low + length) hangs at its last rank.
void add_in_order(std::vector<Children>& children, std::int32_t low, std::int32_t length) {
  while (length > 1) {
    Children& mine = children[static_cast<std::size_t>(low + length - 1)];
    const std::int32_t half = length / 2;
    mine.push_back(low + length - 2);
    if (length >= 3) {
      mine.push_back(low + half - 1);
      add_in_order(children, low, half);
    }
    low += half;
    length -= half + 1;
  }
}

}  // namespace

Tree chain_tree(std::int32_t ranks, std::int32_t root, std::int32_t fanout) {
  if (ranks == 1) return {root, {{}}};
  const std::int32_t columns = std::clamp(fanout, 1, ranks - 1);
  const std::int32_t shorter = (ranks - 1) / columns, longer = (ranks - 1) % columns;
  // The first rank of column c; of c = columns one behind the last rank.
  const auto head = [=](std::int32_t c) { return 1 + c * shorter + std::min(c, longer); };
  return shifted(ranks, root, [&](std::int32_t s, auto&& add) {
    if (s == 0) {
      for (std::int32_t c = 0; c < columns; ++c) add(head(c));
      return;
    }
    const std::int32_t in_longer = longer * (shorter + 1);
    const std::int32_t c =
        s - 1 < in_longer ? (s - 1) / (shorter + 1) : longer + (s - 1 - in_longer) / shorter;
    if (s + 1 < head(c + 1)) add(s + 1);
  });
}

Tree binary_tree(std::int32_t ranks, std::int32_t root) {
  return shifted(ranks, root, [&](std::int32_t s, auto&& add) {
    const auto level = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(s + 1)));
    for (const std::int32_t child : {s + level, s + 2 * level})
      if (child < ranks) add(child);
  });
}

Tree binomial_tree(std::int32_t ranks, std::int32_t root) {
  return shifted(ranks, root, [&](std::int32_t s, auto&& add) {
    for (std::int32_t mask = 1; mask < ranks && (s & mask) == 0; mask *= 2)
      if (s + mask < ranks) add(s + mask);
  });
}

Tree in_order_binary_tree(std::int32_t ranks) {
  Tree tree{ranks - 1, std::vector<Children>(static_cast<std::size_t>(ranks))};
  add_in_order(tree.children, 0, ranks);
  return tree;
}

void add_tree_reduce(ScheduleBuilder& builder, const Tree& tree, const ChunkRef& result) {
  std::vector<std::int32_t> order{tree.root};  // parents before children
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const std::int32_t child : tree.children[static_cast<std::size_t>(order[i])])
      order.push_back(child);
  const auto value = [&](std::int32_t rank) {
    if (tree.children[static_cast<std::size_t>(rank)].empty()) return input(rank, 0);
    return rank == tree.root ? result : scratch(rank, 0);
  };
  std::vector<std::size_t> ready(order.size(), 0);  // steps until a rank has its result
  std::vector<std::vector<Transfer>> steps;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::int32_t rank = order[i];
    std::size_t& step = ready[static_cast<std::size_t>(rank)];
    const Children& children = tree.children[static_cast<std::size_t>(rank)];
    for (const std::int32_t child : children) {
      step = std::max(step, ready[static_cast<std::size_t>(child)]);
      if (steps.size() <= step) steps.resize(step + 1);
      steps[step].push_back(child == children.front()
                                ? reduce(value(rank), value(child), input(rank, 0))
                                : reduce(value(rank), value(rank), value(child)));
      ++step;
    }
  }
  for (const auto& step : steps) {
    for (const Transfer& transfer : step) builder.add(transfer);
    builder.end_step();
  }
  if (order.size() == 1) {
    builder.add(copy(result, input(tree.root, 0)));
    builder.end_step();
  }
}

Schedule tree_reduce(const Problem& problem, const Tree& tree) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const auto root = static_cast<std::int32_t>(problem.root);
  ScheduleBuilder builder({Collective::reduce, ranks, root, 1, ranks > 1 ? 1 : 0});
  if (tree.root == root) {
    add_tree_reduce(builder, tree, output(root, 0));
  } else {
    add_tree_reduce(builder, tree, scratch(tree.root, 0));
    builder.add(copy(output(root, 0), scratch(tree.root, 0)));
    builder.end_step();
  }
  return std::move(builder).build();
}

void add_binomial_broadcast(ScheduleBuilder& builder, std::int32_t ranks, std::int32_t chunks) {
  for (std::int32_t have = 1; have < ranks; have *= 2) {
    for (std::int32_t r = have; r < std::min(2 * have, ranks); ++r)
      builder.add(copy(output(r, 0, chunks), output(r - have, 0, chunks)));
    builder.end_step();
  }
}

}  // namespace vranks::openmpi
