// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/interpreters/lower.hpp"
#include "collectives/plan.hpp"
#include "ranks/error.hpp"
#include "simulator/spread_lanes.hpp"

namespace vranks {

namespace {

constexpr std::size_t most_kept = 4;
constexpr std::int64_t run_windows = 96;

// The problem without what schedules don't depend on.
Problem shape_of(Problem problem) {
  problem.elements = 0;
  problem.dtype = DType::f32;
  problem.op = ReduceOp::sum;
  problem.nan = NanPolicy::propagate;
  problem.counts.clear();
  return problem;
}

}  // namespace

Clock::Clock(std::shared_ptr<const Machine> machine, std::int32_t ranks,
             std::int32_t ranks_per_node)
    : machine_(std::move(machine)),
      topology_(machine_->place(ranks, ranks_per_node)),
      software_(machine_->software()) {}

const Program& Clock::program(const Problem& problem, const TimedCall& call) {
  const Selection& selection = call.selection;
  const Problem shape = shape_of(problem);
  const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) {
    return kept.algorithm == selection.algorithm && kept.parameters == selection.parameters &&
           kept.problem == shape && kept.channels == call.channels &&
           kept.instances == call.instances;
  });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front().program;
  }
  const Schedule schedule = build_schedule(problem, selection);
  if (schedule.transfers() > most_transfers())
    throw Error(ErrorKind::not_supported,
                fmt::format("{} over {} ranks has {} transfers; the clock takes at most {}",
                            selection.algorithm->name, problem.ranks, schedule.transfers(),
                            most_transfers()));
  Program program = lower(schedule);
  if (call.channels > 0 || call.instances > 1)
    program = spread_lanes(program, call.channels, call.instances);
  if (kept_.size() == most_kept) kept_.pop_back();
  kept_.push_front({shape, selection.algorithm, selection.parameters, call.channels, call.instances,
                    std::move(program)});
  return kept_.front().program;
}

Layout Clock::layout(const Problem& problem, const TimedCall& call) {
  return call.selection.algorithm->layout(problem, program(problem, call).shape(),
                                          call.selection.parameters);
}

// Once the first windows have filled the pipeline, each further one takes as long as the one before
// it: of many windows only the first are run, and the rest are counted.
Timeline Clock::time(const Problem& problem, const TimedCall& call) {
  const Program& lanes = this->program(problem, call);
  const Layout layout = this->layout(problem, call);
  const auto bytes = static_cast<std::int64_t>(info(problem.dtype).bytes);
  const MessageCosts& costs = this->costs(call.protocol);
  const auto tile = static_cast<std::int64_t>(costs.tile_bytes);
  const SizedProgram program(lanes, layout, bytes, tile, run_windows);
  Timeline timeline = simulate(program, *topology_, costs, call.options);
  if (program.windows() == program.all_windows()) return timeline;
  const SizedProgram half(lanes, layout, bytes, tile, run_windows / 2);
  const double period =
      (timeline.device_seconds - simulate(half, *topology_, costs).device_seconds) /
      (run_windows / 2);
  const double windows =
      static_cast<double>(layout.elements() * bytes) / static_cast<double>(program.window_bytes());
  const double more = period * (windows - run_windows);
  timeline.device_seconds += more;
  timeline.seconds = std::max(timeline.device_seconds, costs.floor);
  for (double& rank : timeline.ranks) rank += more;
  for (LinkUse& link : timeline.links) {
    link.bytes *= windows / run_windows;
    link.busy *= windows / run_windows;
  }
  return timeline;
}

const CostInfo& find_cost(std::string_view name) {
  const auto found = std::ranges::find(cost_infos(), name, &CostInfo::name);
  if (found == cost_infos().end()) {
    std::string all;
    for (const CostInfo& each : cost_infos()) (all += ' ') += each.name;
    throw Error(ErrorKind::bad_argument,
                fmt::format("there is no cost '{}'; there are:{}", name, all));
  }
  return *found;
}

}  // namespace vranks
