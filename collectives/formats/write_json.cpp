// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One transfer or instruction a line: files can be read, compared and searched.
#include <fmt/format.h>

#include <iterator>

#include "collectives/formats/json.hpp"

namespace vranks {

namespace {

class Writer {
 public:
  template <class... T>
  void put(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
  }

  void shape(std::string_view kind, const ScheduleShape& shape) {
    put("{{\"vranks\": \"{}\", \"version\": 1,\n \"collective\": \"{}\", \"ranks\": {}, \"root\": "
        "{}, "
        "\"chunks\": {}, \"scratch_chunks\": {},\n",
        kind, name(shape.collective), shape.ranks, shape.root, shape.chunks, shape.scratch_chunks);
    if (!shape.sources.empty()) put(" \"sources\": [{}],\n", fmt::join(shape.sources, ", "));
  }

  void chunk(const ChunkRef& ref) {
    put(", [{}, \"{}\", {}", ref.rank, name(ref.slot), ref.index);
    close(ref.count);
  }
  void chunk(const LocalChunk& chunk, std::int32_t count) {
    put(", [\"{}\", {}", name(chunk.slot), chunk.index);
    close(count);
  }

  std::string text() const { return fmt::to_string(text_); }

 private:
  void close(std::int32_t count) {
    if (count == 1)
      put("]");
    else
      put(", {}]", count);
  }

  fmt::memory_buffer text_;
};

}  // namespace

std::string to_json(const Schedule& schedule) {
  Writer writer;
  writer.shape("schedule", schedule.shape());
  writer.put(" \"steps\": [");
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    writer.put("{}\n  [", step == 0 ? "" : ",");
    bool first = true;
    schedule.for_each(step, [&](const Transfer& t) {
      writer.put("{}[\"{}\"", first ? "" : ",\n   ", t.action == Action::copy ? "copy" : "reduce");
      first = false;
      writer.chunk(t.dst);
      writer.chunk(t.a);
      if (t.action == Action::reduce) writer.chunk(t.b);
      writer.put("]");
    });
    writer.put("]");
  }
  writer.put("]}}\n");
  return writer.text();
}

std::string to_json(const Program& program) {
  Writer writer;
  writer.shape("program", program.shape());
  writer.put(" \"lanes\": [");
  const auto lanes = static_cast<std::int32_t>(program.lanes().size());
  for (std::int32_t l = 0; l < lanes; ++l) {
    const Lane& lane = program.lanes()[static_cast<std::size_t>(l)];
    writer.put("{}\n  {{\"rank\": {}, \"id\": {}", l == 0 ? "" : ",", lane.rank, lane.id);
    if (lane.send_to != no_rank) writer.put(", \"send_to\": {}", lane.send_to);
    if (lane.receive_from != no_rank) writer.put(", \"receive_from\": {}", lane.receive_from);
    writer.put(", \"channel\": {},\n   \"instructions\": [", lane.channel);
    const std::int32_t begin = program.lane_begin(l);
    for (std::int32_t n = begin; n < begin + program.lane_size(l); ++n) {
      const Instruction& i = program.instruction(n);
      const InstructionInfo& does = info(i.kind);
      writer.put("{}[\"{}\"", n == begin ? "" : ",\n    ", does.name);
      if (does.writes) writer.chunk(i.dst, i.count);
      if (does.combines_message() && !i.own_left) writer.put(", \"message\"");
      if (does.reads_a) writer.chunk(i.a, i.count);
      if (does.combines_message() && i.own_left) writer.put(", \"message\"");
      if (does.reads_b) writer.chunk(i.b, i.count);
      const auto waits = program.waits(n);
      for (std::size_t w = 0; w < waits.size(); ++w)
        writer.put("{}[{}, {}]", w == 0 ? ", [" : ", ",
                   program.lanes()[static_cast<std::size_t>(waits[w].lane)].id, waits[w].index);
      writer.put("{}]", waits.empty() ? "" : "]");
    }
    writer.put("]}}");
  }
  writer.put("]}}\n");
  return writer.text();
}

}  // namespace vranks
