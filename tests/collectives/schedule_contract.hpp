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

// Whether rank `from` has a part in chunk `whole` of the whole vector as rank `to` gets it.
inline bool contributes(const ScheduleShape& shape, std::int32_t from, std::int32_t to,
                        std::int32_t whole) {
  switch (shape.collective) {
    case Collective::scan:
      return from <= to;
    case Collective::exscan:
      return from < to;
    case Collective::broadcast:
    case Collective::scatter:
      return from == shape.root;
    case Collective::all_gather:
    case Collective::gather:
    case Collective::all_to_all:
    case Collective::permute:  // the one whose input it lies in
      return whole / (shape.chunks / shape.ranks) == from;
    default:
      return true;
  }
}

// Where in the whole vector an output chunk is, said by blocks rather than by ScheduleShape: block
// s of rank d's output of an all-to-all is block d of rank s's input.
inline std::int32_t wanted_chunk(const ScheduleShape& shape, std::int32_t rank,
                                 std::int32_t index) {
  const std::int32_t a_rank = shape.chunks / shape.ranks;
  switch (shape.collective) {
    case Collective::all_to_all: {
      const std::int32_t a_block = a_rank / shape.ranks;
      return index / a_block * a_rank + rank * a_block + index % a_block;
    }
    case Collective::permute:
      return shape.sources[static_cast<std::size_t>(rank)] * a_rank + index;
    case Collective::reduce_scatter:
    case Collective::scatter:
      return rank * a_rank + index;
    default:
      return index;
  }
}

// What is wrong with the value of an output chunk of that rank; empty if nothing. Chunk `wanted` of
// the whole vector must come exactly once from every rank that has a part in it, and from no other;
// of a barrier at least once; of a scan in rank order.
inline std::string wrong_with(const FoldGraph& graph, FoldId fold, const ScheduleShape& shape,
                              std::int32_t to, std::int32_t wanted) {
  if (fold == no_fold) return "is never written";
  const bool combines = reduces(shape.collective) || shape.collective == Collective::barrier;
  if (!combines && !graph.is_leaf(fold)) return "is a combination: " + to_string(graph, fold);
  std::vector<int> times(static_cast<std::size_t>(shape.ranks), 0);
  std::vector<FoldId> todo{fold};
  std::int32_t next_rank = shape.ranks;  // to the right, for we walk from right to left
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
    if (++times[static_cast<std::size_t>(rank)] > 1 && shape.collective != Collective::barrier)
      return fmt::format("holds rank {} twice: {}", rank, to_string(graph, fold));
    if (is_prefix(shape.collective) && rank > next_rank)
      return fmt::format("holds rank {} before {}: {}", rank, next_rank, to_string(graph, fold));
    next_rank = rank;
  }
  for (std::int32_t from = 0; from < shape.ranks; ++from) {
    const bool is_there = times[static_cast<std::size_t>(from)] > 0;
    if (is_there != contributes(shape, from, to, wanted))
      return fmt::format("{} rank {}: {}", is_there ? "holds" : "lacks", from,
                         to_string(graph, fold));
  }
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

// Fails unless the schedule does what its collective means, with equal bits on all ranks that hold
// the same. Where arithmetic fuses a rank's own operand (`own_matters`), that must be equal too.
inline void expect_contract(const Schedule& schedule, bool own_matters) {
  const ScheduleShape& shape = schedule.shape();
  Folds folds = interpret(schedule, [](std::size_t step, const Transfer& t, const ChunkRef& chunk) {
    ADD_FAILURE() << "step " << step << " reads " << to_string(chunk)
                  << ", still unwritten: " << to_string(t);
  });
  if (!own_matters) folds = without_own(folds, shape);
  // Of a scan every rank holds something else, and a barrier has no bits.
  const bool is_shared = !is_prefix(shape.collective) && shape.collective != Collective::barrier;
  std::vector<FoldId> first(static_cast<std::size_t>(shape.chunks), no_fold);
  for (std::int32_t r = 0; r < shape.ranks; ++r) {
    if (!shape.has_output(r)) continue;
    for (std::int32_t i = 0; i < shape.slot_chunks(Slot::output); ++i) {
      const std::int32_t chunk = wanted_chunk(shape, r, i);
      const FoldId fold = folds.output(shape, r, i);
      FoldId& same = first[static_cast<std::size_t>(chunk)];
      if (is_shared && same == fold && fold != no_fold) continue;
      const std::string wrong = wrong_with(folds.graph, fold, shape, r, chunk);
      ASSERT_EQ(wrong, "") << "output chunk " << i << " of rank " << r;
      if (is_shared) {
        ASSERT_EQ(same, no_fold) << "chunk " << chunk << " of rank " << r << " is "
                                 << to_string(folds.graph, fold) << ", elsewhere "
                                 << to_string(folds.graph, same);
      }
      same = fold;
    }
  }
  // A permute may want no chunk of some ranks, and an exscan over one rank wants none.
  if (shape.collective == Collective::permute || shape.collective == Collective::exscan) return;
  EXPECT_TRUE(std::ranges::none_of(first, [](FoldId fold) { return fold == no_fold; }));
}

}  // namespace vranks
