// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/spread_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "collectives/interpreters/message_chunks.hpp"
#include "collectives/layout.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// The layout of a vector of one element a chunk.
Layout one_element_chunks(std::int32_t chunks) {
  std::vector<std::vector<Interval>> intervals;
  for (std::int32_t c = 0; c < chunks; ++c) intervals.push_back({{c, c + 1, c}});
  return {chunks, intervals};
}

// Every lane becomes `ways`, among which `way_of(number)` chooses for each instruction that isn't a
// nop; `instances` times, as spread_lanes() says.
template <class WayOf>
Program split_lanes(const Program& program, std::int32_t ways, std::int32_t instances,
                    WayOf&& way_of) {
  const ScheduleShape& shape = program.shape();
  ProgramParts parts;
  parts.shape = shape;
  parts.shape.chunks *= instances;
  parts.shape.scratch_chunks *= instances;
  parts.symmetry = program.symmetry();

  // Where each instruction goes: its lane is split by channel, then repeated by instance.
  std::vector<std::int32_t> place_in_lane(static_cast<std::size_t>(program.size()));
  std::vector<std::int32_t> channel_of(static_cast<std::size_t>(program.size()));
  std::vector<std::vector<std::int32_t>> instructions_of;  // of each new lane of instance 0
  std::vector<std::int32_t> first_lane;                    // of each old lane
  for (std::size_t l = 0; l < program.lanes().size(); ++l) {
    const auto lane = static_cast<std::int32_t>(l);
    first_lane.push_back(static_cast<std::int32_t>(instructions_of.size()));
    instructions_of.resize(instructions_of.size() + static_cast<std::size_t>(ways));
    for (std::int32_t i = 0; i < program.lane_size(lane); ++i) {
      const std::int32_t number = program.lane_begin(lane) + i;
      const Instruction& instruction = program.instruction(number);
      const std::int32_t channel = instruction.kind == InstructionKind::nop ? 0 : way_of(number);
      auto& into = instructions_of[static_cast<std::size_t>(first_lane.back() + channel)];
      channel_of[static_cast<std::size_t>(number)] = channel;
      place_in_lane[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(into.size());
      into.push_back(number);
    }
  }

  std::map<std::int32_t, std::int32_t> ids;  // of lanes, by rank
  std::vector<Place> after;
  for (std::int32_t instance = 0; instance < instances; ++instance)
    for (std::size_t l = 0; l < program.lanes().size(); ++l)
      for (std::int32_t channel = 0; channel < ways; ++channel) {
        Lane lane = program.lanes()[l];
        lane.channel = (lane.channel * ways + channel) * instances + instance;
        lane.id = ids[lane.rank]++;
        parts.add(lane);
        for (const std::int32_t number :
             instructions_of[static_cast<std::size_t>(first_lane[l] + channel)]) {
          // Chunk c has become chunks c * instances and on.
          Instruction instruction = program.instruction(number);
          if (instruction.count > 1 && instances > 1)
            throw Error(ErrorKind::not_supported,
                        fmt::format("{} is about {} chunks, and instances are for instructions "
                                    "about one",
                                    program.describe(program.place(number)), instruction.count));
          const InstructionInfo& does = info(instruction.kind);
          if (does.reads_a) instruction.a.index = instruction.a.index * instances + instance;
          if (does.reads_b) instruction.b.index = instruction.b.index * instances + instance;
          if (does.writes) instruction.dst.index = instruction.dst.index * instances + instance;
          after.clear();
          for (const Place& place : program.waits(number)) {
            const auto other = static_cast<std::size_t>(program.number(place));
            const std::int32_t lanes = static_cast<std::int32_t>(instructions_of.size());
            after.push_back({instance * lanes + first_lane[static_cast<std::size_t>(place.lane)] +
                                 channel_of[other],
                             place_in_lane[other]});
          }
          parts.add(instruction, after);
        }
      }
  return Program(std::move(parts));
}

}  // namespace

Program spread_lanes(const Program& program, std::int32_t channels, std::int32_t instances,
                     std::int32_t chunks_in_row) {
  const std::int32_t ways = std::max(channels, 1);
  const MessageChunks chunks(program, one_element_chunks(program.shape().chunks));
  return split_lanes(program, ways, instances, [&](std::int32_t number) {
    return chunks.moved(program.instruction(number), number, 0) / chunks_in_row % ways;
  });
}

// Who reads an input to reduce it keeps it in scratch until then.
Program separate_sums(const Program& program) {
  const bool sums = reduces(program.shape().collective);
  return split_lanes(program, 2, 1, [&](std::int32_t number) {
    const Instruction& instruction = program.instruction(number);
    const InstructionInfo& does = info(instruction.kind);
    const bool is_input = does.sends ? instruction.a.slot == Slot::input
                                     : does.receives && instruction.dst.slot == Slot::scratch;
    return sums && is_input ? 0 : 1;
  });
}

}  // namespace vranks
