// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "ranks/error.hpp"

namespace vranks {

void ProgramParts::add(const Lane& lane) {
  lanes.push_back(lane);
  lane_ends.push_back(static_cast<std::int32_t>(instructions.size()));
}

void ProgramParts::add(const Instruction& instruction, std::span<const Place> after) {
  instructions.push_back(instruction);
  waits.insert(waits.end(), after.begin(), after.end());
  wait_ends.push_back(static_cast<std::uint32_t>(waits.size()));
  lane_ends.back() = static_cast<std::int32_t>(instructions.size());
}

namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::bad_argument, problem);
}

std::string describe(const Lane& lane) {
  return fmt::format("rank {} lane {}", lane.rank, lane.id);
}

}  // namespace

Program::Program(ProgramParts parts) : parts_(std::move(parts)) {
  ScheduleBuilder{parts_.shape};  // knows what a shape has to fulfil
  const std::size_t instructions = parts_.instructions.size(), waits = parts_.waits.size();
  // Instructions are numbered with 32 bits, their waits too.
  if (instructions > std::numeric_limits<std::int32_t>::max() ||
      waits > std::numeric_limits<std::uint32_t>::max())
    throw Error(
        ErrorKind::not_supported,
        fmt::format("a program of {} instructions and {} waits is too large", instructions, waits));
  const bool ends_fit =
      parts_.lane_ends.size() == parts_.lanes.size() && parts_.wait_ends.size() == instructions &&
      std::ranges::is_sorted(parts_.lane_ends) && std::ranges::is_sorted(parts_.wait_ends) &&
      (parts_.lanes.empty() ? 0 : static_cast<std::size_t>(parts_.lane_ends.back())) ==
          instructions &&
      (instructions == 0 ? 0 : parts_.wait_ends.back()) == waits;
  if (!ends_fit) refuse("the ends of a program's lanes or waits don't fit its instructions");
  check_lanes();
  for (std::int32_t lane = 0; lane < static_cast<std::int32_t>(parts_.lanes.size()); ++lane)
    for (std::int32_t index = 0; index < lane_size(lane); ++index) check_instruction({lane, index});
}

void Program::check_lanes() {
  const std::int32_t ranks = parts_.shape.ranks;
  const std::size_t lanes = parts_.lanes.size();
  receivers_.assign(lanes, -1);
  senders_.assign(lanes, -1);
  // source, destination, channel, lane
  using End = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>;
  std::vector<End> sending, receiving;
  std::vector<std::pair<std::int32_t, std::int32_t>> ids;
  for (std::size_t l = 0; l < lanes; ++l) {
    const Lane& lane = parts_.lanes[l];
    const auto number = static_cast<std::int32_t>(l);
    if (lane.rank < 0 || lane.rank >= ranks)
      refuse(fmt::format("lane {} is on rank {}, but there are ranks 0 to {}", lane.id, lane.rank,
                         ranks - 1));
    if (parts_.symmetry && lane.rank >= parts_.symmetry->step)
      refuse(fmt::format("lane {} is on rank {}, which does as rank {}", lane.id, lane.rank,
                         parts_.symmetry->leader(lane.rank)));
    if (lane.id < 0) refuse(fmt::format("rank {} has a lane with the id {}", lane.rank, lane.id));
    if (lane.channel < 0)
      refuse(fmt::format("{} uses channel {}", vranks::describe(lane), lane.channel));
    for (const auto& [peer, does] :
         {std::pair(lane.send_to, "sends to"), std::pair(lane.receive_from, "receives from")}) {
      if (peer == no_rank) continue;
      if (peer < 0 || peer >= ranks)
        refuse(fmt::format("{} {} rank {}, but there are ranks 0 to {}", vranks::describe(lane),
                           does, peer, ranks - 1));
      if (peer == lane.rank)
        refuse(fmt::format("{} {} its own rank", vranks::describe(lane), does));
    }
    ids.emplace_back(lane.rank, lane.id);
    if (lane.send_to != no_rank && parts_.symmetry) {
      // From the rank that sends to the leader as this one does to another rank.
      const Symmetry& s = *parts_.symmetry;
      sending.emplace_back(s.rank(lane.rank, s.inverse(s.number(lane.send_to))),
                           s.leader(lane.send_to), lane.channel, number);
    } else if (lane.send_to != no_rank) {
      sending.emplace_back(lane.rank, lane.send_to, lane.channel, number);
    }
    if (lane.receive_from != no_rank)
      receiving.emplace_back(lane.receive_from, lane.rank, lane.channel, number);
  }

  std::ranges::sort(ids);
  if (const auto twice = std::ranges::adjacent_find(ids); twice != ids.end())
    refuse(fmt::format("rank {} has two lanes with the id {}", twice->first, twice->second));
  const auto ends = [](const End& end) {
    return std::tuple(std::get<0>(end), std::get<1>(end), std::get<2>(end));
  };
  for (auto* list : {&sending, &receiving}) {
    std::ranges::sort(*list);
    const auto twice = std::ranges::adjacent_find(*list, {}, ends);
    if (twice == list->end()) continue;
    const auto lane_of = [&](const End& end) {
      return vranks::describe(parts_.lanes[static_cast<std::size_t>(std::get<3>(end))]);
    };
    refuse(fmt::format(
        "{} and {} both {} on channel {} from rank {} to rank {}: the order of their "
        "messages is open",
        lane_of(*twice), lane_of(*std::next(twice)), list == &sending ? "send" : "receive",
        std::get<2>(*twice), std::get<0>(*twice), std::get<1>(*twice)));
  }
  for (auto s = sending.begin(), r = receiving.begin();
       s != sending.end() && r != receiving.end();) {
    if (ends(*s) == ends(*r)) {
      receivers_[static_cast<std::size_t>(std::get<3>(*s))] = std::get<3>(*r);
      senders_[static_cast<std::size_t>(std::get<3>(*r))] = std::get<3>(*s);
    }
    ends(*s) < ends(*r) ? ++s : ++r;
  }
}

void Program::check_instruction(const Place& place) const {
  const Lane& lane = parts_.lanes[static_cast<std::size_t>(place.lane)];
  const std::int32_t number = this->number(place);
  const Instruction& instruction = this->instruction(number);
  if (static_cast<std::size_t>(instruction.kind) >= std::size(instruction_infos))
    fail(place, fmt::format("there is no instruction {}", static_cast<int>(instruction.kind)));
  const InstructionInfo& does = info(instruction.kind);
  if (does.sends && lane.send_to == no_rank)
    fail(place, fmt::format("{} in a lane that sends to no rank", does.name));
  if (does.receives && lane.receive_from == no_rank)
    fail(place, fmt::format("{} in a lane that receives from no rank", does.name));
  if (instruction.count < 1) fail(place, fmt::format("{} chunks", instruction.count));
  if (instruction.own_left && !does.combines_message())
    fail(place, fmt::format("{} combines no message with an operand on its left", does.name));
  const auto check = [&](bool used, const LocalChunk& chunk, std::string_view what) {
    if (used) return check_chunk(place, chunk, what);
    if (chunk != LocalChunk{}) fail(place, fmt::format("{} has no {}", does.name, what));
  };
  check(does.reads_a, instruction.a, does.reads_b ? "left operand" : "operand");
  check(does.reads_b, instruction.b, "right operand");
  check(does.writes, instruction.dst, "destination");
  if (does.writes && instruction.dst.slot == Slot::input) fail(place, "an input is written");
  if (does.writes && instruction.dst.slot == Slot::output && !shape().has_output(lane.rank))
    fail(place, fmt::format("rank {} has no output in a {} to rank {}", lane.rank,
                            name(shape().collective), shape().root));
  for (const Place& wait : waits(number)) {
    if (wait.lane < 0 || wait.lane >= static_cast<std::int32_t>(parts_.lanes.size()))
      fail(place, fmt::format("waits for the lane at place {}, but there are {}", wait.lane,
                              parts_.lanes.size()));
    const Lane& other = parts_.lanes[static_cast<std::size_t>(wait.lane)];
    if (other.rank != lane.rank)
      fail(place,
           fmt::format("waits for {}: only messages order what ranks do", vranks::describe(other)));
    if (wait.index < 0 || wait.index >= lane_size(wait.lane))
      fail(place, fmt::format("waits for step {} of lane {}, which has {} steps", wait.index,
                              other.id, lane_size(wait.lane)));
  }
}

void Program::check_chunk(const Place& place, const LocalChunk& chunk,
                          std::string_view what) const {
  const std::int32_t count = instruction(number(place)).count;
  const std::int32_t chunks = shape().slot_chunks(chunk.slot);
  if (chunk.index < 0 || chunk.index > chunks - count)
    fail(place, fmt::format("the {} has {} chunks from {} on, but the {} of a rank has {}", what,
                            count, chunk.index, name(chunk.slot), chunks));
}

void Program::fail(const Place& place, const std::string& problem) const {
  refuse(describe(place) + ": " + problem);
}

Place Program::place(std::int32_t number) const {
  const auto end = std::ranges::upper_bound(parts_.lane_ends, number);
  const auto lane = static_cast<std::int32_t>(end - parts_.lane_ends.begin());
  return {lane, number - lane_begin(lane)};
}

std::string Program::describe(const Place& place) const {
  const Lane& lane = parts_.lanes[static_cast<std::size_t>(place.lane)];
  return fmt::format("{} step {}", vranks::describe(lane), place.index);
}

std::size_t Program::memory_bytes() const {
  const auto bytes = [](const auto&... all) {
    return (std::as_bytes(std::span(all)).size() + ...);
  };
  return bytes(parts_.lanes, parts_.lane_ends, parts_.instructions, parts_.wait_ends, parts_.waits,
               receivers_, senders_);
}

}  // namespace vranks
