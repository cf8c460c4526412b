// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ranks/error.hpp"

namespace vranks {

Engine::Engine(const SizedProgram& program, const Topology& topology, const MessageCosts& costs,
               const SimulationOptions& options)
    : program_(program),
      costs_(costs),
      options_(options),
      placed_(program, topology, costs, options),
      core_free_(placed_.starts),
      core_busy_(placed_.starts.size(), 0),
      core_event_(placed_.starts.size(), -1),
      mailboxes_(program.program().lanes().size()),
      shares_(placed_.capacities, placed_.route_links, placed_.route_ends),
      link_flows_(topology.links().size(), 0),
      link_since_(topology.links().size(), 0) {
  timeline_.floor = placed_.floor;
  timeline_.ranks = placed_.starts;
  timeline_.links.assign(topology.links().size(), {});
  make_lanes();
}

void Engine::make_lanes() {
  const Program& p = program_.program();
  lanes_.resize(p.lanes().size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const auto number = static_cast<std::int32_t>(i);
    LaneState& l = lanes_[i];
    l.rank = p.lanes()[i].rank;
    l.begin = p.lane_begin(number);
    l.size = p.lane_size(number);
    l.sender = p.sender(number);
    l.receiver = p.receiver(number);
    queue_.push(placed_.starts[static_cast<std::size_t>(l.rank)], i);
  }
}

Timeline Engine::run() && {
  while (!queue_.is_empty()) {
    now_ = queue_.time();
    do {
      queue_.pop(batch_);
      for (const std::uint64_t event : batch_) handle(event);
    } while (!queue_.is_empty() && queue_.time() == now_);
    shares_.solve(now_, [&](std::int32_t flow, double seconds) {
      const std::uint64_t version = ++lane(flow).version;
      queue_.push(now_ + seconds, version << 32 | static_cast<std::uint32_t>(flow));
    });
  }
  if (std::ranges::any_of(lanes_, [](const LaneState& l) { return l.phase != Phase::done; }))
    fail_blocked();
  timeline_.busiest = busiest();
  if (options_.link_orbits != nullptr) unfold(*program_.program().symmetry());
  timeline_.device_seconds = std::ranges::max(timeline_.ranks);
  timeline_.seconds = std::max(timeline_.device_seconds, timeline_.floor);
  return std::move(timeline_);
}

// What leaders did all others did.
void Engine::unfold(const Symmetry& symmetry) {
  for (std::int32_t r = symmetry.step; r < symmetry.ranks; ++r)
    timeline_.ranks[static_cast<std::size_t>(r)] =
        timeline_.ranks[static_cast<std::size_t>(symmetry.leader(r))];
  timeline_.messages *= symmetry.copies();
  const std::vector<LinkUse> leaders = timeline_.links;
  for (std::size_t l = 0; l < leaders.size(); ++l) {
    LinkUse& use = timeline_.links[l];
    use = leaders[static_cast<std::size_t>(options_.link_orbits->leader[l])];
    use.bytes *=
        static_cast<double>(symmetry.copies()) / static_cast<double>(options_.link_orbits->size[l]);
  }
}

// The number of an event: its lane, and above it the version of its end on the links, 0 for a lane
// that can go on.
void Engine::handle(std::uint64_t event) {
  const auto number = static_cast<std::int32_t>(event & 0xffffffffU);
  const auto version = static_cast<std::uint32_t>(event >> 32);
  if (version != 0) {
    if (lane(number).phase != Phase::on_links || lane(number).version != version) return;
    end_transmission(number);
  }
  advance(number);
  while (!ready_.empty()) {
    const std::int32_t next = ready_.back();
    ready_.pop_back();
    advance(next);
  }
}

void Engine::wake(std::int32_t number, std::int32_t cause) {
  lane(number).block = Block::none;
  lane(number).cause = cause;
  ready_.push_back(number);
}

void Engine::advance(std::int32_t number) {
  LaneState& l = lane(number);
  for (;;) {
    switch (l.phase) {
      case Phase::wait:
        if ((l.piece == 0 && !load(l)) || !pass_waits(number)) return;
        if (is_left_out(l)) {
          go_on(l);
          break;
        }
        l.phase = Phase::receive;
        [[fallthrough]];
      case Phase::receive:
        if (does(l).receives && !take_message(number)) return;
        l.phase = Phase::work;
        [[fallthrough]];
      case Phase::work:
        if (!do_work(number)) return;
        [[fallthrough]];
      case Phase::send:
        if (does(l).sends && !prepare_send(number)) return;
        [[fallthrough]];
      case Phase::transmit:
        if (does(l).sends && !transmit(number)) return;
        [[fallthrough]];
      case Phase::sent:
        complete(number);
        break;
      case Phase::on_links:
      case Phase::done:
        return;
    }
  }
}

bool Engine::load(LaneState& l) {
  if (l.index == l.size) {
    l.index = 0;
    ++l.window;
  }
  if (l.size == 0 || l.window >= program_.windows()) {
    l.phase = Phase::done;
    wake_waiters(l);
    return false;
  }
  l.op = program_.op(l.begin + l.index);
  l.bytes = program_.bytes(l.op, l.window);
  const auto piece = static_cast<std::int64_t>(costs_.piece_bytes);
  l.pieces = piece > 0 ? std::max<std::int64_t>(1, (l.bytes + piece - 1) / piece) : 1;
  return true;
}

std::int64_t Engine::piece_bytes(const LaneState& l) const {
  if (l.pieces == 1) return l.bytes;
  const auto piece = static_cast<std::int64_t>(costs_.piece_bytes);
  return std::min(piece, l.bytes - l.piece * piece);
}

// Whether what the lane waits for is done.
bool Engine::is_behind(const LaneState& waiting, const Place& place) const {
  const LaneState& other = lanes_[static_cast<std::size_t>(place.lane)];
  if (other.window != waiting.window) return other.window > waiting.window;
  if (other.index != place.index) return other.index > place.index;
  return other.piece > waiting.piece && !options_.takes_turns &&
         SizedProgram::can_follow(waiting.op, program_.op(other.begin + place.index));
}

bool Engine::wait_for(std::int32_t number, const Place& place) {
  LaneState& l = lane(number);
  if (is_behind(l, place)) return true;
  LaneState& other = lane(place.lane);
  l.block = Block::lane;
  other.first_awaited =
      other.waiters < 0 ? place.index : std::min(other.first_awaited, place.index);
  l.next_waiter = std::exchange(other.waiters, number);
  return false;
}

bool Engine::pass_waits(std::int32_t number) {
  const LaneState& l = lane(number);
  if (l.op.wait.lane == SizedProgram::no_wait) return true;
  if (l.op.wait.lane != SizedProgram::many_waits) return wait_for(number, l.op.wait);
  for (const Place& place : program_.program().waits(l.begin + l.index))
    if (!wait_for(number, place)) return false;
  return true;
}

bool Engine::take_message(std::int32_t number) {
  LaneState& l = lane(number);
  const Mailboxes::Message* const message = mailboxes_.first(number);
  if (message == nullptr) {
    l.block = Block::message;
    return false;
  }
  if (message->arrival > now_) {
    l.cause = message->event;
    queue_.push(message->arrival, static_cast<std::uint32_t>(number));
    return false;
  }
  mailboxes_.take(number);
  return true;
}

double Engine::work_seconds(const LaneState& l) const {
  const InstructionInfo& kind = does(l);
  const bool combines = kind.combines_message() || kind.reads_b;
  if (!combines && !(kind.reads_a && kind.writes)) return 0;
  const double bandwidth = combines ? costs_.reduce_bandwidth : costs_.copy_bandwidth;
  if (bandwidth <= 0) return 0;
  return static_cast<double>(piece_bytes(l)) / bandwidth * placed_.missed_work;
}

double Engine::lane_cap() const {
  return costs_.lane_bandwidth > 0 ? costs_.lane_bandwidth
                                   : std::numeric_limits<double>::infinity();
}

// A rank's core does one thing after the other.
bool Engine::do_work(std::int32_t number) {
  LaneState& l = lane(number);
  l.phase = Phase::send;
  const double seconds = work_seconds(l);
  if (seconds == 0) return true;
  const auto rank = static_cast<std::size_t>(l.rank);
  if (core_free_[rank] > now_ && options_.keep_events) l.cause = core_event_[rank];
  const double end = occupy_core(l.rank, seconds);
  if (options_.keep_events)
    core_event_[rank] = keep(number, TimedEvent::Kind::work, end - seconds, end, 0);
  queue_.push(end, static_cast<std::uint32_t>(number));
  return false;
}

double Engine::occupy_core(std::int32_t rank, double seconds) {
  double& free = core_free_[static_cast<std::size_t>(rank)];
  core_busy_[static_cast<std::size_t>(rank)] += seconds;
  return free = std::max(now_, free) + seconds;
}

bool Engine::prepare_send(std::int32_t number) {
  LaneState& l = lane(number);
  if (costs_.slots > 0 && static_cast<double>(l.sent - lane(l.receiver).taken) >= costs_.slots) {
    l.block = Block::room;
    return false;
  }
  l.phase = Phase::transmit;
  l.phase_begin = now_;
  if (l.piece > 0) return true;
  double ready = now_;
  if (placed_.has_overhead(number)) ready = occupy_core(l.rank, costs_.message_overhead);
  if (static_cast<double>(l.bytes) > costs_.eager_limit) ready += costs_.rendezvous;
  if (ready == now_) return true;
  queue_.push(ready, static_cast<std::uint32_t>(number));
  return false;
}

bool Engine::transmit(std::int32_t number) {
  LaneState& l = lane(number);
  const auto bytes = static_cast<double>(piece_bytes(l));
  ++timeline_.messages;
  l.phase = Phase::on_links;
  const bool is_eager =
      costs_.eager_bandwidth > 0 && static_cast<double>(l.bytes) <= costs_.eager_limit;
  if (bytes > 0 && !is_eager && !shares_.route(number).empty()) {
    for (const std::int32_t link : shares_.route(number)) {
      const auto i = static_cast<std::size_t>(link);
      timeline_.links[i].bytes += bytes;
      if (link_flows_[i]++ == 0) link_since_[i] = now_;
    }
    shares_.start(number, bytes, lane_cap(), now_);
    share_exchange(number, true);
    return false;
  }
  // Past the links: copied, or between ranks of one place.
  const double seconds = bytes / (is_eager ? costs_.eager_bandwidth : lane_cap());
  if (seconds > 0) {
    queue_.push(now_ + seconds,
                std::uint64_t{++l.version} << 32 | static_cast<std::uint32_t>(number));
    return false;
  }
  end_transmission(number);
  return true;
}

// Long messages that cross each other, from one rank to another and back, have the bandwidth of
// one direction for what is longer than the limit.
void Engine::share_exchange(std::int32_t number, bool starts) {
  if (placed_.back.empty()) return;
  const std::int32_t back = placed_.back[static_cast<std::size_t>(number)];
  if (back < 0 || !shares_.is_active(back)) return;
  const bool are_long =
      static_cast<double>(std::min(lane(number).bytes, lane(back).bytes)) > costs_.exchange_limit;
  const auto cap = [&](std::int32_t flow) {
    const double over = 1 - costs_.exchange_limit / static_cast<double>(lane(flow).bytes);
    return std::min(lane_cap(), shares_.alone(flow) / (starts && are_long ? 1 + over : 1));
  };
  shares_.set_cap(back, cap(back));
  if (starts) shares_.set_cap(number, cap(number));
}

void Engine::end_transmission(std::int32_t number) {
  LaneState& l = lane(number);
  ++l.sent;
  const double arrival = now_ + placed_.latencies[static_cast<std::size_t>(number)];
  const std::int32_t event =
      options_.keep_events ? keep(number, TimedEvent::Kind::message, l.phase_begin, now_, arrival)
                           : -1;
  if (shares_.is_active(number)) {
    for (const std::int32_t link : shares_.route(number)) {
      const auto i = static_cast<std::size_t>(link);
      if (--link_flows_[i] == 0) timeline_.links[i].busy += now_ - link_since_[i];
    }
    shares_.end(number);
    share_exchange(number, false);
  }
  LaneState& receiver = lane(l.receiver);
  mailboxes_.put(l.receiver, {arrival, event});
  if (receiver.block == Block::message) {
    receiver.block = Block::none;
    queue_.push(arrival, static_cast<std::uint32_t>(l.receiver));
    receiver.cause = event;
  }
  l.phase = Phase::sent;
}

void Engine::complete(std::int32_t number) {
  LaneState& l = lane(number);
  double& end = timeline_.ranks[static_cast<std::size_t>(l.rank)];
  end = std::max(end, now_);
  if (does(l).receives) {
    ++l.taken;
    if (lane(l.sender).block == Block::room) wake(l.sender, l.cause);
  }
  l.last_event = l.cause;
  go_on(l);
}

// To the next piece, or the next instruction.
void Engine::go_on(LaneState& l) {
  if (++l.piece == l.pieces) {
    l.piece = 0;
    ++l.index;
  }
  l.phase = Phase::wait;
  wake_waiters(l);
}

// Once it has come as far as the first of them waits for: waiters may be many.
void Engine::wake_waiters(LaneState& l) {
  if (l.index < l.first_awaited) return;
  for (std::int32_t waiter = std::exchange(l.waiters, -1); waiter >= 0;)
    wake(std::exchange(waiter, lane(waiter).next_waiter), l.last_event);
}

std::int32_t Engine::keep(std::int32_t number, TimedEvent::Kind kind, double begin, double end,
                          double arrival) {
  LaneState& l = lane(number);
  TimedEvent event{.lane = number,
                   .instruction = l.begin + l.index,
                   .window = l.window,
                   .piece = l.piece,
                   .kind = kind,
                   .bytes = piece_bytes(l),
                   .begin = begin,
                   .end = end,
                   .arrival = arrival,
                   .cause = l.cause};
  // What it had of each link at its end says well enough which one held it.
  double least = std::numeric_limits<double>::infinity();
  if (kind == TimedEvent::Kind::message && shares_.is_active(number))
    for (const std::int32_t link : shares_.route(number)) {
      const double share = shares_.capacity(link) / link_flows_[static_cast<std::size_t>(link)];
      if (share >= least) continue;
      least = share;
      event.link = link;
    }
  l.last_event = l.cause = static_cast<std::int32_t>(timeline_.events.size());
  timeline_.events.push_back(event);
  return l.last_event;
}

double Engine::busiest() const {
  double most = std::ranges::max(core_busy_);
  for (std::size_t i = 0; i < timeline_.links.size(); ++i)
    most =
        std::max(most, timeline_.links[i].bytes / shares_.capacity(static_cast<std::int32_t>(i)));
  return most;
}

std::string Engine::why_blocked(std::int32_t number) const {
  const LaneState& l = lanes_[static_cast<std::size_t>(number)];
  const Lane& its = program_.program().lanes()[static_cast<std::size_t>(number)];
  const std::string where = program_.program().describe({number, l.index});
  switch (l.block) {
    case Block::room:
      return fmt::format("{} has no room for its message to rank {} ({} slots)", where, its.send_to,
                         costs_.slots);
    case Block::message:
      return fmt::format("{} waits for a message from rank {}", where, its.receive_from);
    default:
      return fmt::format("{} waits for another lane of its rank", where);
  }
}

// Names a lane without room if there is one, else one without a message: others wait for those.
void Engine::fail_blocked() const {
  const auto is_open = [](const LaneState& l) { return l.phase != Phase::done; };
  const auto first = std::ranges::max_element(
      lanes_, {}, [&](const LaneState& l) { return is_open(l) ? static_cast<int>(l.block) : -1; });
  throw Error(ErrorKind::bad_argument,
              fmt::format("the program blocks: {}; {} of {} lanes don't end",
                          why_blocked(static_cast<std::int32_t>(first - lanes_.begin())),
                          std::ranges::count_if(lanes_, is_open), lanes_.size()));
}

Timeline simulate(const SizedProgram& program, const Topology& topology, const MessageCosts& costs,
                  const SimulationOptions& options) {
  const ScheduleShape& shape = program.program().shape();
  if (topology.ranks() < shape.ranks)
    throw Error(ErrorKind::bad_argument,
                fmt::format("topology {} has {} ranks; the program has {}", topology.name(),
                            topology.ranks(), shape.ranks));
  if (program.vector_bytes() == 0 && shape.collective != Collective::barrier) {
    Timeline nothing;
    nothing.ranks.assign(static_cast<std::size_t>(shape.ranks), 0);
    nothing.links.assign(topology.links().size(), {});
    return nothing;
  }
  return Engine(program, topology, costs, options).run();
}

}  // namespace vranks
