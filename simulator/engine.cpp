// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "ranks/error.hpp"

namespace vranks {

namespace {

// Share of accesses that a cache of that size doesn't hold: none of a small footprint, half of one
// as large as the cache, all of a large one.
double missed_share(double cache, double footprint) {
  if (cache <= 0) return 1;
  if (footprint <= 0) return 0;
  return 1 / (1 + (cache / footprint) * (cache / footprint));
}

double seconds_for(double bytes, double bandwidth) { return bandwidth > 0 ? bytes / bandwidth : 0; }

}  // namespace

Engine::Engine(const SizedProgram& program, const Topology& topology, const MessageCosts& costs,
               const SimulationOptions& options)
    : program_(program), costs_(costs), keeps_(options.keep_events) {
  miss_ = missed_share(costs.cache_bytes, static_cast<double>(program.vector_bytes()));
  const auto ranks = static_cast<std::size_t>(program.program().shape().ranks);
  core_event_.assign(ranks, -1);
  timeline_.ranks.assign(ranks, 0);
  std::int32_t on_first_node = 0;
  while (on_first_node < topology.ranks() && topology.node(on_first_node) == 0) ++on_first_node;
  timeline_.floor = costs.floor * on_first_node;
  make_lanes(topology);
  timeline_.links.assign(topology.links().size(), {});
  link_flows_.assign(topology.links().size(), 0);
  link_since_.assign(topology.links().size(), 0);
}

void Engine::make_lanes(const Topology& topology) {
  const Program& p = program_.program();
  const std::span<const Link> links = topology.links();
  lanes_.resize(p.lanes().size());
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::int32_t> senders;
  std::vector<std::int32_t> route_links;
  std::vector<std::size_t> route_ends;
  route_ends.reserve(lanes_.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const auto number = static_cast<std::int32_t>(i);
    const Lane& its = p.lanes()[i];
    LaneState& l = lanes_[i];
    l.rank = its.rank;
    l.begin = p.lane_begin(number);
    l.size = p.lane_size(number);
    l.sender = p.sender(number);
    l.receiver = p.receiver(number);
    const std::size_t begin = route_links.size();
    if (its.send_to != no_rank) topology.route(its.rank, its.send_to, route_links);
    route_ends.push_back(route_links.size());
    l.latency = costs_.message_latency;
    for (std::size_t h = begin; h < route_links.size(); ++h)
      l.latency += links[static_cast<std::size_t>(route_links[h])].latency;
    if (its.send_to == no_rank || costs_.exchange_limit <= 0) continue;
    senders[{its.rank, its.send_to, its.channel}] = number;
    const auto back = senders.find({its.send_to, its.rank, its.channel});
    if (back == senders.end()) continue;
    l.back = back->second;
    lane(l.back).back = number;
  }
  shares_ = FairShare(capacities(topology), std::move(route_links), route_ends);
}

// What links have left for data. A memory is passed by what the caches of its node don't hold of
// the inputs and outputs of the ranks there.
std::vector<double> Engine::capacities(const Topology& topology) const {
  std::int32_t nodes = 1;
  for (std::int32_t r = 0; r < topology.ranks(); ++r) nodes = std::max(nodes, topology.node(r) + 1);
  const double footprint = 2.0 * static_cast<double>(program_.vector_bytes()) *
                           static_cast<double>(program_.program().shape().ranks) / nodes;
  std::vector<double> result;
  result.reserve(topology.links().size());
  for (const Link& link : topology.links()) {
    const double share = missed_share(link.cache, footprint);
    result.push_back(share > 0 ? link.bandwidth * costs_.link_efficiency / share
                               : std::numeric_limits<double>::max());
  }
  return result;
}

// Ranks begin when the call is launched, a reduction's input is copied, and temporary memory is
// there.
void Engine::start_ranks() {
  const ScheduleShape& shape = program_.program().shape();
  const auto vector = static_cast<double>(program_.vector_bytes());
  double begin = costs_.launch;
  if (reduces(shape.collective)) begin += seconds_for(vector, costs_.input_copy_bandwidth) * miss_;
  core_free_.resize(timeline_.ranks.size());
  for (std::size_t r = 0; r < core_free_.size(); ++r) {
    const auto temporary =
        static_cast<double>(program_.temporary_bytes(static_cast<std::int32_t>(r)));
    core_free_[r] = begin;
    if (temporary > costs_.alloc_limit)
      core_free_[r] += seconds_for(temporary, costs_.alloc_bandwidth);
    timeline_.ranks[r] = core_free_[r];
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    queue_.push(core_free_[static_cast<std::size_t>(lanes_[i].rank)], i);
}

Timeline Engine::run() && {
  start_ranks();
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
  timeline_.device_seconds = std::ranges::max(timeline_.ranks);
  timeline_.seconds = std::max(timeline_.device_seconds, timeline_.floor);
  return std::move(timeline_);
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
        if (l.piece == 0) load(l);
        if (l.phase == Phase::done || !pass_waits(number)) return;
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

// Goes to the next instruction that has anything to do: those of a later window for which a chunk
// has no interval left are passed over, by senders and receivers alike.
void Engine::load(LaneState& l) {
  for (bool passes_over = false;; ++l.index, passes_over = true) {
    if (l.index == l.size) {
      l.index = 0;
      ++l.window;
    }
    if (l.size == 0 || l.window >= program_.windows()) l.phase = Phase::done;
    if (l.phase != Phase::done) {
      l.op = program_.op(l.begin + l.index);
      l.bytes = program_.bytes(l.op, l.window);
    }
    if (l.phase != Phase::done && l.bytes == 0 && l.window > 0) continue;
    if (passes_over) wake_waiters(l);
    break;
  }
  if (l.phase == Phase::done) return;
  l.pieces = 1;
  if (costs_.piece_bytes > 0)
    l.pieces = std::max(
        1, static_cast<std::int32_t>(std::ceil(static_cast<double>(l.bytes) / costs_.piece_bytes)));
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
  return other.phase == Phase::done ||
         (other.piece > waiting.piece &&
          SizedProgram::can_follow(waiting.op, program_.op(other.begin + place.index)));
}

bool Engine::wait_for(std::int32_t number, const Place& place) {
  LaneState& l = lane(number);
  if (is_behind(l, place)) return true;
  l.block = Block::lane;
  l.next_waiter = std::exchange(lane(place.lane).waiters, number);
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
  if (l.first_message < 0) {
    l.block = Block::message;
    return false;
  }
  Message& message = messages_[static_cast<std::size_t>(l.first_message)];
  if (message.arrival > now_) {
    l.cause = message.event;
    queue_.push(message.arrival, static_cast<std::uint32_t>(number));
    return false;
  }
  const std::int32_t taken = std::exchange(l.first_message, message.next);
  message.next = std::exchange(free_message_, taken);
  return true;
}

void Engine::deliver(LaneState& l, double arrival, std::int32_t event) {
  if (free_message_ < 0) {
    free_message_ = static_cast<std::int32_t>(messages_.size());
    messages_.push_back({0, 0, -1});
  }
  const std::int32_t number = free_message_;
  Message& message = messages_[static_cast<std::size_t>(number)];
  free_message_ = message.next;
  message = {arrival, event, -1};
  if (l.first_message < 0)
    l.first_message = number;
  else
    messages_[static_cast<std::size_t>(l.last_message)].next = number;
  l.last_message = number;
}

double Engine::work_seconds(const LaneState& l) const {
  const InstructionInfo& kind = does(l);
  const bool combines = kind.combines_message() || kind.reads_b;
  if (!combines && !(kind.reads_a && kind.writes)) return 0;
  const double bandwidth = combines ? costs_.reduce_bandwidth : costs_.copy_bandwidth;
  return seconds_for(static_cast<double>(piece_bytes(l)), bandwidth) * miss_;
}

// A rank's core does one thing after the other.
bool Engine::do_work(std::int32_t number) {
  LaneState& l = lane(number);
  l.phase = Phase::send;
  const double seconds = work_seconds(l);
  if (seconds == 0) return true;
  const auto rank = static_cast<std::size_t>(l.rank);
  if (core_free_[rank] > now_ && keeps_) l.cause = core_event_[rank];
  const double begin = std::max(now_, core_free_[rank]);
  core_free_[rank] = begin + seconds;
  if (keeps_) core_event_[rank] = keep(number, TimedEvent::Kind::work, begin, begin + seconds, 0);
  queue_.push(begin + seconds, static_cast<std::uint32_t>(number));
  return false;
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
  const auto rank = static_cast<std::size_t>(l.rank);
  double ready = now_;
  if (costs_.message_overhead > 0) {
    ready = core_free_[rank] = std::max(now_, core_free_[rank]) + costs_.message_overhead;
  }
  if (static_cast<double>(l.bytes) > costs_.eager_limit) ready += costs_.rendezvous;
  if (ready == now_) return true;
  queue_.push(ready, static_cast<std::uint32_t>(number));
  return false;
}

bool Engine::transmit(std::int32_t number) {
  LaneState& l = lane(number);
  const auto bytes = static_cast<double>(piece_bytes(l));
  ++timeline_.messages;
  const bool is_eager =
      costs_.eager_bandwidth > 0 && static_cast<double>(l.bytes) <= costs_.eager_limit;
  const bool is_local = shares_.route(number).empty();
  if (bytes > 0 && !is_eager && (!is_local || costs_.lane_bandwidth > 0)) {
    l.phase = Phase::on_links;
    if (is_local) {
      queue_.push(now_ + bytes / costs_.lane_bandwidth,
                  std::uint64_t{++l.version} << 32 | static_cast<std::uint32_t>(number));
      return false;
    }
    for (const std::int32_t link : shares_.route(number)) {
      const auto i = static_cast<std::size_t>(link);
      timeline_.links[i].bytes += bytes;
      if (link_flows_[i]++ == 0) link_since_[i] = now_;
    }
    shares_.start(
        number, bytes,
        costs_.lane_bandwidth > 0 ? costs_.lane_bandwidth : std::numeric_limits<double>::infinity(),
        now_);
    share_exchange(number, true);
    return false;
  }
  l.phase = Phase::on_links;
  const double seconds = is_eager ? bytes / costs_.eager_bandwidth : 0;
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
  LaneState& l = lane(number);
  if (l.back < 0 || !shares_.is_active(l.back)) return;
  const double lane_cap =
      costs_.lane_bandwidth > 0 ? costs_.lane_bandwidth : std::numeric_limits<double>::infinity();
  const bool are_long =
      static_cast<double>(std::min(l.bytes, lane(l.back).bytes)) > costs_.exchange_limit;
  const auto cap = [&](std::int32_t flow) {
    const double over = 1 - costs_.exchange_limit / static_cast<double>(lane(flow).bytes);
    return std::min(lane_cap, shares_.alone(flow) / (starts && are_long ? 1 + over : 1));
  };
  shares_.set_cap(l.back, cap(l.back));
  if (starts) shares_.set_cap(number, cap(number));
}

void Engine::end_transmission(std::int32_t number) {
  LaneState& l = lane(number);
  ++l.sent;
  const double arrival = now_ + l.latency;
  const std::int32_t event =
      keeps_ ? keep(number, TimedEvent::Kind::message, l.phase_begin, now_, arrival) : -1;
  if (shares_.is_active(number)) {
    for (const std::int32_t link : shares_.route(number)) {
      const auto i = static_cast<std::size_t>(link);
      if (--link_flows_[i] == 0) timeline_.links[i].busy += now_ - link_since_[i];
    }
    shares_.end(number);
    share_exchange(number, false);
  }
  LaneState& receiver = lane(l.receiver);
  deliver(receiver, arrival, event);
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
  if (++l.piece == l.pieces) {
    l.piece = 0;
    ++l.index;
  }
  l.phase = Phase::wait;
  wake_waiters(l);
}

void Engine::wake_waiters(LaneState& l) {
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

void Engine::fail_blocked() {
  const Program& p = program_.program();
  std::string what;
  std::int32_t blocked = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const LaneState& l = lanes_[i];
    if (l.phase == Phase::done || blocked++ > 0) continue;
    const auto number = static_cast<std::int32_t>(i);
    what = p.describe({number, l.index});
    if (l.block == Block::room)
      what += fmt::format(" has no room for its message to rank {} ({} slots)",
                          p.lanes()[i].send_to, costs_.slots);
    else if (l.block == Block::message)
      what += fmt::format(" waits for a message from rank {}", p.lanes()[i].receive_from);
    else
      what += " waits for another lane of its rank";
  }
  throw Error(ErrorKind::bad_argument,
              fmt::format("the program blocks: {}; {} of {} lanes don't end", what, blocked,
                          lanes_.size()));
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
