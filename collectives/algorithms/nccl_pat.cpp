// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// NCCL's PAT ("parallel aggregated trees"): block d is summed along a binomial tree over the
// distance t = (d - rank) mod R. The children of t are t + 2^k for all 2^k below its lowest set
// bit; they are added in the order k = 1, 2, ..., and k = 0 last. Reduce-scatter over R = 4; a row
// is a rank, a column a block, 1+2 the sum of ranks 1 and 2, * the sum of all:
//
//   step 1                     step 2                                           step 3
//   .     .     3+0   .        (1+2)+0   .         3+0       .                  *   .   .   .
//   .     .     .     0+1      .         (2+3)+1   .         0+1                .   *   .   .
//   1+2   .     .     .        1+2       .         (3+0)+2   .                  .   .   *   .
//   .     2+3   .     .        .         2+3       .         (0+1)+3            .   .   .   *
//
// An all-gather goes the same way back: copies only. NCCL offers PAT with protocol Simple where
// every rank is its own node, which is taken for granted here. The bits depend on neither channels
// nor chunks. A mean is not offered.
// Steps ceil(log2 R) + floor(log2 R) - 1 (an all-gather first copies each rank's own block); bytes
// a rank n(R - 1)/R. NCCL 2.30.7, src/device/reduce_scatter.h and all_gather.h; the order was
// verified against the results of the real library for R up to 8.
#include <fmt/format.h>

#include <algorithm>

#include "collectives/algorithm.hpp"
#include "collectives/nccl/arithmetic.hpp"
#include "collectives/nccl/constants.hpp"
#include "collectives/nccl/trees.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

namespace {

// The binomial tree over distances; children in the order in which they are added.
nccl::Tree distance_tree(std::int32_t ranks) {
  nccl::Tree tree(static_cast<std::size_t>(ranks));
  for (std::int32_t t = 0; t < ranks; ++t) {
    const std::int32_t lowest_bit = t == 0 ? ranks : t & -t;
    auto& children = tree[static_cast<std::size_t>(t)];
    for (std::int32_t step = 2; step < lowest_bit && t + step < ranks; step *= 2)
      children.push_back(t + step);
    if (lowest_bit > 1 && t + 1 < ranks) children.push_back(t + 1);
  }
  return tree;
}

// An edge of the tree, and whether the parent meets its own input there, as yet untouched.
struct Edge {
  std::int32_t parent = 0, child = 0;
  bool first = false;
};

// The edges by the step in which the child's value can be added, each as early as possible.
std::vector<std::vector<Edge>> edges_by_step(const nccl::Tree& tree) {
  std::vector<std::vector<Edge>> steps;
  std::vector<std::size_t> ready(tree.size(), 0);
  const std::vector<std::int32_t> order = nccl::top_down(tree);
  for (auto t = order.rbegin(); t != order.rend(); ++t) {
    bool first = true;
    std::size_t& own_ready = ready[static_cast<std::size_t>(*t)];
    for (const std::int32_t child : tree[static_cast<std::size_t>(*t)]) {
      const std::size_t step = std::max(own_ready, ready[static_cast<std::size_t>(child)]);
      if (steps.size() <= step) steps.resize(step + 1);
      steps[step].push_back({*t, child, first});
      first = false;
      own_ready = step + 1;
    }
  }
  return steps;
}

Schedule build(const Problem& problem, const Parameters& parameters) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const bool scatters = problem.collective == Collective::reduce_scatter;
  nccl::constants_of(parameters.nccl_version);
  ScheduleBuilder builder({problem.collective, ranks, 0, ranks, scatters ? ranks : 0});
  if (ranks == 1 || !scatters) {
    for (std::int32_t r = 0; r < ranks; ++r)
      builder.add(copy(output(r, scatters ? 0 : r), input(r, 0)));
    builder.end_step();
  }
  const nccl::Tree tree = distance_tree(ranks);
  auto steps = edges_by_step(tree);
  if (!scatters) std::ranges::reverse(steps);
  const auto is_leaf = [&](std::int32_t t) { return tree[static_cast<std::size_t>(t)].empty(); };
  for (const auto& step : steps) {
    for (const Edge& edge : step)
      for (std::int32_t d = 0; d < ranks; ++d) {
        const auto rank = [&](std::int32_t t) { return d >= t ? d - t : d - t + ranks; };
        const std::int32_t to = rank(edge.parent), from = rank(edge.child);
        if (!scatters) {
          builder.add(copy(output(from, d), output(to, d)));
          continue;
        }
        const ChunkRef dst = edge.parent == 0 ? output(to, 0) : scratch(to, d);
        builder.add(reduce(dst, is_leaf(edge.child) ? input(from, d) : scratch(from, d),
                           edge.first ? input(to, d) : dst));
      }
    builder.end_step();
  }
  return std::move(builder).build();
}

Selection select(const Problem& problem, const Parameters& parameters) {
  if (reduces(problem.collective) && problem.op == ReduceOp::mean)
    throw Error(ErrorKind::not_supported,
                fmt::format("NCCL offers no avg by PAT: {} with op mean needs nccl_ring",
                            name(problem.collective)));
  return {&find_algorithm("nccl_pat", problem.collective), parameters, ""};
}

}  // namespace

Algorithm nccl_pat() {
  return {.name = "nccl_pat",
          .aliases = "",
          .collectives = "reduce_scatter all_gather",
          .order = "block d, by distance t = d - rank: children t+2, t+4, ..., t+1 are added to t",
          .costs = {{"reduce_scatter", "log2 p+ceil(log2 R)-1", "n(R-1)/R"},
                    {"all_gather", "log2 p+ceil(log2 R)-1", "n(R-1)"}},
          .source = "NCCL 2.30.7, src/device/reduce_scatter.h",
          .parameters = "nccl-version",
          .build = build,
          .select = select,
          .arithmetic = nccl::defaults,
          .refine = nccl::refine};
}

}  // namespace vranks::algorithms_of
