// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/interpreters/lower.hpp"
#include "collectives/plan.hpp"
#include "collectives/symmetry.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "simulator/spread_lanes.hpp"

namespace vranks {

namespace {

constexpr std::size_t most_kept = 4;
constexpr std::int64_t most_run = 1 << 20;  // instructions over all windows, where they are many
constexpr std::int64_t most_run_bytes = std::int64_t{64} << 30;  // of a rank

// The problem without what schedules don't depend on.
Problem shape_of(Problem problem) {
  problem.elements = 0;
  problem.dtype = DType::f32;
  problem.op = ReduceOp::sum;
  problem.nan = NanPolicy::propagate;
  problem.counts.clear();
  return problem;
}

// Of algorithms that number their chunks by channel.
std::int32_t own_channels(const Selection& selection) {
  return has_word(selection.algorithm->parameters, "channels") ? selection.parameters.channels : 1;
}

// Whether ranks that do alike have chunks that are as long.
bool is_symmetric(const Layout& layout, const ScheduleShape& shape, const Symmetry& symmetry) {
  return std::ranges::all_of(symmetry.generators(), [&](std::int32_t number) {
    for (std::int32_t c = 0; c < layout.chunks(); ++c) {
      const auto& chunk = layout.chunk(c);
      const auto& image = layout.chunk(symmetry.whole_chunk(shape, c, number));
      if (!std::ranges::equal(chunk, image, {}, &Interval::length, &Interval::length)) return false;
    }
    return true;
  });
}

// With as many elements more as give all chunks the length of the longest.
Problem evened(Problem problem, const ScheduleShape& shape) {
  const std::int64_t chunks = shape.is_part(Slot::input) ? shape.part_chunks() : shape.chunks;
  problem.elements = (problem.elements + chunks - 1) / chunks * chunks;
  return problem;
}

// The rest of a call takes `seconds` more, and the whole moves `times` as much as what was run. No
// link and no core does more than it can.
void add_counted(Timeline& timeline, double seconds, double times) {
  timeline.busiest *= times;
  seconds = std::max(seconds, timeline.busiest - timeline.device_seconds);
  timeline.counted += seconds;
  timeline.device_seconds += seconds;
  timeline.seconds = std::max(timeline.device_seconds, timeline.floor);
  for (double& rank : timeline.ranks) rank += seconds;
  timeline.messages *= times;
  for (LinkUse& link : timeline.links) {
    link.bytes *= times;
    link.busy *= times;
  }
}

}  // namespace

Clock::Clock(std::shared_ptr<const Machine> machine, std::int32_t ranks,
             std::int32_t ranks_per_node)
    : machine_(std::move(machine)),
      topology_(machine_->place(ranks, ranks_per_node)),
      software_(machine_->software()) {}

void Clock::check_in_network(const Algorithm& algorithm) const {
  if (topology_->in_network() == nullptr)
    throw Error(ErrorKind::not_supported,
                fmt::format("{} sums in switches; those of {} don't (in_network of its node)",
                            algorithm.name, machine_->name()));
  if (const std::int32_t nodes = topology_->node(topology_->ranks() - 1) + 1; nodes > 1)
    throw Error(ErrorKind::not_supported,
                fmt::format("{} sums in the switch of a node; {} ranks are on {} nodes",
                            algorithm.name, topology_->ranks(), nodes));
}

bool Clock::Kept::fits(const Problem& shape, const TimedCall& call, bool wants_fold) const {
  return algorithm == call.selection.algorithm && parameters == call.selection.parameters &&
         problem == shape && channels == call.channels && instances == call.instances &&
         (wants_fold ? folds : !orbits);
}

const Program& Clock::program(const Problem& problem, const TimedCall& call) {
  TimedCall of_all = call;
  of_all.folds = false;
  return keep(problem, of_all).program;
}

// Channels number chunks in their own way, and costs of crossing messages aren't of one lane.
bool Clock::can_fold(const Problem& problem, const TimedCall& call) const {
  return call.folds && problem.counts.empty() && !call.selection.algorithm->is_in_network &&
         own_channels(call.selection) == 1 && call.channels <= 1 &&
         costs(call.protocol).exchange_limit == 0;
}

const Clock::Kept& Clock::keep(const Problem& problem, const TimedCall& call) {
  const Selection& selection = call.selection;
  const Problem shape = shape_of(problem);
  const bool folds = can_fold(problem, call);
  const auto found =
      std::ranges::find_if(kept_, [&](const Kept& kept) { return kept.fits(shape, call, folds); });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front();
  }
  if (selection.algorithm->is_in_network) check_in_network(*selection.algorithm);
  const Schedule schedule = build_schedule(problem, selection);
  if (schedule.transfers() > most_transfers)
    throw Error(ErrorKind::not_supported,
                fmt::format("{} over {} ranks has {} transfers; the clock takes at most {}",
                            selection.algorithm->name, problem.ranks, schedule.transfers(),
                            most_transfers));
  auto [program, orbits] = lowered(schedule, *selection.algorithm, folds);
  const std::int32_t own = own_channels(selection);
  if (own > 1)
    program = spread_lanes(program, own, 1,
                           program.shape().has_parts() ? 1 : program.shape().chunks / own);
  else if (call.channels > 0 || call.instances > 1)
    program = spread_lanes(program, call.channels, call.instances);
  if (selection.algorithm->is_in_network) program = separate_sums(program);
  if (kept_.size() == most_kept) kept_.pop_back();
  kept_.push_front({shape, selection.algorithm, selection.parameters, call.channels, call.instances,
                    folds, std::move(program), std::move(orbits)});
  return kept_.front();
}

// Of all ranks, or of the leaders of a symmetry that the machine has as well.
std::pair<Program, std::optional<LinkOrbits>> Clock::lowered(const Schedule& schedule,
                                                             const Algorithm& algorithm,
                                                             bool folds) const {
  if (folds && schedule.transfers() >= least_folded)
    for (const Symmetry& symmetry : possible_symmetries(schedule.shape())) {
      if (!is_symmetric(schedule, symmetry)) continue;
      Program program = lower(schedule, algorithm.takes_turns, symmetry);
      std::optional<LinkOrbits> orbits = find_link_orbits(program, *topology_);
      if (orbits) return {std::move(program), std::move(orbits)};
    }
  return {lower(schedule, algorithm.takes_turns), {}};
}

Layout Clock::layout(const Problem& problem, const TimedCall& call) {
  return call.selection.algorithm->layout(problem, program(problem, call).shape(),
                                          call.selection.parameters);
}

// NCCL's channels are alike, but for the two kinds of trees that take turns: of many that have data
// as few are run as there are kinds, with their share of the data and of the links.
std::optional<Timeline> Clock::time_of_channels(const Problem& problem, const TimedCall& call) {
  const Parameters& parameters = call.selection.parameters;
  const std::int32_t kinds = call.selection.algorithm->name == "nccl_tree" ? 2 : 1;
  if (!has_word(call.selection.algorithm->parameters, "channels") || !parameters.rings.empty() ||
      !parameters.trees.empty() || call.options.keep_events)
    return {};
  // What a rank pays for all of its channels together can't be had from some of them.
  const MessageCosts& own = costs(call.protocol);
  if (own.reduce_bandwidth > 0 || own.copy_bandwidth > 0 || own.message_overhead > 0 ||
      own.input_copy_bandwidth > 0 || own.alloc_bandwidth > 0 || own.exchange_limit > 0 ||
      std::ranges::any_of(topology_->links(), [](const Link& link) { return link.cache > 0; }))
    return {};
  TimedCall folded = call;
  folded.selection.parameters.channels = kinds;
  ScheduleShape shape = keep(problem, folded).program.shape();
  const std::int32_t chunks = shape.chunks / kinds;  // of a channel
  shape.chunks = chunks * parameters.channels;
  const Layout all = call.selection.algorithm->layout(problem, shape, parameters);
  std::int32_t used = 0;
  for (std::int32_t c = 0; c < shape.chunks; c += chunks) {
    std::int64_t elements = 0;
    for (std::int32_t i = 0; i < chunks; ++i) elements += all.length(c + i);
    used += elements > 0;
  }
  if (used == 0) return {};
  const std::int32_t run = std::min(kinds, used);
  folded.selection.parameters.channels = run;
  Problem share = problem;
  share.elements = problem.elements * run / used;
  if (share.elements % problem.ranks != 0 && shape.has_parts())
    share.elements += problem.ranks - share.elements % problem.ranks;
  MessageCosts costs = this->costs(call.protocol);
  costs.link_efficiency *= static_cast<double>(run) / used;
  Timeline timeline = time_with(share, folded, costs);
  for (LinkUse& link : timeline.links) link.bytes *= static_cast<double>(used) / run;
  timeline.messages *= static_cast<double>(used) / run;
  return timeline;
}

Timeline Clock::time_run(const Problem& problem, const TimedCall& call) {
  if (std::optional<Timeline> timeline = time_of_channels(problem, call)) return *timeline;
  return time_with(problem, call, costs(call.protocol));
}

// Beyond all caches, limits and fillings of pipelines time grows by as much as the size.
Timeline Clock::time(const Problem& problem, const TimedCall& call) {
  const auto most_elements = most_run_bytes / static_cast<std::int64_t>(info(problem.dtype).bytes) /
                             problem.ranks * problem.ranks;
  if (problem.elements <= most_elements) return time_run(problem, call);
  Problem shorter = problem;
  shorter.elements = most_elements;
  Timeline timeline = time_run(shorter, call);
  shorter.elements = most_elements / 2 / problem.ranks * problem.ranks;
  TimedCall unkept = call;
  unkept.options.keep_events = false;
  const double half = (call.options.keep_events ? time_with(shorter, unkept, costs(call.protocol))
                                                : time_run(shorter, unkept))
                          .device_seconds;
  const auto elements = static_cast<double>(problem.elements);
  add_counted(timeline,
              (timeline.device_seconds - half) /
                  static_cast<double>(most_elements - shorter.elements) *
                  (elements - static_cast<double>(most_elements)),
              elements / static_cast<double>(most_elements));
  return timeline;
}

// Once the first windows have filled the pipeline, each further one takes as long as the one before
// it: of many windows only the first are run, and the rest are counted. MPI's algorithms, whose
// ranks take turns, send messages whole.
Timeline Clock::time_with(const Problem& problem, const TimedCall& call,
                          const MessageCosts& costs) {
  const Kept& kept = keep(problem, call);
  const Program& lanes = kept.program;
  const auto layout_of = [&](const Problem& each) {
    return call.selection.algorithm->layout(each, lanes.shape(), call.selection.parameters);
  };
  Layout layout = layout_of(problem);
  const auto is_uneven = [&] {
    return kept.orbits && !is_symmetric(layout, lanes.shape(), *lanes.symmetry());
  };
  if (is_uneven()) layout = layout_of(evened(problem, lanes.shape()));
  if (is_uneven()) {
    TimedCall of_all = call;
    of_all.folds = false;
    return time_with(problem, of_all, costs);
  }
  const auto bytes = static_cast<std::int64_t>(info(problem.dtype).bytes);
  const Algorithm& algorithm = *call.selection.algorithm;
  double tile_bytes = algorithm.takes_turns ? 0 : costs.tile_bytes;
  if (algorithm.is_in_network && topology_->in_network()->tile_bytes > 0)
    tile_bytes = topology_->in_network()->tile_bytes;
  const auto tile = static_cast<std::int64_t>(tile_bytes);
  const std::int64_t run_windows =
      std::clamp<std::int64_t>(most_run / std::max(lanes.size(), 1), 8, 96) / 2 * 2;
  const SizedProgram program(lanes, layout, bytes, tile, run_windows);
  SimulationOptions options = call.options;
  options.is_in_network = algorithm.is_in_network;
  options.takes_turns = algorithm.takes_turns;
  if (kept.orbits) options.link_orbits = &*kept.orbits;
  Timeline timeline = simulate(program, *topology_, costs, options);
  if (program.windows() == program.all_windows()) return timeline;
  const SizedProgram half(lanes, layout, bytes, tile, run_windows / 2);
  options.keep_events = false;
  const auto run = static_cast<double>(run_windows);
  const double period =
      (timeline.device_seconds - simulate(half, *topology_, costs, options).device_seconds) /
      (run / 2);
  const double windows =
      static_cast<double>(layout.elements() * bytes) / static_cast<double>(program.window_bytes());
  add_counted(timeline, period * (windows - run), windows / run);
  return timeline;
}

}  // namespace vranks
