// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a schedule does what its collective means: a check of its own, by walking the folds of
// all output chunks. Also what tests loop over.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/interpreters/interpret.hpp"

namespace vranks {

inline std::vector<std::int64_t> ranks_to_test() {
  std::vector<std::int64_t> all;
  for (std::int64_t r = 1; r <= 17; ++r) all.push_back(r);
  all.insert(all.end(), {31, 32, 33, 64});
  return all;
}

inline std::vector<Collective> collectives_of(const Algorithm& algorithm) {
  std::vector<Collective> all;
  std::istringstream words{std::string(algorithm.collectives)};
  for (std::string word; words >> word;) all.push_back(parse_collective(word));
  return all;
}

// Not a library's: those may refuse some R.
inline bool is_textbook(const Algorithm& algorithm) {
  return !algorithm.name.starts_with("nccl_") && !algorithm.name.starts_with("ompi_");
}

// What is wrong with the value of an output chunk; empty if nothing. A whole chunk `wanted` must
// come exactly once from every rank, or of an all-gather from the one rank that has it.
inline std::string wrong_with(const FoldGraph& graph, FoldId fold, const ScheduleShape& shape,
                              std::int32_t wanted) {
  if (fold == no_fold) return "is never written";
  const bool gathers = shape.collective == Collective::all_gather;
  if (gathers && !graph.is_leaf(fold)) return "is a combination: " + to_string(graph, fold);
  std::vector<int> times(static_cast<std::size_t>(shape.ranks), 0);
  std::vector<FoldId> todo{fold};
  std::int32_t leaves = 0;
  while (!todo.empty()) {
    const FoldId id = todo.back();
    todo.pop_back();
    if (!graph.is_leaf(id)) {
      todo.push_back(graph.left(id));
      todo.push_back(graph.right(id));
      continue;
    }
    const std::int32_t rank = graph.leaf_rank(id);
    const std::int32_t chunk = shape.whole_chunk(rank, Slot::input, graph.leaf_chunk(id));
    if (chunk != wanted)
      return fmt::format("holds chunk {} of rank {}, not {}", chunk, rank, wanted);
    if (++times[static_cast<std::size_t>(rank)] > 1)
      return fmt::format("holds rank {} twice: {}", rank, to_string(graph, fold));
    ++leaves;
  }
  if (leaves != (gathers ? 1 : shape.ranks))
    return fmt::format("holds {} contributions: {}", leaves, to_string(graph, fold));
  return "";
}

// Expressions without the marks of own operands: equal bits where these decide nothing.
inline Folds without_own(const Folds& folds, const ScheduleShape& shape) {
  Folds plain{FoldGraph(shape.ranks, shape.slot_chunks(Slot::input)), folds.outputs};
  std::vector<FoldId> plain_of;  // of each fold; a combine comes behind its operands
  for (FoldId id = 0; id < folds.graph.size(); ++id) {
    const auto operand = [&](FoldId of) { return plain_of[static_cast<std::size_t>(of)]; };
    plain_of.push_back(folds.graph.is_leaf(id)
                           ? id
                           : plain.graph.combine(operand(folds.graph.left(id)),
                                                 operand(folds.graph.right(id)), Own::none));
  }
  for (FoldId& fold : plain.outputs)
    if (fold != no_fold) fold = plain_of[static_cast<std::size_t>(fold)];
  return plain;
}

// Fails unless the schedule does what its collective means, with equal bits on all ranks. Where
// arithmetic fuses a rank's own operand (`own_matters`), that must be equal too.
inline void expect_contract(const Schedule& schedule, bool own_matters) {
  const ScheduleShape& shape = schedule.shape();
  Folds folds = interpret(schedule, [](std::size_t step, const Transfer& t, const ChunkRef& chunk) {
    ADD_FAILURE() << "step " << step << " reads " << to_string(chunk)
                  << ", still unwritten: " << to_string(t);
  });
  if (!own_matters) folds = without_own(folds, shape);
  // Who holds the same chunk of the result must hold the same bits.
  std::vector<FoldId> first(static_cast<std::size_t>(shape.chunks), no_fold);
  for (std::int32_t r = 0; r < shape.ranks; ++r) {
    if (!shape.has_output(r)) continue;
    for (std::int32_t i = 0; i < shape.slot_chunks(Slot::output); ++i) {
      const std::int32_t chunk = shape.whole_chunk(r, Slot::output, i);
      const FoldId fold = folds.output(shape, r, i);
      FoldId& same = first[static_cast<std::size_t>(chunk)];
      if (same == fold && fold != no_fold) continue;
      const std::string wrong = wrong_with(folds.graph, fold, shape, chunk);
      ASSERT_EQ(wrong, "") << "output chunk " << i << " of rank " << r;
      ASSERT_EQ(same, no_fold) << "chunk " << chunk << " of rank " << r << " is "
                               << to_string(folds.graph, fold) << ", elsewhere "
                               << to_string(folds.graph, same);
      same = fold;
    }
  }
  EXPECT_TRUE(std::ranges::none_of(first, [](FoldId fold) { return fold == no_fold; }));
}

}  // namespace vranks
