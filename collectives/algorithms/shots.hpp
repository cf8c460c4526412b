// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves without hops: a rank reads what it needs straight from where it is, all at once or rank by
// rank, and combines it by itself in rank order.
#pragma once

#include <cstdint>

#include "collectives/algorithms/shapes.hpp"
#include "collectives/schedule.hpp"

namespace vranks::algorithms_of {

// Ranks [begin, end) read one chunk of every rank, own one included, into their scratch chunks
// 0 to R - 1, and combine them: ((x0 + x1) + x2) + ... Rank r reads chunk_of(r); the result is
// written to target_of(r). One step with messages, then R - 1 without.
template <class ChunkOf, class TargetOf>
void add_read_and_combine(ScheduleBuilder& builder, std::int32_t ranks, std::int32_t begin,
                          std::int32_t end, ChunkOf&& chunk_of, TargetOf&& target_of) {
  if (ranks == 1) {
    builder.add(copy(target_of(0), input(0, chunk_of(0))));
    builder.end_step();
    return;
  }
  for (std::int32_t r = begin; r < end; ++r)
    for (std::int32_t s = 0; s < ranks; ++s)
      builder.add(copy(scratch(r, s), input(s, chunk_of(r))));
  builder.end_step();
  // The own input goes through scratch too, so that all ranks do the very same.
  for (std::int32_t s = 1; s < ranks; ++s) {
    for (std::int32_t r = begin; r < end; ++r)
      builder.add(
          reduce(s == ranks - 1 ? target_of(r) : scratch(r, 0), scratch(r, 0), scratch(r, s)));
    builder.end_step();
  }
}

// Every rank reads the one chunk of every rank's input.
inline void add_gather(ScheduleBuilder& builder, std::int32_t ranks) {
  for (std::int32_t r = 0; r < ranks; ++r)
    for (std::int32_t s = 0; s < ranks; ++s) builder.add(copy(output(r, s), input(s, 0)));
  builder.end_step();
}

// Rank d reads block d of all ranks and combines it in rank order; then all, or the root, read the
// results. See two_shot.cpp.
inline Schedule two_shot_schedule(const Problem& problem) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const auto root = static_cast<std::int32_t>(problem.root);
  const Collective collective = problem.collective;
  ScheduleBuilder builder({.collective = collective,
                           .ranks = ranks,
                           .root = root,
                           .chunks = ranks,
                           .scratch_chunks = collective == Collective::all_gather ? 0 : ranks});
  if (collective == Collective::all_gather) {
    add_gather(builder, ranks);
    return std::move(builder).build();
  }
  const auto result = [&](std::int32_t d) {
    switch (collective) {
      case Collective::reduce:
        return d == root ? output(d, d) : scratch(d, 0);
      case Collective::reduce_scatter:
        return output(d, 0);
      default:
        return output(d, d);
    }
  };
  add_read_and_combine(
      builder, ranks, 0, ranks, [](std::int32_t d) { return d; }, result);
  const auto add_reads = [&](std::int32_t r) {
    for (std::int32_t d = 0; d < ranks; ++d)
      if (d != r) builder.add(copy(output(r, d), result(d)));
  };
  if (collective == Collective::reduce) add_reads(root);
  if (collective == Collective::all_reduce)
    for (std::int32_t r = 0; r < ranks; ++r) add_reads(r);
  builder.end_step();
  return std::move(builder).build();
}

// Calls f(transfer) for every block that rank r of a broadcast, scatter, all_to_all or permute
// gets, or that the root of a gather gets from it: straight from an input to an output.
template <class F>
void for_each_block(const Problem& problem, std::int32_t r, F&& f) {
  const auto root = static_cast<std::int32_t>(problem.root);
  switch (problem.collective) {
    case Collective::broadcast:
      return f(copy(output(r, 0), input(root, 0)));
    case Collective::gather:
      return f(copy(output(root, r), input(r, 0)));
    case Collective::scatter:
      return f(copy(output(r, 0), input(root, r)));
    case Collective::permute: {
      const std::int32_t source = problem.sources[static_cast<std::size_t>(r)];
      if (source >= 0) f(copy(output(r, 0), input(source, 0)));
      return;
    }
    default:  // all_to_all
      for (std::int32_t s = 0; s < static_cast<std::int32_t>(problem.ranks); ++s)
        f(copy(output(r, s), input(s, r)));
  }
}

// One of those collectives with all messages in one step, or with those of each rank in a step of
// their own, in rank order. What stays on its rank is copied in the first step.
inline Schedule straight_schedule(const Problem& problem, bool in_turns) {
  ScheduleBuilder builder(shape_of(problem));
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  if (in_turns)
    for (std::int32_t r = 0; r < ranks; ++r)
      for_each_block(problem, r, [&](const Transfer& t) {
        if (!t.is_message()) builder.add(t);
      });
  for (std::int32_t r = 0; r < ranks; ++r) {
    bool has_messages = false;
    for_each_block(problem, r, [&](const Transfer& t) {
      if (in_turns && !t.is_message()) return;
      builder.add(t);
      has_messages = true;
    });
    if (in_turns && has_messages) builder.end_step();
  }
  builder.end_step();
  return std::move(builder).build();
}

}  // namespace vranks::algorithms_of
