// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Copying collectives over a tree of ranks with the root on top: a broadcast in pieces; blocks that
// are gathered on the way up, or scattered on the way down, the mirror of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/algorithms/shapes.hpp"
#include "collectives/algorithms/trees.hpp"

namespace vranks::algorithms_of {

// Pieces follow each other at a distance of one step.
inline Schedule tree_broadcast(const Problem& problem, const Tree& tree, std::int32_t pieces) {
  ScheduleShape shape = shape_of(problem);
  shape.chunks = pieces;
  const std::int32_t root = shape.root;
  const std::vector<TreeCombine> combines = combines_of(tree);
  StepTable steps;
  steps.add(0, copy(output(root, 0, pieces), input(root, 0, pieces)));
  for (std::int32_t p = 0; p < pieces; ++p)
    for (const TreeCombine& c : combines)
      steps.add(p + combines.back().step - c.step,
                copy(output(c.child, p), c.parent == root ? input(root, p) : output(c.parent, p)));
  return steps.schedule(shape);
}

// What goes between a rank and its parent: the blocks of the ranks below, itself included.
struct SubtreeMessage {
  std::int32_t parent, child;
  std::int32_t begin, count;  // blocks
  std::int32_t step;          // on the way up
  bool is_first;              // that the parent gets
};

// All of them, in the order of their steps. Precondition: what is below a rank are neighbours, as
// in a balanced_tree.
inline std::vector<SubtreeMessage> subtree_messages(const Tree& tree) {
  std::vector<std::pair<std::int32_t, std::int32_t>> below;  // first rank, behind the last
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(tree.children.size()); ++r)
    below.emplace_back(r, r + 1);
  std::vector<SubtreeMessage> messages;
  for (const TreeCombine& c : combines_of(tree)) {
    const auto [begin, end] = below[static_cast<std::size_t>(c.child)];
    auto& all = below[static_cast<std::size_t>(c.parent)];
    all = {std::min(all.first, begin), std::max(all.second, end)};
    messages.push_back({c.parent, c.child, begin, end - begin, c.step, c.is_first});
  }
  return messages;
}

// Ranks on the way collect blocks in scratch.
inline Schedule tree_gather(const Problem& problem, const Tree& tree) {
  const ScheduleShape shape = shape_of(problem, static_cast<std::int32_t>(problem.ranks));
  const std::int32_t root = shape.root;
  const auto place = [&](std::int32_t rank, std::int32_t begin, std::int32_t count) {
    return rank == root ? output(rank, begin, count) : scratch(rank, begin, count);
  };
  StepTable steps;
  steps.add(0, copy(output(root, root), input(root, 0)));
  for (const SubtreeMessage& m : subtree_messages(tree)) {
    if (m.is_first && m.parent != root)
      steps.add(0, copy(scratch(m.parent, m.parent), input(m.parent, 0)));
    steps.add(m.step, copy(place(m.parent, m.begin, m.count),
                           m.count == 1 ? input(m.child, 0) : place(m.child, m.begin, m.count)));
  }
  return steps.schedule(shape);
}

// Every rank gets the blocks of all ranks below it from its parent. place(rank, begin, count) says
// where they are. Gives the number of steps.
template <class Place>
std::int32_t add_scatter(StepTable& steps, const Tree& tree, Place&& place) {
  const std::vector<SubtreeMessage> messages = subtree_messages(tree);
  if (messages.empty()) return 0;
  const std::int32_t last = messages.back().step;
  for (const SubtreeMessage& m : messages)
    steps.add(last - m.step,
              copy(place(m.child, m.begin, m.count), place(m.parent, m.begin, m.count)));
  return last + 1;
}

// Blocks for other ranks pass through scratch; who is last on the way gets its block straight into
// the output.
inline Schedule tree_scatter(const Problem& problem, const Tree& tree) {
  const ScheduleShape shape = shape_of(problem, static_cast<std::int32_t>(problem.ranks));
  const std::int32_t root = shape.root;
  StepTable steps;
  steps.add(0, copy(output(root, 0), input(root, root)));
  const std::int32_t count_of_steps =
      add_scatter(steps, tree, [&](std::int32_t rank, std::int32_t begin, std::int32_t count) {
        if (rank == root) return input(rank, begin, count);
        if (count == 1 && begin == rank) return output(rank, 0);
        return scratch(rank, begin, count);
      });
  for (const SubtreeMessage& m : subtree_messages(tree))
    if (m.count > 1)  // one step behind its message
      steps.add(count_of_steps - m.step, copy(output(m.child, 0), scratch(m.child, m.child)));
  return steps.schedule(shape);
}

}  // namespace vranks::algorithms_of
