// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "collectives/interpreters/access_log.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

LocalChunk local(const ChunkRef& ref) { return {ref.index, ref.slot}; }

// Two ranks of which one sends to the other.
struct Link {
  std::int32_t source, destination;
  std::int32_t messages = 0;
  std::int32_t before_step = 0;  // messages of the steps before the one at hand
  std::int32_t step = -1;        // that one
  std::int32_t send_lane = -1, receive_lane = -1;
};

class Links {
 public:
  explicit Links(std::int32_t ranks) : latest_(static_cast<std::size_t>(ranks), -1) {}

  Link& operator()(std::int32_t source, std::int32_t destination) {
    std::int32_t& latest = latest_[static_cast<std::size_t>(source)];
    if (latest < 0 || all[static_cast<std::size_t>(latest)].destination != destination) {
      const auto key =
          (static_cast<std::uint64_t>(source) << 32) | static_cast<std::uint32_t>(destination);
      const auto [at, is_new] = numbers_.try_emplace(key, static_cast<std::int32_t>(all.size()));
      if (is_new) all.push_back({source, destination});
      latest = at->second;
    }
    return all[static_cast<std::size_t>(latest)];
  }

  std::vector<Link> all;

 private:
  std::unordered_map<std::uint64_t, std::int32_t> numbers_;
  std::vector<std::int32_t> latest_;  // of each source: most ranks send to the same one again
};

// An operand of transfer number `transfer` (over all steps) that is read from a copy.
struct Save {
  std::int64_t transfer;
  bool is_a, is_b;
  ChunkRef from, to;
};

// What a rank does in the last step in which it does anything, and in the one before.
struct Turn {
  std::int32_t step = -1;
  std::vector<Place> places, before;
};

class Lowering {
 public:
  Lowering(const Schedule& schedule, bool takes_turns, const std::optional<Symmetry>& symmetry)
      : schedule_(schedule),
        leaders_(symmetry ? symmetry->step : schedule.shape().ranks),
        turns_(takes_turns ? static_cast<std::size_t>(schedule.shape().ranks) : 0),
        links_(schedule.shape().ranks),
        local_sizes_(static_cast<std::size_t>(schedule.shape().ranks)),
        local_lanes_(local_sizes_.size(), -1) {
    parts_.symmetry = symmetry;
  }

  Program run() && {
    parts_.shape = schedule_.shape();
    plan();
    make_lanes();
    AccessLog log(parts_.shape);
    log_ = &log;
    std::int64_t begin = 0;  // of the step: number of its first transfer
    auto saves = saves_.cbegin();
    for (std::size_t step = 0; step < schedule_.steps(); ++step) {
      step_ = static_cast<std::int32_t>(step);
      auto behind = saves;
      for (; behind != saves_.cend() && behind->transfer < begin + step_sizes_[step]; ++behind)
        emit(local_lanes_[static_cast<std::size_t>(behind->to.rank)],
             {.kind = InstructionKind::copy,
              .count = behind->to.count,
              .a = local(behind->from),
              .dst = local(behind->to)});
      // Sends first: they only read.
      for_each_saved(step, begin, saves, [&](const Transfer& t) {
        if (t.is_message() && leads(t.source())) emit_send(t);
      });
      for_each_saved(step, begin, saves, [&](const Transfer& t) {
        if (leads(t.dst.rank)) emit_write(t);
      });
      begin += step_sizes_[step];
      saves = behind;
    }
    sort_waits();
    return Program(std::move(parts_));
  }

 private:
  // Whether the program has that rank's lanes.
  bool leads(std::int32_t rank) const { return rank < leaders_; }

  // The transfers of a step, reading copies where they have to.
  template <class F>
  void for_each_saved(std::size_t step, std::int64_t number, std::vector<Save>::const_iterator save,
                      F&& f) const {
    schedule_.for_each(step, [&](const Transfer& t) {
      if (save == saves_.cend() || save->transfer != number++) return f(t);
      Transfer changed = t;
      for (; save != saves_.cend() && save->transfer == number - 1; ++save) {
        if (save->is_a) changed.a = save->to;
        if (save->is_b) changed.b = save->to;
      }
      f(changed);
    });
  }

  // Counts what the lanes will hold and finds what has to be saved. A write waits for the reads
  // that its step makes of the same chunk; so that no circle comes of it, operations are ordered:
  // message k of a step on its link before message k + 1, operations of a rank alone behind all
  // messages, and otherwise as they stand in the step. A read that comes behind the write gets a
  // copy.
  void plan() {
    constexpr std::int32_t alone = INT32_MAX;
    struct Writer {
      std::int32_t step = -1, position = 0;
      std::int64_t transfer = 0;
    };
    const WritableChunks chunks(schedule_.shape());
    std::vector<Writer> writers(chunks.size());
    std::vector<std::int32_t> positions;  // of the transfers of a step
    std::vector<std::int32_t> saved;      // chunks, by rank
    std::int64_t begin = 0;
    for (std::size_t s = 0; s < schedule_.steps(); ++s) {
      const auto step = static_cast<std::int32_t>(s);
      positions.clear();
      schedule_.for_each(s, [&](const Transfer& t) {
        std::int32_t position = alone;
        if (!leads(t.dst.rank) && !(t.is_message() && leads(t.source()))) {
          // Of no rank that leads.
        } else if (t.is_message()) {
          Link& link = links_(t.source(), t.dst.rank);
          if (link.step != step) link.before_step = link.messages;
          link.step = step;
          position = link.messages++ - link.before_step;
        } else {
          ++local_sizes_[static_cast<std::size_t>(t.dst.rank)];
        }
        const std::int64_t transfer = begin + static_cast<std::int64_t>(positions.size());
        std::fill_n(&writers[chunks.number(t.dst)], t.dst.count, Writer{step, position, transfer});
        positions.push_back(position);
      });
      std::int64_t transfer = begin;
      saved.clear();
      schedule_.for_each(s, [&](const Transfer& t) {
        const std::int32_t position = positions[static_cast<std::size_t>(transfer - begin)];
        const auto is_late = [&](const ChunkRef& ref) {
          if (ref.slot == Slot::input || !leads(ref.rank)) return false;
          const bool is_sent = ref.rank != t.dst.rank;
          const Writer* first = &writers[chunks.number(ref)];
          return std::any_of(first, first + ref.count, [&](const Writer& writer) {
            return writer.step == step &&
                   (position > writer.position || (!is_sent && transfer > writer.transfer));
          });
        };
        if (is_late(t.a)) save(transfer, t.a, true, t.b == t.a, saved);
        if (t.b != t.a && is_late(t.b)) save(transfer, t.b, false, true, saved);
        ++transfer;
      });
      step_sizes_.push_back(transfer - begin);
      begin = transfer;
    }
  }

  void save(std::int64_t transfer, const ChunkRef& from, bool is_a, bool is_b,
            std::vector<std::int32_t>& saved) {
    saved.resize(static_cast<std::size_t>(schedule_.shape().ranks));
    std::int32_t& used = saved[static_cast<std::size_t>(from.rank)];
    const std::int32_t first = schedule_.shape().scratch_chunks + used;
    used += from.count;
    parts_.shape.scratch_chunks = std::max(parts_.shape.scratch_chunks, first + from.count);
    saves_.push_back({transfer, is_a, is_b, from, scratch(from.rank, first, from.count)});
    ++local_sizes_[static_cast<std::size_t>(from.rank)];
  }

  // Lanes of a rank: what it does alone, then by the other rank, sending before receiving.
  void make_lanes() {
    struct Wanted {
      std::int32_t rank, peer;
      bool receives;
      std::int32_t size;
      std::int32_t* lane;
    };
    std::vector<Wanted> wanted;
    for (std::size_t r = 0; r < local_sizes_.size(); ++r)
      if (local_sizes_[r] > 0)
        wanted.push_back(
            {static_cast<std::int32_t>(r), no_rank, false, local_sizes_[r], &local_lanes_[r]});
    for (Link& link : links_.all) {
      if (leads(link.source))
        wanted.push_back({link.source, link.destination, false, link.messages, &link.send_lane});
      if (leads(link.destination))
        wanted.push_back({link.destination, link.source, true, link.messages, &link.receive_lane});
    }
    std::ranges::sort(wanted, {},
                      [](const Wanted& w) { return std::tuple(w.rank, w.peer, w.receives); });
    std::int64_t end = 0;
    std::int32_t id = 0, rank = -1;
    for (const Wanted& lane : wanted) {
      id = lane.rank == rank ? id + 1 : 0;
      rank = lane.rank;
      *lane.lane = static_cast<std::int32_t>(parts_.lanes.size());
      next_.push_back(static_cast<std::int32_t>(end));
      end += lane.size;
      if (end > INT32_MAX)
        throw Error(ErrorKind::not_supported,
                    fmt::format("{} transfers over {} ranks make more than 2^31 instructions",
                                schedule_.transfers(), schedule_.shape().ranks));
      parts_.lanes.push_back({.rank = rank,
                              .id = id,
                              .send_to = lane.receives ? no_rank : lane.peer,
                              .receive_from = lane.receives ? lane.peer : no_rank});
      parts_.lane_ends.push_back(static_cast<std::int32_t>(end));
    }
    parts_.instructions.resize(static_cast<std::size_t>(end));
    begins_ = next_;
    waits_.reserve(static_cast<std::size_t>(end));
  }

  void emit_send(const Transfer& t) {
    const Link& link = links_(t.source(), t.dst.rank);
    const ChunkRef& sent = t.a.rank != t.dst.rank ? t.a : t.b;
    emit(link.send_lane, {.kind = InstructionKind::send, .count = sent.count, .a = local(sent)});
  }

  void emit_write(const Transfer& t) {
    Instruction i{.kind = InstructionKind::recv, .count = t.dst.count, .dst = local(t.dst)};
    if (!t.is_message()) {
      i.kind = t.action == Action::copy ? InstructionKind::copy : InstructionKind::reduce;
      i.a = local(t.a);
      if (t.action == Action::reduce) i.b = local(t.b);
      return emit(local_lanes_[static_cast<std::size_t>(t.dst.rank)], i);
    }
    if (t.action == Action::reduce) {
      i.kind = InstructionKind::recv_reduce;
      i.own_left = t.a.rank == t.dst.rank;
      i.a = local(i.own_left ? t.a : t.b);
    }
    emit(links_(t.source(), t.dst.rank).receive_lane, i);
  }

  void emit(std::int32_t lane, const Instruction& instruction) {
    std::int32_t& next = next_[static_cast<std::size_t>(lane)];
    const Place here{lane, next - begins_[static_cast<std::size_t>(lane)]};
    parts_.instructions[static_cast<std::size_t>(next)] = instruction;
    const InstructionInfo& does = info(instruction.kind);
    const std::int32_t rank = parts_.lanes[static_cast<std::size_t>(lane)].rank;
    const auto ref = [&](const LocalChunk& chunk) {
      return ChunkRef{rank, chunk.index, instruction.count, chunk.slot};
    };
    const auto after = [&](const Place& earlier, std::size_t, bool) { after_.push_back(earlier); };
    if (does.reads_a) log_->read(ref(instruction.a), here, after);
    if (does.reads_b) log_->read(ref(instruction.b), here, after);
    if (does.writes) log_->write(ref(instruction.dst), here, after);
    if (!turns_.empty()) take_turn(turns_[static_cast<std::size_t>(rank)], here);
    if (after_.size() > 1) std::ranges::sort(after_);
    // Of each lane the latest is enough.
    for (std::size_t i = 0; i < after_.size(); ++i)
      if (i + 1 == after_.size() || after_[i + 1].lane != after_[i].lane)
        waits_.push_back({next, after_[i]});
    after_.clear();
    ++next;
  }

  // The instruction waits for the rank's turn before this step, and belongs to that of this step.
  void take_turn(Turn& turn, const Place& here) {
    if (turn.step != step_) {
      turn.before.swap(turn.places);
      turn.places.clear();
      turn.step = step_;
    }
    for (const Place& place : turn.before)
      if (place.lane != here.lane) after_.push_back(place);
    turn.places.push_back(here);
  }

  void sort_waits() {
    parts_.wait_ends.assign(parts_.instructions.size(), 0);
    for (const auto& [number, wait] : waits_) ++parts_.wait_ends[static_cast<std::size_t>(number)];
    std::uint32_t begin = 0;  // first as begins; placing the waits makes ends of them
    for (std::uint32_t& end : parts_.wait_ends) begin += std::exchange(end, begin);
    parts_.waits.resize(waits_.size());
    for (const auto& [number, wait] : waits_)
      parts_.waits[parts_.wait_ends[static_cast<std::size_t>(number)]++] = wait;
    waits_ = {};
  }

  const Schedule& schedule_;
  const std::int32_t leaders_;  // the first ranks
  std::vector<Turn> turns_;     // by rank, if ranks take turns
  std::int32_t step_ = 0;
  ProgramParts parts_;
  AccessLog* log_ = nullptr;
  Links links_;
  std::vector<std::int64_t> step_sizes_;
  std::vector<std::int32_t> local_sizes_, local_lanes_;  // by rank
  std::vector<Save> saves_;
  std::vector<std::int32_t> begins_, next_;            // by lane: numbers of instructions
  std::vector<std::pair<std::int32_t, Place>> waits_;  // by number of instruction
  std::vector<Place> after_;                           // of the instruction at hand
};

}  // namespace

Program lower(const Schedule& schedule, bool takes_turns, const std::optional<Symmetry>& symmetry) {
  try {
    return Lowering(schedule, takes_turns, symmetry).run();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::not_available,
                fmt::format("no memory for a program of {} transfers over {} ranks",
                            schedule.transfers(), schedule.shape().ranks));
  }
}

}  // namespace vranks
