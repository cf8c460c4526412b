// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A program taken apart, so that tests can spoil it.
#pragma once

#include <cstdlib>
#include <utility>
#include <vector>

#include "collectives/program.hpp"

namespace vranks {

struct EditedProgram {
  struct Line {
    Instruction instruction;
    std::vector<Place> waits = {};
  };
  struct Lines {
    Lane lane;
    std::vector<Line> lines = {};
  };
  ScheduleShape shape;
  std::vector<Lines> lanes;

  explicit EditedProgram(const Program& program) : shape(program.shape()) {
    std::int32_t number = 0;
    for (std::int32_t l = 0; l < static_cast<std::int32_t>(program.lanes().size()); ++l) {
      lanes.push_back({program.lanes()[static_cast<std::size_t>(l)]});
      for (std::int32_t i = 0; i < program.lane_size(l); ++i, ++number)
        lanes.back().lines.push_back(
            {program.instruction(number),
             {program.waits(number).begin(), program.waits(number).end()}});
    }
  }

  Lines& lane(std::int32_t rank, std::int32_t id) {
    for (Lines& lines : lanes)
      if (lines.lane.rank == rank && lines.lane.id == id) return lines;
    std::abort();
  }
  Line& line(std::int32_t rank, std::int32_t id, std::size_t step) {
    return lane(rank, id).lines.at(step);
  }

  // Without that instruction; who waited for it doesn't any more.
  void drop(std::int32_t rank, std::int32_t id, std::int32_t step) {
    Lines& from = lane(rank, id);
    const auto number = static_cast<std::int32_t>(&from - lanes.data());
    from.lines.erase(from.lines.begin() + step);
    for (Lines& other : lanes)
      for (Line& line : other.lines) {
        std::erase(line.waits, Place{number, step});
        for (Place& wait : line.waits)
          if (wait.lane == number && wait.index > step) --wait.index;
      }
  }

  Program build() const {
    ProgramParts parts{.shape = shape};
    for (const Lines& lines : lanes) {
      parts.add(lines.lane);
      for (const Line& line : lines.lines) parts.add(line.instruction, line.waits);
    }
    return Program(std::move(parts));
  }
};

}  // namespace vranks
