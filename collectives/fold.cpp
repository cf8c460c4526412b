// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/fold.hpp"

#include <fmt/format.h>

#include "ranks/error.hpp"

namespace vranks {

FoldGraph::FoldGraph(std::int32_t ranks, std::int32_t chunks)
    : leaves_(ranks * chunks), chunks_(chunks), table_(1024, no_fold) {}

namespace {

std::size_t hash(FoldId left, std::uint64_t right_and_own) {
  std::uint64_t h = (static_cast<std::uint64_t>(left) << 34) ^ right_and_own;
  h *= 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

}  // namespace

FoldId FoldGraph::combine(FoldId left, FoldId right, Own own) {
  const std::uint64_t packed =
      (static_cast<std::uint64_t>(right) << 2) | static_cast<unsigned>(own);
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash(left, packed) & mask;
  for (; table_[at] != no_fold; at = (at + 1) & mask) {
    const Node& node = nodes_[static_cast<std::size_t>(table_[at] - leaves_)];
    if (node.left == left && node.right_and_own == packed) return table_[at];
  }
  if (size() >= INT32_MAX)
    throw Error(ErrorKind::not_supported, "the schedule computes more than 2^31 different values");
  const auto id = static_cast<FoldId>(size());
  nodes_.push_back({left, packed});
  table_[at] = id;
  if (nodes_.size() * 2 > table_.size()) grow();
  return id;
}

void FoldGraph::grow() {
  table_.assign(table_.size() * 2, no_fold);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    std::size_t at = hash(nodes_[n].left, nodes_[n].right_and_own) & mask;
    while (table_[at] != no_fold) at = (at + 1) & mask;
    table_[at] = leaves_ + static_cast<FoldId>(n);
  }
}

std::size_t FoldGraph::memory_bytes() const {
  return nodes_.capacity() * sizeof(Node) + table_.capacity() * sizeof(FoldId);
}

std::string to_string(const FoldGraph& graph, FoldId fold, std::size_t most) {
  if (fold == no_fold) return "nothing";
  std::string text;
  // What is still to be written, last first: a fold, or a piece of text.
  struct Item {
    FoldId fold;
    const char* text;
    bool parentheses;
  };
  std::vector<Item> todo{{fold, nullptr, false}};
  while (!todo.empty()) {
    const Item item = todo.back();
    todo.pop_back();
    if (text.size() > most) return text + " ...";
    if (item.text != nullptr) {
      text += item.text;
    } else if (graph.is_leaf(item.fold)) {
      text += fmt::format("x{}", graph.leaf_rank(item.fold));
    } else {
      if (item.parentheses) {
        text += "(";
        todo.push_back({no_fold, ")", false});
      }
      todo.push_back({graph.right(item.fold), nullptr, true});
      todo.push_back({no_fold, " + ", false});
      todo.push_back({graph.left(item.fold), nullptr, true});
    }
  }
  return text;
}

}  // namespace vranks
