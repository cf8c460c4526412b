// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives over trees of ranks, pipelined in pieces: partial results climb to the top of a tree,
// one message a rank, and come down in mirrored order. Several trees share the pieces.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "collectives/schedule.hpp"

namespace vranks::algorithms_of {

// What each rank combines with its own input, and in which order.
struct Tree {
  struct Child {
    std::int32_t rank;
    bool is_left;  // operand
  };
  std::int32_t top = 0;                      // the rank that gets the result
  std::vector<std::vector<Child>> children;  // of each rank, in the order of its combines
};

// The balanced tree over ranks in rank order: split at the largest power of two below the length.
// The sum of a subtree is made at `root` where it is inside, else at the subtree's first rank; so
// the order is the same for every root.
inline Tree balanced_tree(std::int32_t ranks, std::int32_t root) {
  Tree tree{.top = root,
            .children = std::vector<std::vector<Tree::Child>>(static_cast<std::size_t>(ranks))};
  // Where the sum of ranks [begin, end) is.
  const auto grow = [&](const auto& self, std::int32_t begin, std::int32_t end) -> std::int32_t {
    if (end - begin == 1) return begin;
    const auto length = static_cast<std::uint32_t>(end - begin);
    const auto middle = begin + static_cast<std::int32_t>(std::bit_floor(length - 1));
    const std::int32_t left = self(self, begin, middle), right = self(self, middle, end);
    const bool at_right = root >= middle && root < end;
    const std::int32_t place = at_right ? right : left;
    tree.children[static_cast<std::size_t>(place)].push_back({at_right ? left : right, at_right});
    return place;
  };
  grow(grow, 0, ranks);
  return tree;
}

// The binary tree whose in-order walk is rank 0, 1, 2, ...; a rank's sum is (left + own) + right.
// The top of m ranks is the one numbered bit_floor(m) - 1, so that the left subtree is full, and
// every even position is a leaf. `rank_at` names the rank at a position, `is_mirrored` says
// whether positions go down the ranks: the left operand is the subtree of lower ranks.
template <class RankAt>
Tree in_order_tree(std::int32_t ranks, RankAt&& rank_at, bool is_mirrored) {
  Tree tree{.children = std::vector<std::vector<Tree::Child>>(static_cast<std::size_t>(ranks))};
  const auto grow = [&](const auto& self, std::int32_t begin, std::int32_t end) -> std::int32_t {
    const auto length = static_cast<std::uint32_t>(end - begin);
    const auto top = begin + static_cast<std::int32_t>(std::bit_floor(length)) - 1;
    auto& children = tree.children[static_cast<std::size_t>(rank_at(top))];
    if (begin < top) children.push_back({self(self, begin, top), !is_mirrored});
    if (top + 1 < end) children.push_back({self(self, top + 1, end), is_mirrored});
    if (is_mirrored) std::ranges::reverse(children);
    return rank_at(top);
  };
  tree.top = grow(grow, 0, ranks);
  return tree;
}

// One message up a tree: `parent` combines what `child` has.
struct TreeCombine {
  std::int32_t parent, child;
  bool is_left;   // the child's value is the left operand
  bool is_first;  // the parent's own value is still its input
  bool is_leaf;   // the child's value is its input
  std::int32_t step;
};

// All of them, each as early as it can be, ordered by step and parent.
inline std::vector<TreeCombine> combines_of(const Tree& tree) {
  const auto children_of = [&](std::int32_t r) -> const std::vector<Tree::Child>& {
    return tree.children[static_cast<std::size_t>(r)];
  };
  std::vector<std::int32_t> ranks{tree.top};  // parents before their children
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (const Tree::Child& child : children_of(ranks[i])) ranks.push_back(child.rank);
  std::vector<std::int32_t> ready(tree.children.size(), 0);
  std::vector<TreeCombine> combines;
  for (std::size_t i = ranks.size(); i-- > 0;) {
    std::int32_t& own = ready[static_cast<std::size_t>(ranks[i])];
    for (const Tree::Child& child : children_of(ranks[i])) {
      const std::int32_t step = std::max(own, ready[static_cast<std::size_t>(child.rank)]);
      combines.push_back({ranks[i], child.rank, child.is_left, &child == &children_of(ranks[i])[0],
                          children_of(child.rank).empty(), step});
      own = step + 1;
    }
  }
  std::ranges::stable_sort(combines, {},
                           [](const TreeCombine& c) { return std::pair(c.step, c.parent); });
  return combines;
}

// Transfers that are found in another order than that of their steps.
class StepTable {
 public:
  void add(std::int32_t step, const Transfer& transfer) {
    const auto s = static_cast<std::size_t>(step);
    if (s >= steps_.size()) steps_.resize(s + 1);
    steps_[s].push_back(transfer);
  }
  Schedule schedule(const ScheduleShape& shape) const {
    ScheduleBuilder builder(shape);
    add_to(builder);
    return std::move(builder).build();
  }
  void add_to(ScheduleBuilder& builder) const {
    for (const auto& step : steps_) {
      for (const Transfer& transfer : step) builder.add(transfer);
      builder.end_step();
    }
  }

 private:
  std::vector<std::vector<Transfer>> steps_;
};

// Writes the transfers of one tree.
class TreeWriter {
 public:
  TreeWriter(const ScheduleShape& shape, const Tree& tree, StepTable& steps)
      : shape_(shape), tree_(tree), combines_(combines_of(tree)), steps_(steps) {
    if (!combines_.empty()) depth_ = combines_.back().step + 1;
  }

  // Chunks [begin, begin + count), from step `start` on.
  void reduce_piece(std::int32_t start, std::int32_t begin, std::int32_t count) {
    const auto partial = [&](std::int32_t rank) {
      const bool in_output = shape_.collective != Collective::reduce_scatter &&
                             (shape_.collective != Collective::reduce || rank == shape_.root);
      return in_output ? output(rank, begin, count) : scratch(rank, begin, count);
    };
    for (const TreeCombine& c : combines_) {
      const ChunkRef own = c.is_first ? input(c.parent, begin, count) : partial(c.parent);
      const ChunkRef theirs = c.is_leaf ? input(c.child, begin, count) : partial(c.child);
      add(start + c.step, c.is_left ? reduce(partial(c.parent), theirs, own)
                                    : reduce(partial(c.parent), own, theirs));
    }
    const ChunkRef result = combines_.empty() ? input(0, begin, count) : partial(tree_.top);
    const std::int32_t done = start + depth_;
    switch (shape_.collective) {
      case Collective::all_reduce:
      case Collective::barrier:
        if (combines_.empty()) add(done, copy(output(0, begin, count), result));
        for (const TreeCombine& c : combines_)
          add(done + depth_ - 1 - c.step, copy(output(c.child, begin, count), partial(c.parent)));
        break;
      case Collective::reduce:
        if (result != output(shape_.root, begin, count))
          add(done, copy(output(shape_.root, begin, count), result));
        break;
      case Collective::reduce_scatter:
        for (std::int32_t d = begin; d < begin + count; ++d)
          add(done, copy(output(d, 0), {result.rank, d, 1, result.slot}));
        break;
      default:  // no other collective is reduced to its top
        break;
    }
  }

  // Blocks [begin, begin + count): up to the top, then to everyone who lacks them.
  void gather_blocks(std::int32_t begin, std::int32_t count) {
    std::vector<std::vector<Blocks>> held(static_cast<std::size_t>(shape_.ranks));
    for (std::int32_t r = begin; r < begin + count; ++r) {
      held[static_cast<std::size_t>(r)] = {{r, r + 1}};
      add(0, copy(output(r, r), input(r, 0)));
    }
    for (const TreeCombine& c : combines_) {
      const std::vector<Blocks>& from = held[static_cast<std::size_t>(c.child)];
      std::vector<Blocks>& to = held[static_cast<std::size_t>(c.parent)];
      for (const Blocks& blocks : from)
        add(c.step,
            copy(part(c.parent, blocks), c.is_leaf ? input(c.child, 0) : part(c.child, blocks)));
      to.insert(to.end(), from.begin(), from.end());
      join(to);
    }
    for (const TreeCombine& c : combines_) {
      std::int32_t at = begin;
      const auto add_gap = [&](std::int32_t end) {
        if (at < end)
          add(2 * depth_ - 1 - c.step, copy(part(c.child, {at, end}), part(c.parent, {at, end})));
      };
      for (const Blocks& blocks : held[static_cast<std::size_t>(c.child)]) {
        add_gap(blocks.begin);
        at = blocks.end;
      }
      add_gap(begin + count);
    }
  }

 private:
  struct Blocks {
    std::int32_t begin, end;
  };
  static ChunkRef part(std::int32_t rank, const Blocks& blocks) {
    return output(rank, blocks.begin, blocks.end - blocks.begin);
  }
  static void join(std::vector<Blocks>& all) {
    std::ranges::sort(all, {}, &Blocks::begin);
    std::vector<Blocks> joined;
    for (const Blocks& blocks : all) {
      if (!joined.empty() && joined.back().end == blocks.begin)
        joined.back().end = blocks.end;
      else
        joined.push_back(blocks);
    }
    all = std::move(joined);
  }
  void add(std::int32_t step, const Transfer& transfer) { steps_.add(step, transfer); }

  const ScheduleShape& shape_;
  const Tree& tree_;
  std::vector<TreeCombine> combines_;
  std::int32_t depth_ = 0;
  StepTable& steps_;
};

// The collective over those trees, the pieces dealt out to them evenly. Pieces follow each other at
// a distance of one step. Pieces of a reduce-scatter are whole blocks; an all-gather isn't cut
// further.
inline Schedule tree_schedule(const Problem& problem, std::span<const Tree> trees,
                              std::int32_t pieces) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const auto count = static_cast<std::int32_t>(trees.size());
  const bool gathers = problem.collective == Collective::all_gather;
  const bool blocks = gathers || problem.collective == Collective::reduce_scatter;
  const bool all =
      problem.collective == Collective::all_reduce || problem.collective == Collective::barrier;
  if (blocks) pieces = std::min(gathers ? count : pieces, ranks);
  const std::int32_t chunks = blocks ? ranks : pieces;
  const ScheduleShape shape{.collective = problem.collective,
                            .ranks = ranks,
                            .root = static_cast<std::int32_t>(problem.root),
                            .chunks = chunks,
                            .scratch_chunks = all || gathers ? 0 : chunks};
  // The first of `total` that belongs to part i of `parts`.
  const auto cut = [](std::int64_t total, std::int32_t i, std::int32_t parts) {
    return static_cast<std::int32_t>((total * i + parts - 1) / parts);
  };
  StepTable steps;
  for (std::int32_t t = 0; t < count; ++t) {
    TreeWriter writer(shape, trees[static_cast<std::size_t>(t)], steps);
    const std::int32_t first = cut(pieces, t, count), end = cut(pieces, t + 1, count);
    for (std::int32_t p = first; p < end; ++p) {
      const std::int32_t begin = cut(chunks, p, pieces);
      const std::int32_t length = cut(chunks, p + 1, pieces) - begin;
      if (gathers)
        writer.gather_blocks(begin, length);
      else
        writer.reduce_piece(p - first, begin, length);
    }
  }
  return steps.schedule(shape);
}

// The collective over the balanced tree, in one piece.
inline Schedule balanced_tree_schedule(const Problem& problem) {
  const bool rooted = problem.collective == Collective::reduce;
  const Tree tree = balanced_tree(static_cast<std::int32_t>(problem.ranks),
                                  rooted ? static_cast<std::int32_t>(problem.root) : 0);
  return tree_schedule(problem, std::span(&tree, 1), 1);
}

}  // namespace vranks::algorithms_of
