// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/execute_program.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "collectives/interpreters/message_chunks.hpp"
#include "collectives/interpreters/program_pieces.hpp"
#include "collectives/interpreters/rank_memory.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// Messages that a lane asks for before it can use them.
constexpr std::size_t receives_ahead = 4;
// What one packet of every lane may take together: pieces are smaller where lanes are many. A lane
// may have several under way, and sends all that it can at once.
constexpr std::int64_t packet_memory = std::int64_t{256} << 20;
constexpr std::int64_t smallest_piece_bytes = 4096;

// All processes have to come to the same number.
std::int64_t piece_elements(const Program& program, const Layout& layout, std::int64_t width,
                            std::int64_t piece_bytes) {
  const auto lanes = static_cast<std::int64_t>(std::max<std::size_t>(1, program.lanes().size()));
  const std::int64_t most = std::max(smallest_piece_bytes, packet_memory / lanes);
  return std::clamp<std::int64_t>(std::min(piece_bytes, most) / width, 1,
                                  std::max<std::int64_t>(1, RankMemory::longest_chunk(layout)));
}

// Memory of a piece, on the device and, where that isn't the host, on the host.
struct Packet {
  DeviceBuffer device;
  std::vector<std::byte> host;
  std::byte* data() const { return static_cast<std::byte*>(device.data()); }
};

}  // namespace

class ProgramRun::Machine {
 public:
  Machine(const Program& program, const Layout& layout, const Arithmetic& rules,
          const FoldRows& rows, Device device, const RankPlaces& places, Messages& messages,
          std::int64_t piece_bytes)
      : program_(program),
        chunks_(program, layout),
        memory_(program.shape(), layout, rules, rows, device, ranks_here(places)),
        device_(device),
        places_(places),
        messages_(messages),
        pieces_(program, layout, chunks_,
                piece_elements(program, layout, memory_.width(), piece_bytes)),
        lanes_(program.lanes().size()) {}

  void run(std::span<const std::byte> filling) {
    std::vector<std::int32_t> working;
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      const auto lane = static_cast<std::int32_t>(l);
      LaneState& state = lanes_[l];
      state.size = program_.lane_size(lane);
      if (!memory_.is_here(rank_of(lane)) || state.size == 0) continue;
      state.at = state.asked = pieces_.first(lane, 0);
      enter(lane);
      working.push_back(lane);
    }
    while (!working.empty() || !sent_.empty()) {
      bool is_progress = false;
      for (const std::int32_t lane : working)
        while (step(lane)) is_progress = true;
      std::erase_if(working,
                    [&](std::int32_t lane) { return state(lane).at.index == state(lane).size; });
      is_progress = retire_sent() || is_progress;
      if (!is_progress) messages_.wait();
    }
    memory_.finish(filling, [&](std::int32_t rank, std::int32_t index) {
      return chunks_.is_written(rank, index);
    });
  }

 private:
  using PacketPtr = std::unique_ptr<Packet>;
  struct Asked {
    Messages::Ticket ticket;
    PacketPtr packet;
    std::int64_t elements;
  };
  struct Deferred {
    PacketPtr packet;
    ChunkPlace place;
    std::int64_t begin, end;
  };
  struct LaneState {
    std::int32_t size = 0;        // instructions
    Piece at;                     // what comes next
    Piece asked;                  // the first message that isn't asked for
    std::deque<Asked> under_way;  // from another process
    std::deque<PacketPtr> mail;   // sent by this lane to one of this process
    std::vector<bool> piecewise;  // of each wait of the instruction: see enter()
    bool defers = false;          // writes nothing before all is read
    std::vector<Deferred> deferred;
  };

  LaneState& state(std::int32_t lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  std::int32_t rank_of(std::int32_t lane) const {
    return program_.lanes()[static_cast<std::size_t>(lane)].rank;
  }
  int process_of(std::int32_t rank) const {
    return places_.processes[static_cast<std::size_t>(rank)];
  }
  static std::vector<std::int32_t> ranks_here(const RankPlaces& places) {
    std::vector<std::int32_t> here;
    for (std::size_t r = 0; r < places.processes.size(); ++r)
      if (places.processes[r] == places.here) here.push_back(static_cast<std::int32_t>(r));
    return here;
  }
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements * memory_.width());
  }

  const Instruction& instruction(std::int32_t lane, const Piece& piece) const {
    return program_.instruction(pieces_.number(lane, piece));
  }

  // --- waits ---

  // What holds for all pieces of a lane's next instruction. One that waits for an instruction on
  // the same chunks can follow it piece by piece.
  void enter(std::int32_t lane) {
    LaneState& s = state(lane);
    if (s.at.index == s.size) return;
    const std::int32_t number = pieces_.number(lane, s.at);
    s.piecewise.clear();
    for (const Place& wait : program_.waits(number))
      s.piecewise.push_back(pieces_.can_follow(number, program_.number(wait)));
    s.defers = !pieces_.are_aligned(number, number);
  }
  bool is_ready(std::int32_t lane) {
    const LaneState& s = state(lane);
    const std::span<const Place> waits = program_.waits(pieces_.number(lane, s.at));
    for (std::size_t w = 0; w < waits.size(); ++w) {
      const LaneState& other = state(waits[w].lane);
      if (other.at.index > waits[w].index) continue;
      if (!s.piecewise[w] || other.at.index < waits[w].index || other.defers) return false;
      if (!other.at.is_behind(s.at)) return false;
    }
    return true;
  }

  // --- messages ---

  PacketPtr packet() {
    if (free_.empty())
      return std::make_unique<Packet>(DeviceBuffer(bytes(pieces_.most_elements()), device_),
                                      std::vector<std::byte>());
    PacketPtr packet = std::move(free_.back());
    free_.pop_back();
    return packet;
  }
  void give_back(PacketPtr packet) { free_.push_back(std::move(packet)); }

  // Where the bytes of a packet are sent from and arrive.
  std::span<std::byte> wire(Packet& packet, std::int64_t elements) {
    if (device_.kind == DeviceKind::cpu) return {packet.data(), bytes(elements)};
    packet.host.resize(bytes(pieces_.most_elements()));
    return std::span(packet.host).first(bytes(elements));
  }

  // Asks for the messages that come next.
  void ask(std::int32_t lane) {
    LaneState& s = state(lane);
    const std::int32_t sender = program_.sender(lane);
    if (sender < 0 || process_of(rank_of(sender)) == places_.here) return;
    while (s.asked.index < s.size && s.under_way.size() < receives_ahead) {
      if (info(instruction(lane, s.asked).kind).receives) {
        Asked one{0, packet(), s.asked.end - s.asked.begin};
        one.ticket =
            messages_.receive(process_of(rank_of(sender)), lane, wire(*one.packet, one.elements));
        s.under_way.push_back(std::move(one));
      }
      s.asked = pieces_.next(lane, s.asked);
    }
  }
  // The message of the lane's next piece, if it is there.
  PacketPtr take(std::int32_t lane) {
    const std::int32_t sender = program_.sender(lane);
    PacketPtr packet;
    if (process_of(rank_of(sender)) == places_.here) {
      std::deque<PacketPtr>& mail = state(sender).mail;
      if (mail.empty()) return nullptr;
      packet = std::move(mail.front());
      mail.pop_front();
      return packet;
    }
    ask(lane);
    std::deque<Asked>& under_way = state(lane).under_way;
    if (!messages_.done(under_way.front().ticket)) return nullptr;
    packet = std::move(under_way.front().packet);
    if (device_.kind != DeviceKind::cpu)
      packet->device.copy_from_host(packet->host.data(), bytes(under_way.front().elements));
    under_way.pop_front();
    ask(lane);
    return packet;
  }
  void send(std::int32_t lane, PacketPtr packet, std::int64_t elements) {
    const std::int32_t receiver = program_.receiver(lane);
    const int process = process_of(rank_of(receiver));
    if (process == places_.here) {
      state(lane).mail.push_back(std::move(packet));
      return;
    }
    const std::span<std::byte> bytes_sent = wire(*packet, elements);
    if (device_.kind != DeviceKind::cpu)
      packet->device.copy_to_host(bytes_sent.data(), bytes_sent.size());
    const Messages::Ticket ticket = messages_.send(process, receiver, bytes_sent);
    sent_.emplace_back(ticket, std::move(packet));
  }
  // Whether any message has left.
  bool retire_sent() {
    const std::size_t before = sent_.size();
    std::erase_if(sent_, [&](auto& each) {
      if (!messages_.done(each.first)) return false;
      give_back(std::move(each.second));
      return true;
    });
    return sent_.size() < before;
  }

  // --- arithmetic ---

  static HopOperand contents(const Packet& packet, std::int64_t elements) {
    return {.message = packet.data(), .stretches = {{0, elements, 0}}};
  }

  // The lane's next piece, if all that it needs is there.
  bool step(std::int32_t lane) {
    LaneState& s = state(lane);
    if (s.at.index == s.size) return false;
    ask(lane);
    if (!is_ready(lane)) return false;
    const Instruction& i = instruction(lane, s.at);
    const InstructionInfo& does = info(i.kind);
    PacketPtr message;
    if (does.receives && !(message = take(lane))) return false;
    if (i.kind != InstructionKind::nop) compute(lane, i, std::move(message));
    const std::int32_t before = s.at.index;
    s.at = pieces_.next(lane, s.at);
    if (s.at.index != before) {
      write_deferred(s);
      enter(lane);
    }
    return true;
  }

  void compute(std::int32_t lane, const Instruction& i, PacketPtr message) {
    LaneState& s = state(lane);
    const Piece& piece = s.at;
    const InstructionInfo& does = info(i.kind);
    const std::int32_t rank = rank_of(lane);
    const std::int64_t elements = piece.end - piece.begin;
    const MessageChunks::Chunks& chunks = chunks_.of(pieces_.number(lane, piece), piece.k);
    const auto place = [&](const LocalChunk& chunk, std::int32_t whole) {
      return ChunkPlace{rank, chunk.slot, chunk.index + piece.k, whole};
    };
    const auto operand = [&](const LocalChunk& chunk, std::int32_t whole) {
      return memory_.operand(place(chunk, whole), piece.begin, piece.end);
    };
    HopOperand a, b;
    if (does.reads_a) a = operand(i.a, chunks.a);
    if (does.reads_b) b = operand(i.b, chunks.b);
    ChunkPlace dst;
    if (does.writes) {
      dst = place(i.dst, chunks.result);
      if (dst.slot == Slot::output)
        dst.whole = program_.shape().whole_chunk(rank, Slot::output, dst.index);
    }

    // A result that is sent lies in a packet; others where they belong, unless that is an operand.
    std::vector<Hop> hops;
    PacketPtr result;
    std::byte* to = nullptr;
    const bool is_combined = does.combines_message() || does.reads_b;
    const bool is_passed_on = does.receives && !is_combined;
    if (is_passed_on) {
      result = std::move(message);
    } else {
      const auto is_operand = [&](bool reads, const LocalChunk& chunk) {
        return reads && chunk.slot == dst.slot && chunk.index + piece.k == dst.index;
      };
      std::vector<Stretch> direct;
      if (does.writes && !does.sends && !s.defers && !is_operand(does.reads_a, i.a) &&
          !is_operand(does.reads_b, i.b))
        direct = memory_.stretches(dst, piece.begin, piece.end);
      if (direct.size() == 1) {
        to = memory_.at(rank, dst.slot, direct[0].at);
      } else {
        result = packet();
        to = result->data();
      }
      if (does.combines_message()) {
        const HopOperand received = contents(*message, elements);
        const std::uint8_t own = !a.is_leaf() ? 0 : i.own_left ? 1 : 2;
        memory_.add_combines(hops, i.own_left ? a : received, i.own_left ? received : a, own, to);
      } else if (does.reads_b) {
        memory_.add_combines(hops, a, b, b.is_leaf() ? 2 : a.is_leaf() ? 1 : 0, to);
      } else {
        memory_.add_moves(hops, a, to);
      }
      memory_.run(hops);
      if (message) give_back(std::move(message));
    }
    if (!result) return;
    if (does.writes && !s.defers) {
      hops.clear();
      memory_.add_moves(hops, result->data(), dst, piece.begin, piece.end);
      memory_.run(hops);
    }
    if (does.sends && does.writes && s.defers) {
      PacketPtr kept = packet();
      hops.clear();
      memory_.add_moves(hops, contents(*result, elements), kept->data());
      memory_.run(hops);
      s.deferred.push_back({std::move(kept), dst, piece.begin, piece.end});
    } else if (does.writes && s.defers) {
      s.deferred.push_back({std::move(result), dst, piece.begin, piece.end});
      return;
    }
    if (does.sends)
      send(lane, std::move(result), elements);
    else
      give_back(std::move(result));
  }

  void write_deferred(LaneState& s) {
    std::vector<Hop> hops;
    for (const Deferred& each : s.deferred)
      memory_.add_moves(hops, each.packet->data(), each.place, each.begin, each.end);
    memory_.run(hops);
    for (Deferred& each : s.deferred) give_back(std::move(each.packet));
    s.deferred.clear();
  }

  const Program& program_;
  MessageChunks chunks_;
  RankMemory memory_;
  Device device_;
  const RankPlaces& places_;
  Messages& messages_;
  ProgramPieces pieces_;
  std::vector<LaneState> lanes_;
  std::vector<std::pair<Messages::Ticket, PacketPtr>> sent_;  // not yet gone
  std::vector<PacketPtr> free_;
};

ProgramRun::ProgramRun(const Program& program, const Layout& layout, const Arithmetic& rules,
                       const FoldRows& rows, Device device, const RankPlaces& places,
                       Messages& messages, std::int64_t piece_bytes)
    : machine_(std::make_unique<Machine>(program, layout, rules, rows, device, places, messages,
                                         piece_bytes)) {}
ProgramRun::~ProgramRun() = default;

void ProgramRun::run(std::span<const std::byte> filling) { machine_->run(filling); }

}  // namespace vranks
