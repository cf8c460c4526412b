// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "collectives/interpreters/fold_code.hpp"
#include "collectives/interpreters/interpret.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// The dtype that partial results are carried in.
std::string accumulate_name(const Problem& problem, const Arithmetic& rules) {
  switch (rules.accumulate) {
    case Accumulate::f32:
    case Accumulate::f64:
      return std::string(name(rules.accumulate));
    case Accumulate::exact: {
      const bool has_sign = info(rules.dtype).kind == DTypeKind::signed_integer;
      return fmt::format("{}{}", has_sign ? "i" : "u", size_bytes(rules.dtype) == 8 ? 128 : 64);
    }
    case Accumulate::storage:
      break;
  }
  if (rules.op == ReduceOp::log_sum_exp && size_bytes(rules.dtype) < 8) return "f32";
  return std::string(name(problem.dtype));
}

// "ranks are 0 to 3", and where they come in groups "group 1 has 1 rank, 0 to 0".
std::string ranks_text(const Problem& problem, const PlanKey& key, std::size_t group) {
  return key.groups.empty() ? fmt::format("ranks are 0 to {}", problem.ranks - 1)
                            : fmt::format("group {} has {} rank{}, 0 to {}", group, problem.ranks,
                                          problem.ranks == 1 ? "" : "s", problem.ranks - 1);
}

void check(const Problem& problem, const PlanKey& key, std::size_t group) {
  if (problem.ranks < 1 || problem.elements < 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("a problem needs R >= 1 and n >= 0, not R = {} and n = {}",
                            problem.ranks, problem.elements));
  if (problem.ranks > INT32_MAX)
    throw Error(ErrorKind::not_supported,
                fmt::format("R = {}: there are at most 2^31 - 1 ranks", problem.ranks));
  if (problem.root < 0 || problem.root >= problem.ranks)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("root {} is no rank: {}{}", problem.root, ranks_text(problem, key, group),
                    has_root(problem.collective) ? "" : ", nor has the collective any"));
  if (problem.root != 0 && !has_root(problem.collective))
    throw Error(ErrorKind::bad_argument, fmt::format("{} has no root, but {} is given",
                                                     name(problem.collective), problem.root));
  if (!takes_counts(problem.collective) && !problem.counts.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("{} gives every rank as much and takes no counts, but {} are given",
                            name(problem.collective), problem.counts.size()));
  // Displacements and counts that don't fit.
  if (takes_counts(problem.collective) || !problem.send_displacements.empty() ||
      !problem.receive_displacements.empty()) {
    (void)block_starts(problem, Slot::input);
    (void)block_starts(problem, Slot::output);
  } else if (ScheduleShape{.collective = problem.collective}.has_parts() &&
             problem.collective != Collective::permute) {
    block_lengths(problem);
  }
  const bool permutes = problem.collective == Collective::permute;
  if (permutes != !problem.sources.empty())
    throw Error(ErrorKind::bad_argument,
                permutes ? std::string("permute needs a permutation: pairs (source, destination)")
                         : fmt::format("{} has no permutation, but one is given",
                                       name(problem.collective)));
}

}  // namespace

Problem group_problem(const PlanKey& key, std::size_t group) {
  Problem problem = key.problem;
  if (key.groups.empty()) return problem;
  const Group& ranks = key.groups[group];
  problem.ranks = static_cast<std::int64_t>(ranks.size());
  if (!problem.weights.empty()) {
    if (problem.weights.size() != static_cast<std::size_t>(key.problem.ranks))
      throw Error(ErrorKind::bad_argument,
                  fmt::format("op weighted_mean over {} ranks needs as many weights, not {}",
                              key.problem.ranks, problem.weights.size()));
    problem.weights.clear();
    for (const std::int64_t rank : ranks)
      problem.weights.push_back(key.problem.weights[static_cast<std::size_t>(rank)]);
  }
  return problem;
}

Choice choose(const PlanKey& key, std::size_t group) {
  const Problem problem = group_problem(key, group);
  check(problem, key, group);
  const Algorithm& algorithm = find_algorithm(key.algorithm, problem.collective);
  Choice choice;
  choice.selection = select(algorithm, problem, key.parameters);
  if (key.is_custom) {
    if (key.policies != Policies{})
      throw Error(ErrorKind::bad_argument,
                  "accumulate, mean, NaN and fp8 policies are about vranks' own ops; a custom op "
                  "has its own");
    // A custom op may tell its sides apart, as the rules for NaNs do.
    choice.rules = {.dtype = problem.dtype,
                    .nan_bits = NanBits::own,
                    .group = problem.ranks,
                    .computes_alone = true};
  } else {
    const std::span<const std::int64_t> ranks =
        key.groups.empty() ? std::span<const std::int64_t>() : key.groups[group];
    choice.rules = resolve(problem, choice.selection, key.policies, {group, ranks});
  }
  const Algorithm& runs = *choice.selection.algorithm;
  const bool combines = reduces(problem.collective);
  const bool is_nccl = runs.name.starts_with("nccl_");
  const bool is_fp8 = problem.dtype == DType::f8e4m3 || problem.dtype == DType::f8e5m2;
  choice.provenance = {
      .algorithm = std::string(runs.name),
      .reason = choice.selection.reason,
      .device = to_string(key.device),
      .executor = "fused",
      .layout = std::string(name(runs.layout)),
      .accumulate = key.is_custom ? "custom"
                    : combines    ? accumulate_name(problem, choice.rules)
                                  : "",
      .mean = combines && !key.is_custom && problem.op == ReduceOp::mean
                  ? std::string(name(choice.rules.mean))
                  : "",
      .nan = combines && !key.is_custom && is_ordered(problem.op) && has_nan(problem.dtype)
                 ? std::string(name(choice.rules.nan))
                 : "",
      .fp8 = combines && !key.is_custom && is_fp8 ? std::string(name(choice.rules.fp8)) : "",
      .protocol = is_nccl ? std::string(name(choice.selection.parameters.protocol)) : "",
      .channels = is_nccl ? choice.selection.parameters.channels : 0};
  return choice;
}

Choice choose_all(const PlanKey& key) {
  Choice first = choose(key);
  std::vector<Problem> checked{group_problem(key, 0)};
  for (std::size_t g = 1; g < group_count(key); ++g) {
    Problem problem = group_problem(key, g);
    if (std::ranges::find(checked, problem) != checked.end()) continue;
    (void)choose(key, g);
    checked.push_back(std::move(problem));
  }
  return first;
}

Schedule build_schedule(const Problem& problem, const Selection& selection) {
  // Each piece costs transfers of all ranks; more make a schedule large, not a vector fast.
  constexpr std::int32_t most_pieces = 1 << 16;
  if (selection.parameters.chunks > most_pieces)
    throw Error(ErrorKind::not_supported,
                fmt::format("chunks {}: a vector is cut into at most {} pieces",
                            selection.parameters.chunks, most_pieces));
  try {
    Problem even = problem;
    even.collective = even_form(problem.collective);
    return selection.algorithm->build(even, selection.parameters);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::not_available,
                fmt::format("no memory for the schedule of {} over {} ranks",
                            selection.algorithm->name, problem.ranks));
  }
}

Layout make_layout(const Problem& problem, const Schedule& schedule, const Selection& selection) {
  Layout layout = selection.algorithm->layout(problem, schedule.shape(), selection.parameters);
  layout.place_blocks(problem, schedule.shape());
  return layout;
}

Plan::Plan(const PlanKey& key, const Prepare& prepare)
    : key_(key), backend_(backend_for(key.device)) {
  const Choice choice = choose(key_);
  provenance_ = choice.provenance;
  rules_ = choice.rules;
  parts_ = key_.is_custom ? 1 : parts_of(key_.problem).count;
  is_tree_fold_ = key_.groups.empty() && !key_.scattered && !key_.is_custom &&
                  reduces(key_.problem.collective) &&
                  vranks::is_tree_fold(*choice.selection.algorithm, rules_) &&
                  backend_.folds_trees_of(rules_.dtype);
  std::size_t most = 0;
  if (is_tree_fold_) {
    // Blocks may lie side by side or apart, whichever needs more.
    const auto row = static_cast<std::int64_t>(size_bytes(rules_.dtype)) *
                     row_elements(key_.problem, Slot::output, 0) * parts_;
    for (const std::int64_t stride : {row, row + 1})
      for_tree_folds({.in = {}, .out = {.stride_bytes = stride}}, [&](const TreeFold& fold) {
        most = std::max(most, backend_.workspace_bytes(fold, key_.device.index));
      });
  } else {
    prepare_groups(prepare);
    for (const auto& prepared : prepared_) most = std::max(most, prepared->workspace_bytes());
  }
  workspace_bytes_ = (most + 255) / 256 * 256;
}

void Plan::prepare_groups(const Prepare& prepare) {
  // Groups that differ in nothing but their ranks are one program.
  struct Kind {
    Problem problem;
    FoldProgram group, all;
  };
  std::vector<Kind> kinds;
  std::int32_t row = 0;
  for (std::size_t g = 0; g < group_count(key_); ++g) {
    const Problem problem = group_problem(key_, g);
    auto kind = std::ranges::find(kinds, problem, &Kind::problem);
    if (kind == kinds.end()) {
      const Choice choice = choose(key_, g);
      const Schedule schedule = build_schedule(problem, choice.selection);
      const Layout layout = make_layout(problem, schedule, choice.selection).in_parts(parts_);
      FusedProgram fused;
      if (layout.elements() > 0)
        fused = make_fold_program(interpret(schedule), schedule.shape(), layout, choice.rules);
      rereads_ = rereads_ || fused.rereads;
      fused.program.filling = identity(choice.rules, problem);
      kinds.push_back({problem, std::move(fused.program), {}});
      kind = kinds.end() - 1;
      kind->all.arithmetic = choice.rules;
      kind->group.arithmetic = choice.rules;
      kind->all.filling = kind->group.filling;
    }
    // Rows, and so weights, count through all groups.
    const auto& weights = kind->group.arithmetic.weights;
    kind->all.arithmetic.weights.resize(weights.empty() ? 0 : static_cast<std::size_t>(row));
    kind->all.arithmetic.weights.insert(kind->all.arithmetic.weights.end(), weights.begin(),
                                        weights.end());
    append_group(kind->all, kind->group, row,
                 ends_at_root(problem.collective) ? static_cast<std::int32_t>(g) : row);
    row += static_cast<std::int32_t>(problem.ranks);
  }
  for (Kind& kind : kinds)
    if (!kind.all.pieces.empty())
      prepared_.push_back(prepare ? prepare(std::move(kind.all), key_)
                                  : backend_.prepare(std::move(kind.all), key_.device.index));
}

template <class Run>
void Plan::for_tree_folds(const FoldRows& rows, Run&& run) const {
  const Problem& problem = key_.problem;
  TreeFold fold{.in = rows.in.data,
                .in_stride_bytes = rows.in.stride_bytes,
                .out = rows.out.data,
                .out_stride_bytes = rows.out.stride_bytes,
                .out_rows = 1,
                .ranks = problem.ranks,
                .elements = problem.elements * parts_,
                .dtype = rules_.dtype,
                .op = rules_.op,
                .nan = rules_.nan,
                .fp8 = rules_.fp8};
  if (problem.collective == Collective::all_reduce) fold.out_rows = problem.ranks;
  if (even_form(problem.collective) != Collective::reduce_scatter) return run(fold);
  // Blocks that lie side by side are one row.
  const auto width = static_cast<std::int64_t>(size_bytes(rules_.dtype));
  const std::vector<std::int64_t> blocks = block_lengths(problem);
  const bool side_by_side = std::ranges::all_of(
      blocks, [&](std::int64_t block) { return block * parts_ * width == rows.out.stride_bytes; });
  if (side_by_side || problem.ranks == 1) return run(fold);
  for (const std::int64_t block : blocks) {
    fold.elements = block * parts_;
    if (block > 0) run(fold);
    if (rows.in.data == nullptr) continue;  // asked for sizes only
    fold.in += fold.elements * width;
    fold.out += rows.out.stride_bytes;
  }
}

void Plan::run(const FoldRows& rows, Workspace workspace, Stream stream) const {
  if (is_tree_fold_)
    for_tree_folds(rows, [&](const TreeFold& fold) {
      backend_.fold(fold, key_.device.index, workspace, stream);
    });
  for (const auto& prepared : prepared_) prepared->run(rows, workspace, stream);
}

std::shared_ptr<const Plan> Plan::of(const PlanKey& key) {
  static PlanCache cache;
  return cache.of(key);
}

std::shared_ptr<const Plan> PlanCache::of(const PlanKey& key, const Prepare& prepare) {
  constexpr std::size_t most = 64;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = kept_.begin(); at != kept_.end(); ++at)
      if (at->first == key) {
        kept_.splice(kept_.begin(), kept_, at);
        return kept_.front().second;
      }
  }
  auto plan = std::make_shared<const Plan>(key, prepare);
  const std::lock_guard lock(mutex_);
  kept_.emplace_front(key, plan);
  if (kept_.size() > most) kept_.pop_back();
  return plan;
}

}  // namespace vranks
