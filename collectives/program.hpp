// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What machines run: lanes of instructions. A lane does its instructions one after the other; lanes
// run side by side, also those of one rank. So unlike a schedule a program can block, and its lanes
// can disturb one another; interpreters/verify.hpp proves that a program does neither.
//
// Messages from one rank to another on one channel arrive in the order in which they were sent. At
// most `depth` of them are under way; a send waits for room. With depth 0 (rendezvous) a send ends
// when its message is received. What has to go on at the same time, as the sends and receives of a
// group do in NCCL, stands in different lanes: they are a rank's only means of doing two things at
// once.
//
// Of ranks that do alike (symmetry.hpp) a program may have the leaders only. Its lanes name the
// ranks that they really send to; what is received from a rank is what its leader sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/schedule.hpp"
#include "collectives/symmetry.hpp"

namespace vranks {

// name, receives a message, sends one, reads a, reads b, writes dst, what it does (m: the message)
#define VR_INSTRUCTIONS(X)                                                   \
  X(send, 0, 1, 1, 0, 0, "sends a")                                          \
  X(recv, 1, 0, 0, 0, 1, "dst = m")                                          \
  X(recv_copy_send, 1, 1, 0, 0, 1, "dst = m, and sends it on")               \
  X(recv_reduce, 1, 0, 1, 0, 1, "dst = op(m, a)")                            \
  X(recv_reduce_send, 1, 1, 1, 0, 0, "sends op(m, a)")                       \
  X(recv_reduce_copy_send, 1, 1, 1, 0, 1, "dst = op(m, a), and sends it on") \
  X(copy, 0, 0, 1, 0, 1, "dst = a")                                          \
  X(reduce, 0, 0, 1, 1, 1, "dst = op(a, b)")                                 \
  X(nop, 0, 0, 0, 0, 0, "nothing; for what it waits for")

enum class InstructionKind : std::uint8_t {
#define X(name, receives, sends, a, b, dst, meaning) name,
  VR_INSTRUCTIONS(X)
#undef X
};

struct InstructionInfo {
  InstructionKind kind;
  std::string_view name;
  bool receives, sends, reads_a, reads_b, writes;
  std::string_view meaning;

  bool combines_message() const { return receives && reads_a; }
};

inline constexpr InstructionInfo instruction_infos[] = {
#define X(name, receives, sends, a, b, dst, meaning) \
  {InstructionKind::name, #name, receives, sends, a, b, dst, meaning},
    VR_INSTRUCTIONS(X)
#undef X
};
constexpr const InstructionInfo& info(InstructionKind kind) {
  return instruction_infos[static_cast<std::size_t>(kind)];
}

// A chunk of the lane's own rank.
struct LocalChunk {
  std::int32_t index = 0;
  Slot slot = Slot::input;

  bool operator==(const LocalChunk&) const = default;
};

// On `count` chunks, from those named on. All of them are read before one is written.
struct Instruction {
  InstructionKind kind = InstructionKind::nop;
  bool own_left = false;  // op(a, m) instead of op(m, a), where a message is combined
  std::int32_t count = 1;
  LocalChunk a = {}, b = {}, dst = {};  // as they are by default where the kind has no such operand

  bool operator==(const Instruction&) const = default;
};

// An instruction of a program: number `index` of lanes()[lane].
struct Place {
  std::int32_t lane = -1;
  std::int32_t index = -1;

  bool operator==(const Place&) const = default;
  auto operator<=>(const Place&) const = default;
};

inline constexpr std::int32_t no_rank = -1;

struct Lane {
  std::int32_t rank = 0;
  std::int32_t id = 0;  // no two of a rank have the same
  std::int32_t send_to = no_rank;
  std::int32_t receive_from = no_rank;
  std::int32_t channel = 0;

  bool operator==(const Lane&) const = default;
};

// The numbers a program is made of: lane after lane, instruction after instruction.
struct ProgramParts {
  ScheduleShape shape = {};
  std::vector<Lane> lanes = {};
  std::vector<std::int32_t> lane_ends = {};  // behind the last instruction of each lane
  std::vector<Instruction> instructions = {};
  std::vector<std::uint32_t> wait_ends = {};  // behind the last wait of each instruction
  // For instructions of the same rank, before this one starts.
  std::vector<Place> waits = {};
  // If it is there, only its leaders have lanes.
  std::optional<Symmetry> symmetry = {};

  void add(const Lane& lane);
  // One more instruction of the last lane.
  void add(const Instruction& instruction, std::span<const Place> after = {});
  void add(const Instruction& instruction, std::initializer_list<Place> after) {
    add(instruction, std::span(after.begin(), after.size()));
  }

  bool operator==(const ProgramParts&) const = default;
};

class Program {
 public:
  // Throws bad_argument, naming rank, lane and step, for numbers that make no sense: a chunk, rank
  // or instruction that isn't there, a written input, a send in a lane that sends to no rank, two
  // lanes that send (or receive) on the same channel between the same ranks, a lane of a rank that
  // leads no others.
  explicit Program(ProgramParts parts);

  const ProgramParts& parts() const { return parts_; }
  const ScheduleShape& shape() const { return parts_.shape; }
  std::span<const Lane> lanes() const { return parts_.lanes; }
  std::int32_t size() const { return static_cast<std::int32_t>(parts_.instructions.size()); }
  std::size_t memory_bytes() const;
  const std::optional<Symmetry>& symmetry() const { return parts_.symmetry; }

  // Instructions are numbered through, lane after lane.
  std::int32_t lane_begin(std::int32_t lane) const {
    return lane == 0 ? 0 : parts_.lane_ends[static_cast<std::size_t>(lane) - 1];
  }
  std::int32_t lane_size(std::int32_t lane) const {
    return parts_.lane_ends[static_cast<std::size_t>(lane)] - lane_begin(lane);
  }
  std::int32_t number(const Place& place) const { return lane_begin(place.lane) + place.index; }
  Place place(std::int32_t number) const;
  const Instruction& instruction(std::int32_t number) const {
    return parts_.instructions[static_cast<std::size_t>(number)];
  }
  std::span<const Place> waits(std::int32_t number) const {
    const auto i = static_cast<std::size_t>(number);
    const std::size_t begin = i == 0 ? 0 : parts_.wait_ends[i - 1];
    return std::span(parts_.waits).subspan(begin, parts_.wait_ends[i] - begin);
  }

  // The lane that receives what this one sends; the lane that sends what this one receives; -1 if
  // there is none. Of a symmetry's leaders: those that do it for them.
  std::int32_t receiver(std::int32_t lane) const {
    return receivers_[static_cast<std::size_t>(lane)];
  }
  std::int32_t sender(std::int32_t lane) const { return senders_[static_cast<std::size_t>(lane)]; }

  // "rank 0 lane 2 step 5": the lane by its id.
  std::string describe(const Place& place) const;
  // That chunk on the rank of that lane.
  ChunkRef chunk(std::int32_t lane, const LocalChunk& chunk, std::int32_t count) const {
    return {parts_.lanes[static_cast<std::size_t>(lane)].rank, chunk.index, count, chunk.slot};
  }
  bool operator==(const Program& other) const { return parts_ == other.parts_; }

 private:
  void check_lanes();
  void check_instruction(const Place& place) const;
  void check_chunk(const Place& place, const LocalChunk& chunk, std::string_view what) const;
  [[noreturn]] void fail(const Place& place, const std::string& problem) const;

  ProgramParts parts_;
  std::vector<std::int32_t> receivers_, senders_;
};

}  // namespace vranks
