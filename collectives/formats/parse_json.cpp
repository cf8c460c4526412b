// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/formats/json.hpp"
#include "collectives/formats/json_value.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

Slot read_slot(const JsonValue& value) {
  for (const Slot slot : {Slot::input, Slot::output, Slot::scratch})
    if (value.text() == name(slot)) return slot;
  value.fail(
      fmt::format("there is no slot '{:.60}'; slots are: input output scratch", value.text()));
}

ChunkRef read_chunk(const JsonValue& value) {
  value.list(3, 4);
  return {value[0].number(0), value[2].number(0), value.size() > 3 ? value[3].number(1) : 1,
          read_slot(value[1])};
}

ScheduleShape read_shape(const JsonValue& top, std::size_t bytes) {
  ScheduleShape shape;
  if (top.key("version").number(0) != 1) top.key("version").fail("only version 1 is known");
  const JsonValue collective = top.key("collective");
  collective.check([&] { shape.collective = parse_collective(collective.text()); });
  shape.ranks = top.key("ranks").number(1);
  shape.chunks = top.key("chunks").number(1);
  if (top.has("root")) shape.root = top.key("root").number(0, shape.ranks - 1);
  if (top.has("scratch_chunks")) shape.scratch_chunks = top.key("scratch_chunks").number(0);
  if (top.has("sources")) {
    const JsonValue sources = top.key("sources");
    for (std::size_t r = 0; r < sources.list().size(); ++r)
      shape.sources.push_back(sources[r].number(-1, shape.ranks - 1));
  }
  // Every chunk takes memory, wherever schedules and programs are read.
  const std::int64_t a_rank =
      std::int64_t{std::max(shape.slot_chunks(Slot::input), shape.slot_chunks(Slot::output))} +
      shape.scratch_chunks;
  const std::int64_t chunks = std::max<std::int64_t>(shape.ranks * a_rank, shape.chunks);
  const std::int64_t most = (std::int64_t{1} << 20) + 32 * static_cast<std::int64_t>(bytes);
  if (chunks > most)
    top.fail(
        fmt::format("{} ranks with {} chunks each are out of proportion to {} bytes of text, "
                    "which may stand for {} chunks",
                    shape.ranks, a_rank, bytes, most));
  return shape;
}

Schedule read_schedule(const JsonValue& top, std::size_t bytes) {
  top.object({"vranks", "version", "collective", "ranks", "root", "sources", "chunks",
              "scratch_chunks", "steps"});
  const ScheduleShape shape = read_shape(top, bytes);
  std::optional<ScheduleBuilder> builder;
  top.check([&] { builder.emplace(shape); });
  const JsonValue steps = top.key("steps");
  steps.list();
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const JsonValue step = steps[s];
    if (step.list().size() == 0) step.fail("a step without transfers");
    for (std::size_t t = 0; t < step.size(); ++t) {
      const JsonValue transfer = step[t];
      const std::string_view action = transfer.list(1)[0].text();
      if (action != "copy" && action != "reduce")
        transfer[0].fail(
            fmt::format("there is no action '{:.60}'; actions are: copy reduce", action));
      const std::size_t size = action == "copy" ? 3 : 4;
      transfer.list(size, size);
      const ChunkRef dst = read_chunk(transfer[1]), a = read_chunk(transfer[2]);
      const Transfer read =
          action == "copy" ? copy(dst, a) : reduce(dst, a, read_chunk(transfer[3]));
      transfer.check([&] { builder->add(read); });
    }
    builder->end_step();
  }
  return std::move(*builder).build();
}

using LaneNumbers = std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>;  // rank, id

LocalChunk read_local(const JsonValue& value, std::int32_t& count, bool first) {
  value.list(2, 3);
  const std::int32_t chunks = value.size() > 2 ? value[2].number(1) : 1;
  if (!first && chunks != count)
    value.fail(fmt::format("{} chunks, but another operand has {}", chunks, count));
  count = chunks;
  return {value[1].number(0), read_slot(value[0])};
}

void read_instruction(const JsonValue& value, const Lane& lane, const LaneNumbers& lanes,
                      ProgramParts& parts) {
  const std::string_view kind = value.list(1)[0].text();
  const auto* does = std::ranges::find(instruction_infos, kind, &InstructionInfo::name);
  if (does == std::end(instruction_infos)) {
    std::string names;
    for (const InstructionInfo& one : instruction_infos) (names += ' ') += one.name;
    value[0].fail(
        fmt::format("there is no instruction '{:.60}'; instructions are:{}", kind, names));
  }
  const std::size_t operands = static_cast<std::size_t>(does->writes) + does->reads_a +
                               does->reads_b + does->combines_message();
  value.list(1 + operands, 2 + operands);
  Instruction i{.kind = does->kind};
  std::size_t next = 1;
  const auto operand = [&](LocalChunk& chunk, bool first) {
    chunk = read_local(value[next++], i.count, first);
  };
  if (does->writes) operand(i.dst, true);
  if (does->combines_message()) {
    i.own_left = !value[next].is_text();
    const JsonValue message = value[next + i.own_left];
    if (!message.is_text() || message.text() != "message")
      message.fail("one of the two operands is \"message\"");
    next += !i.own_left;
  }
  if (does->reads_a) operand(i.a, !does->writes);
  next += i.own_left;
  if (does->reads_b) operand(i.b, false);

  std::vector<Place> waits;
  if (next < value.size()) {
    const JsonValue list = value[next];
    for (std::size_t w = 0; w < list.list().size(); ++w) {
      const JsonValue wait = list[w];
      wait.list(2, 2);
      const auto found = lanes.find({lane.rank, wait[0].number(0)});
      if (found == lanes.end())
        wait.fail(fmt::format("rank {} has no lane {}", lane.rank, wait[0].number(0)));
      waits.push_back({found->second, wait[1].number(0)});
    }
  }
  parts.add(i, waits);
}

Program read_program(const JsonValue& top, std::size_t bytes) {
  top.object({"vranks", "version", "collective", "ranks", "root", "sources", "chunks",
              "scratch_chunks", "lanes"});
  ProgramParts parts;
  parts.shape = read_shape(top, bytes);
  const JsonValue list = top.key("lanes");
  std::vector<Lane> lanes;
  LaneNumbers numbers;
  for (std::size_t l = 0; l < list.list().size(); ++l) {
    const JsonValue value = list[l];
    value.object({"rank", "id", "send_to", "receive_from", "channel", "instructions"});
    const std::int32_t last = parts.shape.ranks - 1;
    Lane lane{.rank = value.key("rank").number(0, last), .id = value.key("id").number(0)};
    if (value.has("send_to")) lane.send_to = value.key("send_to").number(0, last);
    if (value.has("receive_from")) lane.receive_from = value.key("receive_from").number(0, last);
    if (value.has("channel")) lane.channel = value.key("channel").number(0);
    numbers.try_emplace({lane.rank, lane.id}, static_cast<std::int32_t>(l));
    lanes.push_back(lane);
  }
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    parts.add(lanes[l]);
    const JsonValue lane = list[l];
    const JsonValue instructions = lane.key("instructions");
    for (std::size_t i = 0; i < instructions.list().size(); ++i)
      read_instruction(instructions[i], lanes[l], numbers, parts);
  }
  std::optional<Program> program;
  list.check([&] { program.emplace(std::move(parts)); });
  return std::move(*program);
}

std::variant<Schedule, Program> read(std::string_view text) {
  const nlohmann::json document = parse_document(text);
  const JsonValue top(document);
  if (!document.is_object()) top.fail("an object is needed");
  const std::string_view kind = top.key("vranks").text();
  if (kind == "schedule") return read_schedule(top, text.size());
  if (kind == "program") return read_program(top, text.size());
  top.key("vranks").fail(fmt::format("\"schedule\" or \"program\" is needed, not '{:.60}'", kind));
}

}  // namespace

std::variant<Schedule, Program> parse_json(std::string_view text, std::string_view name) {
  try {
    return read(text);
  } catch (const BadJson& bad) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: {}", name, bad.message));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::not_available,
                fmt::format("{}: no memory for {} bytes of JSON", name, text.size()));
  }
}

}  // namespace vranks
