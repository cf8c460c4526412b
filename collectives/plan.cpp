// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <new>

#include "collectives/interpreters/fold_code.hpp"
#include "collectives/interpreters/interpret.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// The dtype that partial results are carried in.
std::string accumulate_name(const Arithmetic& rules) {
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
  return std::string(name(rules.dtype));
}

void check(const Problem& problem) {
  if (problem.ranks < 1 || problem.elements < 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("a problem needs R >= 1 and n >= 0, not R = {} and n = {}",
                            problem.ranks, problem.elements));
  if (problem.ranks > INT32_MAX)
    throw Error(ErrorKind::not_supported,
                fmt::format("R = {}: there are at most 2^31 - 1 ranks", problem.ranks));
  if (problem.root < 0 || problem.root >= problem.ranks)
    throw Error(ErrorKind::bad_argument,
                fmt::format("root {} is no rank of 0 to {}", problem.root, problem.ranks - 1));
  if (problem.root != 0 && !has_root(problem.collective))
    throw Error(ErrorKind::bad_argument, fmt::format("{} has no root, but {} is given",
                                                     name(problem.collective), problem.root));
  if (problem.collective == Collective::reduce_scatter) block_elements(problem);
}

}  // namespace

Choice choose(const PlanKey& key) {
  check(key.problem);
  const Algorithm& algorithm = find_algorithm(key.algorithm, key.problem.collective);
  Choice choice;
  choice.selection = select(algorithm, key.problem, key.parameters);
  choice.rules = resolve(key.problem, choice.selection, key.policies);
  const Algorithm& runs = *choice.selection.algorithm;
  const bool combines = reduces(key.problem.collective);
  const bool is_ordered =
      combines && (key.problem.op == ReduceOp::min || key.problem.op == ReduceOp::max);
  const bool is_nccl = runs.name.starts_with("nccl_");
  choice.provenance = {
      .algorithm = std::string(runs.name),
      .reason = choice.selection.reason,
      .device = to_string(key.device),
      .executor = "fused",
      .layout = std::string(name(runs.layout)),
      .accumulate = combines ? accumulate_name(choice.rules) : "",
      .mean =
          combines && key.problem.op == ReduceOp::mean ? std::string(name(choice.rules.mean)) : "",
      .nan = is_ordered ? std::string(name(choice.rules.nan)) : "",
      .protocol = is_nccl ? std::string(name(choice.selection.parameters.protocol)) : "",
      .channels = is_nccl ? choice.selection.parameters.channels : 0};
  return choice;
}

Schedule build_schedule(const Problem& problem, const Selection& selection) {
  // Each piece costs transfers of all ranks; more make a schedule large, not a vector fast.
  constexpr std::int32_t most_pieces = 1 << 16;
  if (selection.parameters.chunks > most_pieces)
    throw Error(ErrorKind::not_supported,
                fmt::format("chunks {}: a vector is cut into at most {} pieces",
                            selection.parameters.chunks, most_pieces));
  try {
    return selection.algorithm->build(problem, selection.parameters);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::not_available,
                fmt::format("no memory for the schedule of {} over {} ranks",
                            selection.algorithm->name, problem.ranks));
  }
}

Layout make_layout(const Problem& problem, const Schedule& schedule, const Selection& selection) {
  return selection.algorithm->layout(problem, schedule.shape(), selection.parameters);
}

Plan::Plan(const PlanKey& key)
    : key_(key), backend_(backend_for(key.device)), choice_(choose(key)) {
  const Problem& problem = key_.problem;
  is_tree_fold_ = reduces(problem.collective) &&
                  vranks::is_tree_fold(*choice_.selection.algorithm, choice_.rules);
  if (is_tree_fold_ || problem.elements == 0) return;
  const Schedule schedule = build_schedule(problem, choice_.selection);
  const Layout layout = make_layout(problem, schedule, choice_.selection);
  FusedProgram fused =
      make_fold_program(interpret(schedule), schedule.shape(), layout, choice_.rules);
  rereads_ = fused.rereads;
  prepared_ = backend_.prepare(std::move(fused.program), key_.device.index);
}

std::vector<TreeFold> Plan::tree_folds(const Rows& in, const Rows& out) const {
  const Problem& problem = key_.problem;
  TreeFold fold{.in = in.data,
                .in_stride_bytes = in.stride_bytes,
                .out = out.data,
                .out_stride_bytes = out.stride_bytes,
                .out_rows = 1,
                .ranks = problem.ranks,
                .elements = problem.elements,
                .dtype = problem.dtype,
                .op = problem.op,
                .nan = choice_.rules.nan};
  if (problem.collective == Collective::all_reduce) fold.out_rows = problem.ranks;
  if (problem.collective != Collective::reduce_scatter) return {fold};
  // Blocks that lie side by side are one row.
  const std::int64_t block = problem.elements / problem.ranks;
  const std::int64_t block_bytes = block * in.element_bytes;
  if (out.stride_bytes == block_bytes) return {fold};
  std::vector<TreeFold> folds;
  fold.elements = block;
  for (std::int64_t r = 0; r < problem.ranks; ++r) {
    folds.push_back(fold);
    if (in.data == nullptr) break;  // asked for sizes only, which all blocks share
    fold.in += block_bytes;
    fold.out += out.stride_bytes;
  }
  return folds;
}

std::size_t Plan::kernel_bytes() const {
  std::size_t most = 0;
  if (is_tree_fold_) {
    // Blocks may lie side by side or apart, whichever needs more.
    for (const std::int64_t stride :
         {key_.problem.elements / key_.problem.ranks, -std::int64_t{1}}) {
      const Rows rows{.stride_bytes = stride, .element_bytes = 1};
      for (const TreeFold& fold : tree_folds(rows, rows))
        most = std::max(most, backend_.workspace_bytes(fold, key_.device.index));
    }
  } else {
    most = prepared_->workspace_bytes();
  }
  return (most + 255) / 256 * 256;
}

std::size_t Plan::workspace_bytes(bool in_place, bool staged) const {
  if (key_.problem.elements == 0) return 0;
  const bool copies = staged || (in_place && rereads_);
  const auto input = static_cast<std::size_t>(key_.problem.ranks * key_.problem.elements) *
                     size_bytes(key_.problem.dtype);
  return kernel_bytes() + (copies ? input : 0);
}

void Plan::run(const Rows& in, const Rows& out, bool in_place, bool staged, Workspace workspace,
               Stream stream) const {
  if (key_.problem.elements == 0) return;
  Rows from = in;
  if (staged || (in_place && rereads_)) {
    from.data = static_cast<std::byte*>(workspace.data) + kernel_bytes();
    from.stride_bytes = in.row_bytes();
    backend_.copy_rows(in, from.data, key_.device.index, stream);
  }
  if (is_tree_fold_)
    for (const TreeFold& fold : tree_folds(from, out))
      backend_.fold(fold, key_.device.index, workspace, stream);
  else
    prepared_->run({from.data, from.stride_bytes, out.data, out.stride_bytes}, workspace, stream);
}

std::shared_ptr<const Plan> Plan::of(const PlanKey& key) {
  constexpr std::size_t most = 64;
  static std::mutex mutex;
  static std::list<std::pair<PlanKey, std::shared_ptr<const Plan>>> kept;  // latest use first
  {
    const std::lock_guard lock(mutex);
    for (auto at = kept.begin(); at != kept.end(); ++at)
      if (at->first == key) {
        kept.splice(kept.begin(), kept, at);
        return kept.front().second;
      }
  }
  auto plan = std::make_shared<const Plan>(key);
  const std::lock_guard lock(mutex);
  kept.emplace_front(key, plan);
  if (kept.size() > most) kept.pop_back();
  return plan;
}

}  // namespace vranks
