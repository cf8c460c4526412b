// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/linearize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <tuple>

#include "collectives/interpreters/access_log.hpp"
#include "collectives/interpreters/verify.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// What a message holds: the chunks of `source` as they were when it was sent.
struct Message {
  // How often a chunk had been written, and the first step that sees it like that.
  struct Seen {
    std::int32_t writes, ready;
  };
  ChunkRef source;
  std::int32_t ready = 0;  // the first step that can read all of it, if nothing is written any more
  std::vector<Seen> seen = {};  // by chunk; empty if nothing is ever written any more
};

struct Placed {
  std::int32_t step;
  Transfer transfer;
};

class Linearization {
 public:
  explicit Linearization(const Program& program)
      : program_(program),
        chunks_(program.shape()),
        states_(chunks_.size()),
        mail_(program.lanes().size()),
        shape_(program.shape()),
        scratch_used_(static_cast<std::size_t>(shape_.ranks), shape_.scratch_chunks) {}

  Schedule run(const std::vector<Place>& order) && {
    for (const Place& place : order) take(place);
    shape_.scratch_chunks =
        std::max(shape_.scratch_chunks, *std::ranges::max_element(scratch_used_));
    // One order for all orders of lanes; and neighbours make the schedule short.
    std::ranges::stable_sort(placed_, {}, [](const Placed& p) {
      const ChunkRef& dst = p.transfer.dst;
      return std::tuple(p.step, dst.slot, dst.rank, dst.index);
    });
    ScheduleBuilder builder(shape_);
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      if (i > 0 && placed_[i].step != placed_[i - 1].step) builder.end_step();
      builder.add(placed_[i].transfer);
    }
    builder.end_step();
    return std::move(builder).build();
  }

 private:
  struct ChunkState {
    std::int32_t writes = 0;       // how often it was written
    std::int32_t written_in = -1;  // step of the last write
    std::int32_t read_in = -1;     // latest step that reads it
  };

  // Calls f(state, k) for each chunk. An input is never written: it has no state. Additional
  // scratch chunks lie behind all others and are written once.
  template <class F>
  void for_each_state(const ChunkRef& ref, F&& f) {
    if (ref.slot == Slot::input || is_additional(ref)) return;
    const std::size_t first = chunks_.number(ref);
    for (std::size_t k = 0; k < static_cast<std::size_t>(ref.count); ++k) f(states_[first + k], k);
  }
  bool is_additional(const ChunkRef& ref) const {
    return ref.slot == Slot::scratch && ref.index >= program_.shape().scratch_chunks;
  }

  ChunkRef new_scratch(std::int32_t rank, std::int32_t count) {
    std::int32_t& used = scratch_used_[static_cast<std::size_t>(rank)];
    if (used > INT32_MAX - count)
      throw Error(ErrorKind::not_supported,
                  fmt::format("rank {} would need more than 2^31 scratch chunks", rank));
    used += count;
    return scratch(rank, used - count, count);
  }

  // The first step that sees the present state of those chunks.
  std::int32_t ready(const ChunkRef& ref) {
    std::int32_t step = 0;
    for_each_state(ref, [&](const ChunkState& state, std::size_t) {
      step = std::max(step, state.written_in + 1);
    });
    return step;
  }

  Message message_of(const ChunkRef& source, std::int32_t ready) {
    Message message{source, ready};
    for_each_state(source, [&](const ChunkState& state, std::size_t) {
      message.seen.push_back({state.writes, state.written_in + 1});
    });
    return message;
  }

  // The last step that still sees what the message holds; -1 if that can't be said.
  std::int32_t last_step(const Message& message) {
    std::int32_t last = unlimited_depth;
    for_each_state(message.source, [&](const ChunkState& state, std::size_t k) {
      const std::int32_t since = state.writes - message.seen[k].writes;
      if (since > 0) last = std::min(last, since == 1 ? state.written_in : -1);
    });
    return last;
  }

  // Where the message can be read at `step`, which may have to grow: its source, or a copy. Chunk
  // by chunk, since one may have been overwritten before another one was there.
  ChunkRef readable(const Message& message, std::int32_t rank, std::int32_t& step) {
    step = std::max(step, message.ready);
    if (step <= last_step(message)) return message.source;
    const ChunkRef kept = new_scratch(rank, message.source.count);
    for (std::int32_t k = 0; k < kept.count; ++k) {
      const ChunkRef& from = message.source;
      place(message.seen[static_cast<std::size_t>(k)].ready,
            copy(scratch(rank, kept.index + k), {from.rank, from.index + k, 1, from.slot}));
    }
    step = std::max(step, message.ready + 1);
    return kept;
  }

  void place(std::int32_t step, const Transfer& transfer) {
    for (const ChunkRef& ref : {transfer.a, transfer.b})
      for_each_state(ref, [&](ChunkState& state, std::size_t) {
        state.read_in = std::max(state.read_in, step);
      });
    for_each_state(transfer.dst, [&](ChunkState& state, std::size_t) {
      ++state.writes;
      state.written_in = step;
    });
    placed_.push_back({step, transfer});
  }

  void take(const Place& at) {
    const Instruction& i = program_.instruction(program_.number(at));
    const InstructionInfo& does = info(i.kind);
    const auto chunk = [&](const LocalChunk& local) {
      return program_.chunk(at.lane, local, i.count);
    };
    auto& sent = mail_[static_cast<std::size_t>(at.lane)];
    if (i.kind == InstructionKind::nop) return;
    if (i.kind == InstructionKind::send) {
      sent.push_back(message_of(chunk(i.a), ready(chunk(i.a))));
      return;
    }

    const std::int32_t rank = program_.lanes()[static_cast<std::size_t>(at.lane)].rank;
    const ChunkRef dst = does.writes ? chunk(i.dst) : new_scratch(rank, i.count);
    std::int32_t step = 0;
    for_each_state(dst, [&](const ChunkState& state, std::size_t) {
      step = std::max({step, state.written_in + 1, state.read_in});
    });
    if (does.reads_a) step = std::max(step, ready(chunk(i.a)));
    if (does.reads_b) step = std::max(step, ready(chunk(i.b)));
    Transfer transfer;
    if (does.receives) {
      auto& received = mail_[static_cast<std::size_t>(program_.sender(at.lane))];
      const ChunkRef from = readable(received.front(), rank, step);
      received.pop_front();
      transfer = !does.reads_a ? copy(dst, from)
                 : i.own_left  ? reduce(dst, chunk(i.a), from)
                               : reduce(dst, from, chunk(i.a));
    } else {
      transfer = does.reads_b ? reduce(dst, chunk(i.a), chunk(i.b)) : copy(dst, chunk(i.a));
    }
    place(step, transfer);
    if (does.sends) sent.push_back(message_of(dst, step + 1));
  }

  const Program& program_;
  WritableChunks chunks_;
  std::vector<ChunkState> states_;
  std::vector<std::deque<Message>> mail_;  // by sending lane
  ScheduleShape shape_;
  std::vector<std::int32_t> scratch_used_;  // by rank
  std::vector<Placed> placed_;
};

}  // namespace

Schedule linearize(const Program& program, std::int32_t depth) {
  const Findings findings = verify_order(program, depth);
  if (!findings.none()) {
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, findings.list.size()); ++i)
      list += "\n  " + to_string(findings.list[i]);
    throw Error(ErrorKind::bad_argument,
                fmt::format("a program that may block or race has no schedule; {} found:{}",
                            findings.total, list));
  }
  return Linearization(program).run(progress(program, unlimited_depth).order);
}

}  // namespace vranks
