// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/message_chunks.hpp"

#include <fmt/format.h>

#include "collectives/interpreters/access_log.hpp"
#include "collectives/interpreters/progress.hpp"
#include "ranks/error.hpp"

namespace vranks {

MessageChunks::MessageChunks(const Program& program, const Layout& layout)
    : outputs_(static_cast<std::size_t>(program.shape().slot_chunks(Slot::output))),
      a_rank_(outputs_ + static_cast<std::size_t>(program.shape().scratch_chunks)) {
  const ScheduleShape& shape = program.shape();
  const WritableChunks numbers(shape);
  held_.assign(numbers.size(), -1);
  std::size_t end = 0;
  for (std::int32_t number = 0; number < program.size(); ++number) {
    begins_.push_back(end);
    end += static_cast<std::size_t>(program.instruction(number).count);
  }
  chunks_.resize(end);

  const auto fail = [&](const Place& place, const std::string& problem) {
    throw Error(ErrorKind::bad_argument, fmt::format("{}: {}", program.describe(place), problem));
  };
  const Progress run = progress(program, unlimited_depth);
  if (!run.stuck.empty()) fail(run.stuck.front().at, "the program blocks here");
  const std::vector<std::int32_t> sender_of = match_messages(program);
  for (const Place& place : run.order) {
    const std::int32_t number = program.number(place);
    const Instruction& i = program.instruction(number);
    const InstructionInfo& does = info(i.kind);
    if (i.kind == InstructionKind::nop) continue;
    const auto read = [&](const LocalChunk& chunk, std::int32_t k) {
      const ChunkRef ref = program.chunk(place.lane, {chunk.index + k, chunk.slot}, 1);
      if (ref.slot == Slot::input) return shape.whole_chunk(ref.rank, ref.slot, ref.index);
      const std::int32_t whole = held_[numbers.number(ref)];
      if (whole < 0) fail(place, fmt::format("{} is unwritten", to_string(ref)));
      return whole;
    };
    Chunks* const all = &chunks_[begins_[static_cast<std::size_t>(number)]];
    const std::int32_t sender = sender_of[static_cast<std::size_t>(number)];
    if (does.receives && program.instruction(sender).count != i.count)
      fail(place, fmt::format("a message of {} chunks is received as {}",
                              program.instruction(sender).count, i.count));
    for (std::int32_t k = 0; k < i.count; ++k) {
      Chunks& chunks = all[k];
      if (does.reads_a) chunks.result = chunks.a = read(i.a, k);
      if (does.reads_b) chunks.b = read(i.b, k);
      if (does.receives) {
        chunks.message = of(sender, k).result;
        if (const std::optional<Symmetry>& symmetry = program.symmetry())
          chunks.message = symmetry->whole_chunk(
              shape, chunks.message,
              symmetry->number(program.lanes()[static_cast<std::size_t>(place.lane)].receive_from));
        chunks.result = chunks.message;
      }
      for (const std::int32_t other : {chunks.a, chunks.b})
        if (other >= 0 && layout.length(other) != layout.length(chunks.result))
          fail(place, fmt::format("chunks of {} and {} elements are combined",
                                  layout.length(chunks.result), layout.length(other)));
    }
    for (std::int32_t k = 0; k < i.count; ++k) {
      if (!does.writes) continue;
      const ChunkRef dst = program.chunk(place.lane, {i.dst.index + k, i.dst.slot}, 1);
      std::int32_t whole = all[k].result;
      if (dst.slot == Slot::output) {
        whole = shape.whole_chunk(dst.rank, Slot::output, dst.index);
        if (layout.length(whole) != layout.length(all[k].result))
          fail(place, fmt::format("{} elements are written to a chunk of {}",
                                  layout.length(all[k].result), layout.length(whole)));
      }
      held_[numbers.number(dst)] = whole;
    }
  }
}

bool MessageChunks::is_written(std::int32_t rank, std::int32_t index) const {
  return held_[static_cast<std::size_t>(rank) * a_rank_ + static_cast<std::size_t>(index)] >= 0;
}

}  // namespace vranks
