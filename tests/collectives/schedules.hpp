// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules for tests: those of the registry, and random ones. And whether two compute the same.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/interpreters/access_log.hpp"
#include "collectives/interpreters/interpret.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "variants.hpp"

namespace vranks {

// Calls f(schedule) for every algorithm, collective and variant that exists over R ranks, and gives
// the number of calls. Failures inside name the algorithm.
inline int for_each_schedule(std::int64_t ranks, const std::function<void(const Schedule&)>& f) {
  int calls = 0;
  for (const Algorithm& algorithm : algorithms())
    for (const CollectiveInfo& collective : collectives()) {
      if (!has_word(algorithm.collectives, collective.name)) continue;
      for (const Parameters& parameters : variants(algorithm, ranks)) {
        SCOPED_TRACE(std::string(algorithm.name) + " " + std::string(collective.name) +
                     " R=" + std::to_string(ranks) + " " + to_string(parameters));
        const Problem problem{.collective = collective.collective,
                              .ranks = ranks,
                              .elements = 48 * ranks,
                              .root = has_root(collective.collective) ? ranks / 2 : 0,
                              .sources = collective.collective == Collective::permute
                                             ? random_permutation(ranks)
                                             : Sources{}};
        std::optional<Schedule> schedule;
        try {
          const Selection chosen = select(algorithm, problem, parameters);
          schedule = chosen.algorithm->build(problem, chosen.parameters);
        } catch (const Error& error) {
          // Some exist for certain numbers of ranks only.
          EXPECT_EQ(error.kind(), ErrorKind::not_supported) << error.what();
          continue;
        }
        f(*schedule);
        ++calls;
      }
    }
  return calls;
}

// A schedule that keeps the rules of ScheduleBuilder and reads only what was written; what it
// computes means nothing. Chunks that change places within a step are likely.
inline Schedule random_schedule() {
  // Of the full range from the first test on.
  const auto below = [](std::int32_t n) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int32_t>(0, n));
  };
  ScheduleShape shape;
  do {
    shape.collective = collectives()[static_cast<std::size_t>(
                                         below(static_cast<std::int32_t>(collectives().size())))]
                           .collective;
  } while (takes_counts(shape.collective));
  shape.ranks = 1 + below(4);
  if (has_root(shape.collective)) shape.root = below(shape.ranks);
  if (shape.collective == Collective::permute)
    for (std::int32_t r = 0; r < shape.ranks; ++r)
      shape.sources.push_back(below(shape.ranks + 1) - 1);
  shape.chunks = std::lcm(shape.blocks(), shape.ranks) * (1 + below(2));
  if (shape.collective == Collective::barrier) shape.chunks = 1;
  shape.scratch_chunks = below(3);
  const WritableChunks chunks(shape);
  std::vector<bool> written(chunks.size()), in_step(chunks.size());
  ScheduleBuilder builder(shape);
  for (std::int32_t step = 0, steps = below(7); step < steps; ++step) {
    in_step.assign(chunks.size(), false);
    for (std::int32_t i = 0, transfers = 1 + below(8); i < transfers; ++i) {
      const std::int32_t rank = below(shape.ranks), other = below(shape.ranks);
      const std::int32_t count = 1 + below(2);
      // A chunk that may be read (or written); nothing if the dice fall badly.
      const auto pick = [&](std::int32_t owner, bool read) -> std::optional<ChunkRef> {
        const auto slot =
            read ? *rc::gen::element(Slot::input, Slot::output, Slot::output, Slot::scratch)
                 : *rc::gen::element(Slot::output, Slot::output, Slot::scratch);
        const std::int32_t places = shape.slot_chunks(slot) - count + 1;
        if (places < 1) return {};
        const ChunkRef ref{owner, below(places), count, slot};
        if (slot == Slot::input) return ref;
        if (!read && slot == Slot::output && !shape.has_output(owner)) return {};
        for (std::size_t c = 0; c < static_cast<std::size_t>(count); ++c)
          if (read ? !written[chunks.number(ref) + c] : in_step[chunks.number(ref) + c]) return {};
        return ref;
      };
      const auto pick_soon = [&](std::int32_t owner, bool read) {
        std::optional<ChunkRef> ref;
        for (int tries = 0; tries < 5 && !ref; ++tries) ref = pick(owner, read);
        return ref;
      };
      const auto dst = pick_soon(rank, false), a = pick_soon(other, true),
                 b = pick_soon(rank, true);
      if (!dst || !a || !b) continue;
      switch (below(3)) {
        case 0:
          builder.add(copy(*dst, *a));
          break;
        case 1:
          builder.add(reduce(*dst, *a, *b));
          break;
        default:
          builder.add(reduce(*dst, *b, *a));
      }
      for (std::size_t c = 0; c < static_cast<std::size_t>(count); ++c)
        in_step[chunks.number(*dst) + c] = true;
    }
    builder.end_step();
    for (std::size_t c = 0; c < written.size(); ++c) written[c] = written[c] || in_step[c];
  }
  return std::move(builder).build();
}

// Whether every output is the same expression: ranks, chunks, order, and whose own input is where.
inline bool same_folds(const Folds& one, Folds other) {
  if (one.outputs.size() != other.outputs.size()) return false;
  // In one graph equal expressions have equal ids.
  std::vector<FoldId> id_there;
  for (FoldId id = 0; id < one.graph.size(); ++id) {
    if (one.graph.is_leaf(id)) {
      id_there.push_back(other.graph.leaf(one.graph.leaf_rank(id), one.graph.leaf_chunk(id)));
      continue;
    }
    const auto there = [&](FoldId child) { return id_there[static_cast<std::size_t>(child)]; };
    id_there.push_back(other.graph.combine(there(one.graph.left(id)), there(one.graph.right(id)),
                                           one.graph.own(id)));
  }
  for (std::size_t i = 0; i < one.outputs.size(); ++i) {
    const FoldId fold = one.outputs[i];
    const FoldId there = fold == no_fold ? no_fold : id_there[static_cast<std::size_t>(fold)];
    if (there != other.outputs[i]) return false;
  }
  return true;
}

}  // namespace vranks
