// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/nccl/trees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "ranks/error.hpp"

namespace vranks::nccl {

namespace {

constexpr std::int32_t most_channels = 64;
constexpr std::size_t most_children = 3;  // of a rank in a tree

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::bad_argument, fmt::format(format, std::forward<Args>(args)...));
}

void check_channels(const Parameters& parameters, std::size_t lists, const char* what) {
  if (parameters.channels < 1 || parameters.channels > most_channels)
    refuse("NCCL has 1 to {} channels, not {}", most_channels, parameters.channels);
  if (lists != 0 && lists != static_cast<std::size_t>(parameters.channels))
    refuse("{} {} for {} channels: every channel needs one", lists, what, parameters.channels);
}

void check_ring(const Ring& ring, std::int64_t ranks, std::size_t channel) {
  if (ring.size() != static_cast<std::size_t>(ranks))
    refuse("the ring of channel {} has {} ranks: it must hold each of {} once", channel,
           ring.size(), ranks);
  std::vector<bool> seen(ring.size(), false);
  for (const std::int32_t rank : ring) {
    if (rank < 0 || rank >= ranks)
      refuse("the ring of channel {} has rank {}, but there are ranks 0 to {}", channel, rank,
             ranks - 1);
    if (seen[static_cast<std::size_t>(rank)])
      refuse("the ring of channel {} has rank {} twice: it must hold each of {} once", channel,
             rank, ranks);
    seen[static_cast<std::size_t>(rank)] = true;
  }
}

void check_tree(const Tree& tree, std::int64_t ranks, std::size_t channel) {
  if (tree.size() != static_cast<std::size_t>(ranks))
    refuse("the tree of channel {} has the children of {} ranks, not of {}", channel, tree.size(),
           ranks);
  std::vector<std::int64_t> parent(tree.size(), -1);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const Children& children = tree[static_cast<std::size_t>(rank)];
    if (children.size() > most_children)
      refuse("rank {} has {} children in the tree of channel {}: NCCL's ranks have up to {}", rank,
             children.size(), channel, most_children);
    for (const std::int32_t child : children) {
      if (child < 0 || child >= ranks)
        refuse("rank {} has child {} in the tree of channel {}, but there are ranks 0 to {}", rank,
               child, channel, ranks - 1);
      std::int64_t& of_child = parent[static_cast<std::size_t>(child)];
      if (of_child >= 0)
        refuse(
            "rank {} is a child of {} and of {} in the tree of channel {}: it must have one parent",
            child, of_child, rank, channel);
      of_child = rank;
    }
  }
  const auto roots = std::ranges::count(parent, -1);
  if (roots != 1)
    refuse("the tree of channel {} has {} roots (ranks that are nobody's child): it must have one",
           channel, roots);
  std::vector<bool> reached(tree.size(), false);
  for (const std::int32_t rank : top_down(tree)) reached[static_cast<std::size_t>(rank)] = true;
  const auto lost = std::ranges::find(reached, false);
  if (lost != reached.end())
    refuse("the root doesn't reach rank {} in the tree of channel {}: it hangs in a cycle",
           lost - reached.begin(), channel);
}

// The two children of a role in the binary tree over `nodes` roles; -1: none.
struct Pair {
  std::int32_t first = -1, second = -1;
};

Pair children_of_role(std::int32_t role, std::int32_t nodes) {
  if (role == 0)
    return {.second =
                static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(nodes - 1)))};
  Pair children;
  const std::int32_t lowest_bit = role & -role;
  if (lowest_bit > 1) children.first = role - lowest_bit / 2;
  for (std::int32_t step = lowest_bit / 2; step > 0 && children.second < 0; step /= 2)
    if (role + step < nodes) children.second = role + step;
  return children;
}

}  // namespace

std::vector<Ring> rings_of(std::int64_t ranks, const Parameters& parameters) {
  check_channels(parameters, parameters.rings.size(), "rings");
  std::vector<Ring> rings = parameters.rings;
  for (std::size_t k = 0; k < rings.size(); ++k) {
    check_ring(rings[k], ranks, k);
    std::ranges::rotate(rings[k], std::ranges::find(rings[k], 0));
  }
  if (rings.empty()) {
    Ring in_order(static_cast<std::size_t>(ranks));
    std::iota(in_order.begin(), in_order.end(), 0);
    rings.assign(static_cast<std::size_t>(parameters.channels), in_order);
  }
  return rings;
}

std::vector<Tree> trees_of(std::int64_t ranks, const Parameters& parameters) {
  check_channels(parameters, parameters.trees.size(), "trees");
  const std::int64_t per_node = parameters.ranks_per_node;
  if (!parameters.trees.empty()) {
    if (per_node != 0)
      refuse("trees are given, so {} ranks per node can't decide them: give one of both", per_node);
    for (std::size_t k = 0; k < parameters.trees.size(); ++k)
      check_tree(parameters.trees[k], ranks, k);
    return parameters.trees;
  }
  if (per_node < 0 || (per_node > 0 && ranks % per_node != 0))
    refuse("{} ranks don't fill nodes of {}: NCCL's trees are known for full nodes", ranks,
           per_node);
  const auto channels = static_cast<std::size_t>(parameters.channels);
  if (per_node == 0 || per_node == ranks)
    return std::vector<Tree>(channels, chain(static_cast<std::int32_t>(ranks)));
  std::vector<Tree> trees;
  for (std::size_t k = 0; k < channels; ++k)
    trees.push_back(double_tree(static_cast<std::int32_t>(ranks / per_node),
                                static_cast<std::int32_t>(per_node),
                                k < (channels + 1) / 2 ? 0 : 1));
  return trees;
}

Tree chain(std::int32_t ranks) {
  Tree tree(static_cast<std::size_t>(ranks));
  for (std::int32_t r = 1; r < ranks; ++r) tree[static_cast<std::size_t>(r - 1)] = {r};
  return tree;
}

Tree double_tree(std::int32_t nodes, std::int32_t per_node, int which) {
  // The second tree has other leaves: roles are mirrored, or shifted by one.
  const auto node_of = [&](std::int32_t role) {
    if (which == 0) return role;
    return nodes % 2 == 0 ? nodes - 1 - role : (role + 1) % nodes;
  };
  Tree tree(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(per_node));
  for (std::int32_t role = 0; role < nodes; ++role) {
    const std::int32_t first = node_of(role) * per_node;
    for (std::int32_t i = first; i + 1 < first + per_node; ++i)
      tree[static_cast<std::size_t>(i)].push_back(i + 1);
    // The first child node sends to the second rank of the chain, if there is one, the second child
    // node to the first rank; both after the chain itself.
    const auto add = [&](std::int32_t to, std::int32_t child) {
      if (child >= 0) tree[static_cast<std::size_t>(to)].push_back(node_of(child) * per_node);
    };
    const Pair children = children_of_role(role, nodes);
    add(per_node == 1 ? first : first + 1, children.first);
    add(first, children.second);
  }
  return tree;
}

std::vector<std::int32_t> top_down(const Tree& tree) {
  std::vector<bool> is_child(tree.size(), false);
  for (const Children& children : tree)
    for (const std::int32_t child : children) is_child[static_cast<std::size_t>(child)] = true;
  std::vector<std::int32_t> order;
  const auto root = std::ranges::find(is_child, false);
  if (root == is_child.end()) return order;
  order.push_back(static_cast<std::int32_t>(root - is_child.begin()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Children& children = tree[static_cast<std::size_t>(order[i])];
    order.insert(order.end(), children.begin(), children.end());
  }
  return order;
}

}  // namespace vranks::nccl
