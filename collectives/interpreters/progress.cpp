// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/progress.hpp"

#include <algorithm>
#include <optional>

namespace vranks {

namespace {

class Machine {
 public:
  Machine(const Program& program, std::int32_t depth)
      : program_(program), depth_(depth), lanes_(program.lanes().size()) {
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      const auto lane = static_cast<std::int32_t>(l);
      lanes_[l].begin = program.lane_begin(lane);
      lanes_[l].size = program.lane_size(lane);
      lanes_[l].to = program.receiver(lane);
      lanes_[l].from = program.sender(lane);
    }
    order_.reserve(static_cast<std::size_t>(program.size()));
  }

  Progress run() && {
    // Lanes that may be able to go on; each at most once. In turns, so that they stay together.
    std::vector<std::int32_t> now;
    for (std::size_t l = 0; l < lanes_.size(); ++l) awake_.push_back(static_cast<std::int32_t>(l));
    while (!awake_.empty()) {
      now.swap(awake_);
      awake_.clear();
      for (const std::int32_t l : now) {
        lanes_[static_cast<std::size_t>(l)].lack.reset();
        while (step(l)) {
        }
      }
    }
    Progress result{std::move(order_), {}};
    for (std::size_t l = 0; l < lanes_.size(); ++l)
      if (lanes_[l].next < lanes_[l].size)
        result.stuck.push_back(stuck(static_cast<std::int32_t>(l)));
    return result;
  }

 private:
  enum class Phase : std::uint8_t { start, received, offered };
  struct LaneState {
    std::int32_t begin, size, to, from;
    std::int32_t next = 0;                // instruction
    std::int32_t sent = 0, received = 0;  // messages
    Phase phase = Phase::start;
    std::optional<Lack> lack;  // asleep, and for what
    // Lanes that wait for an instruction of this one, and the first such instruction.
    std::int32_t first_waiter = -1, waited_for = unlimited_depth;
    std::int32_t next_waiter = -1;  // this lane's place in another one's list
    std::int32_t wait_index = 0;
  };

  LaneState& state(std::int32_t lane) { return lanes_[static_cast<std::size_t>(lane)]; }

  void wake(std::int32_t lane, Lack lack) {
    if (lane < 0 || state(lane).lack != lack) return;
    state(lane).lack.reset();
    awake_.push_back(lane);
  }

  bool sleep(LaneState& lane, Lack lack) {
    lane.lack = lack;
    return false;
  }

  // Messages that the lane sent and nobody took.
  std::int32_t under_way(const LaneState& lane) {
    return lane.sent - (lane.to < 0 ? 0 : state(lane.to).received);
  }

  // Goes on with the lane's next instruction; false if that can't be (or there is none).
  bool step(std::int32_t l) {
    LaneState& lane = state(l);
    if (lane.next == lane.size) return false;
    const std::int32_t number = lane.begin + lane.next;
    const InstructionInfo& does = info(program_.instruction(number).kind);
    if (lane.phase == Phase::start) {
      for (const Place& wait : program_.waits(number)) {
        LaneState& other = state(wait.lane);
        if (other.next > wait.index) continue;
        lane.wait_index = wait.index;
        lane.next_waiter = other.first_waiter;
        other.first_waiter = l;
        other.waited_for = std::min(other.waited_for, wait.index);
        return sleep(lane, Lack::wait);
      }
      if (does.receives) {
        if (lane.from < 0 || state(lane.from).sent == lane.received)
          return sleep(lane, Lack::message);
        ++lane.received;
        wake(lane.from, Lack::room);
        lane.phase = Phase::received;
      }
    }
    if (lane.phase != Phase::offered) {
      if (does.sends) {
        if (depth_ > 0 && under_way(lane) >= depth_) return sleep(lane, Lack::room);
        ++lane.sent;
        wake(lane.to, Lack::message);
        lane.phase = Phase::offered;
      }
      order_.push_back({l, lane.next});
    }
    if (does.sends && depth_ == 0 && under_way(lane) > 0) return sleep(lane, Lack::room);
    lane.phase = Phase::start;
    ++lane.next;
    if (lane.next > lane.waited_for) wake_waiters(lane);
    return true;
  }

  void wake_waiters(LaneState& lane) {
    std::int32_t waiter = lane.first_waiter;
    lane.first_waiter = -1;
    lane.waited_for = unlimited_depth;
    while (waiter >= 0) {
      LaneState& other = state(waiter);
      const std::int32_t following = other.next_waiter;
      if (lane.next > other.wait_index) {
        wake(waiter, Lack::wait);
      } else {
        other.next_waiter = lane.first_waiter;
        lane.first_waiter = waiter;
        lane.waited_for = std::min(lane.waited_for, other.wait_index);
      }
      waiter = following;
    }
  }

  Stuck stuck(std::int32_t l) {
    const LaneState& lane = state(l);
    Stuck result{{l, lane.next}, lane.lack.value_or(Lack::wait), {}};
    switch (result.lack) {
      case Lack::wait:
        for (const Place& wait : program_.waits(lane.begin + lane.next))
          if (state(wait.lane).next <= wait.index) {
            result.needs = wait;
            break;
          }
        break;
      case Lack::message:
        result.needs = find(lane.from, lane.received, &InstructionInfo::sends);
        break;
      case Lack::room:
        if (lane.to >= 0)
          result.needs = find(lane.to, state(lane.to).received, &InstructionInfo::receives);
        break;
    }
    return result;
  }

  // The instruction of that lane that sends (or receives) its message `k`.
  Place find(std::int32_t lane, std::int32_t k, bool InstructionInfo::*does) {
    if (lane < 0) return {};
    for (std::int32_t index = 0; index < state(lane).size; ++index)
      if (info(program_.instruction(state(lane).begin + index).kind).*does && k-- == 0)
        return {lane, index};
    return {};
  }

  const Program& program_;
  std::int32_t depth_;
  std::vector<LaneState> lanes_;
  std::vector<std::int32_t> awake_;
  std::vector<Place> order_;
};

}  // namespace

Progress progress(const Program& program, std::int32_t depth) {
  return Machine(program, depth).run();
}

std::vector<std::int32_t> match_messages(const Program& program) {
  std::vector<std::int32_t> sender_of(static_cast<std::size_t>(program.size()), -1);
  for (std::int32_t lane = 0; lane < static_cast<std::int32_t>(program.lanes().size()); ++lane) {
    const std::int32_t sender = program.sender(lane);
    if (sender < 0) continue;
    std::int32_t sending = program.lane_begin(sender);
    const std::int32_t end = sending + program.lane_size(sender);
    const std::int32_t begin = program.lane_begin(lane);
    for (std::int32_t number = begin; number < begin + program.lane_size(lane); ++number) {
      if (!info(program.instruction(number).kind).receives) continue;
      while (sending < end && !info(program.instruction(sending).kind).sends) ++sending;
      if (sending == end) break;
      sender_of[static_cast<std::size_t>(number)] = sending++;
    }
  }
  return sender_of;
}

}  // namespace vranks
