// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The event loop behind simulate(): lanes that go through their instructions piece by piece, and
// wait for one another, for messages and for room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/event_queue.hpp"
#include "simulator/fair_share.hpp"
#include "simulator/mailboxes.hpp"
#include "simulator/placed_program.hpp"
#include "simulator/simulate.hpp"

namespace vranks {

class Engine {
 public:
  Engine(const SizedProgram& program, const Topology& topology, const MessageCosts& costs,
         const SimulationOptions& options);

  Timeline run() &&;

 private:
  // Where a lane is within a piece.
  enum class Phase : std::uint8_t {
    wait,      // for instructions of other lanes
    receive,   // for the message
    work,      // combines or copies
    send,      // for room, then for its rank's core
    transmit,  // begins to send
    on_links,  // sends, over links that it shares
    sent,
    done,  // with all instructions of all windows
  };
  enum class Block : std::uint8_t { none, lane, message, room };
  struct LaneState {
    std::int32_t rank = 0, size = 0, begin = 0;
    std::int32_t sender = -1, receiver = -1;  // lanes
    // where it is
    std::int32_t window = 0, index = 0;
    std::int64_t piece = 0, pieces = 1;
    SizedProgram::Op op = {};
    std::int64_t bytes = 0;  // of the instruction
    Phase phase = Phase::wait;
    Block block = Block::none;
    std::uint32_t version = 0;                    // of its end on the links
    std::int32_t waiters = -1, next_waiter = -1;  // lanes that wait for this one
    std::int32_t first_awaited = 0;               // the first instruction that one waits for
    std::int64_t sent = 0, taken = 0;             // pieces
    // what is kept of it
    double phase_begin = 0;
    std::int32_t last_event = -1, cause = -1;
  };

  LaneState& lane(std::int32_t number) { return lanes_[static_cast<std::size_t>(number)]; }
  void make_lanes();

  void handle(std::uint64_t event);
  void advance(std::int32_t number);
  // Takes up the next instruction. Returns false if there is none.
  bool load(LaneState& l);
  // Whether the window has no part of what the instruction is about.
  static bool is_left_out(const LaneState& l) { return l.bytes == 0 && l.window > 0; }
  // Each says whether the lane can go on now.
  bool pass_waits(std::int32_t number);
  bool take_message(std::int32_t number);
  bool do_work(std::int32_t number);
  // Returns when the rank's core has done that many seconds of work, begun as soon as it is free.
  double occupy_core(std::int32_t rank, double seconds);
  bool prepare_send(std::int32_t number);
  bool transmit(std::int32_t number);
  void end_transmission(std::int32_t number);
  void complete(std::int32_t number);
  void go_on(LaneState& l);
  void share_exchange(std::int32_t number, bool starts);

  bool is_behind(const LaneState& waiting, const Place& place) const;
  bool wait_for(std::int32_t number, const Place& place);
  static const InstructionInfo& does(const LaneState& l) {
    return info(static_cast<InstructionKind>(l.op.kind));
  }
  std::int64_t piece_bytes(const LaneState& l) const;
  double lane_cap() const;
  double work_seconds(const LaneState& l) const;
  void wake(std::int32_t number, std::int32_t cause);
  void wake_waiters(LaneState& l);
  std::int32_t keep(std::int32_t number, TimedEvent::Kind kind, double begin, double end,
                    double arrival);
  double busiest() const;
  void unfold(const Symmetry& symmetry);
  [[noreturn]] void fail_blocked() const;
  std::string why_blocked(std::int32_t number) const;

  const SizedProgram& program_;
  const MessageCosts& costs_;
  const SimulationOptions& options_;
  const PlacedProgram placed_;
  std::vector<LaneState> lanes_;
  std::vector<double> core_free_;         // by rank: when its core is free
  std::vector<double> core_busy_;         // by rank: seconds
  std::vector<std::int32_t> core_event_;  // by rank: the event that occupies it last
  Mailboxes mailboxes_;
  FairShare shares_;
  std::vector<std::int32_t> link_flows_;  // by link: messages on it
  std::vector<double> link_since_;        // by link: when it became busy
  EventQueue queue_;
  std::vector<std::uint64_t> batch_;
  std::vector<std::int32_t> ready_;  // lanes to be advanced now
  double now_ = 0;
  Timeline timeline_;
};

}  // namespace vranks
