// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Random expressions over rows, such as op(op(x3, x0), x2): their value, and code for them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/fold_program.hpp"
#include "rules_cases.hpp"

namespace vranks {

// A leaf, or op(left, right). own: the operand (1: left, 2: right) is a leaf that the combining
// rank holds.
struct Node {
  std::int32_t row = 0;
  int left = -1, right = -1;
  int own = 0;
  int stack = 1;  // values that its code holds at a time
  bool is_leaf() const { return left < 0; }
};

enum class TreeShape { linear, balanced, random };

class Expression {
 public:
  // Over these rows, in this order. own_percent: how often a leaf is the combining rank's.
  Expression(std::span<const std::int32_t> rows, TreeShape shape, int own_percent, Random& random)
      : own_percent_(own_percent) {
    root_ = build(rows, shape, random);
  }

  std::vector<FoldStep> code(Random& random) const {
    std::vector<FoldStep> steps;
    emit(root_, steps, random);
    return steps;
  }
  int stack() const { return nodes_[index(root_)].stack; }
  bool is_copy() const { return nodes_[index(root_)].is_leaf(); }
  std::int32_t first_row() const { return nodes_[index(root_)].row; }

  // The value of one column; x(row): its element.
  template <class Rules, class X>
  auto value(const Rules& rules, const X& x, bool fuse) const {
    return value_of(root_, rules, x, fuse);
  }

 private:
  static std::size_t index(int node) { return static_cast<std::size_t>(node); }

  int add(const Node& node) {
    nodes_.push_back(node);
    return static_cast<int>(nodes_.size()) - 1;
  }

  int build(std::span<const std::int32_t> rows, TreeShape shape, Random& random) {
    if (rows.size() == 1) return add({.row = rows[0]});
    std::size_t left = 1;
    if (shape == TreeShape::balanced)
      while (2 * left < rows.size()) left *= 2;
    else if (shape == TreeShape::linear)
      left = chance(random, 80) ? rows.size() - 1 : 1;
    else
      left += index(static_cast<int>(below(random, static_cast<std::int64_t>(rows.size()) - 1)));
    const int a = build(rows.first(left), shape, random);
    const int b = build(rows.subspan(left), shape, random);
    return combine(a, b, random);
  }

  int combine(int a, int b, Random& random) {
    const Node &left = nodes_[index(a)], &right = nodes_[index(b)];
    Node node{.left = a, .right = b};
    if (right.is_leaf() && chance(random, own_percent_))
      node.own = 2;
    else if (left.is_leaf() && chance(random, own_percent_))
      node.own = 1;
    if (left.is_leaf() || right.is_leaf())
      node.stack = std::max(left.stack, right.stack);
    else
      node.stack = left.stack == right.stack ? left.stack + 1 : std::max(left.stack, right.stack);
    return add(node);
  }

  void emit(int id, std::vector<FoldStep>& steps, Random& random) const {
    const Node& node = nodes_[index(id)];
    if (node.is_leaf()) {
      steps.push_back({.row = node.row, .action = FoldAction::load});
      return;
    }
    const Node &left = nodes_[index(node.left)], &right = nodes_[index(node.right)];
    const bool leaf_is_right = right.is_leaf() && (!left.is_leaf() || node.own == 2 ||
                                                   (node.own == 0 && chance(random, 50)));
    if (leaf_is_right) {
      emit(node.left, steps, random);
      steps.push_back({.row = right.row, .action = FoldAction::leaf_right, .own = node.own == 2});
    } else if (left.is_leaf()) {
      emit(node.right, steps, random);
      steps.push_back({.row = left.row, .action = FoldAction::leaf_left, .own = node.own == 1});
    } else {
      const bool left_first =
          left.stack == right.stack ? chance(random, 50) : left.stack > right.stack;
      emit(left_first ? node.left : node.right, steps, random);
      emit(left_first ? node.right : node.left, steps, random);
      steps.push_back({.action = left_first ? FoldAction::merge : FoldAction::merge_swap});
    }
  }

  template <class Rules, class X>
  typename Rules::Value value_of(int id, const Rules& rules, const X& x, bool fuse) const {
    const Node& node = nodes_[index(id)];
    if (node.is_leaf()) return rules.lift(x(node.row), node.row);
    if (node.own == 1)
      return rules.combine_own(x(nodes_[index(node.left)].row), nodes_[index(node.left)].row,
                               value_of(node.right, rules, x, fuse), true, fuse);
    if (node.own == 2)
      return rules.combine_own(x(nodes_[index(node.right)].row), nodes_[index(node.right)].row,
                               value_of(node.left, rules, x, fuse), false, fuse);
    return rules.combine(value_of(node.left, rules, x, fuse), value_of(node.right, rules, x, fuse));
  }

  std::vector<Node> nodes_;
  int root_ = 0;
  int own_percent_;
};

inline Expression random_expression(std::int32_t rows, Random& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  if (chance(random, 70)) std::ranges::shuffle(order, random);
  if (chance(random, 10)) order.resize(1 + order.size() / 3);
  const auto shape = static_cast<TreeShape>(below(random, 3));
  return {order, shape, std::array{0, 50, 100}[random() % 3], random};
}

}  // namespace vranks
