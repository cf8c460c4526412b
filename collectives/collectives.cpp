// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/call.hpp"
#include "collectives/interpreters/rescue.hpp"
#include "collectives/prepared_calls.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

// Which operands kernels don't see themselves, and where in the workspace their copies lie.
struct Staging {
  bool in = false, out = false, ranks = false;
  std::size_t in_at = 0, out_at = 0, ranks_at = 0, bytes = 0;

  Staging(const Call& call, const Plan& plan) {
    in = !call.in.is_contiguous() || call.aliasing == Aliasing::moved ||
         (call.aliasing == Aliasing::same_places && plan.rereads());
    out = !call.out.is_contiguous();
    ranks = !call.ranks.is_contiguous();
    bytes = plan.workspace_bytes();
    const auto add = [&](bool staged, const Operand& operand) {
      const std::size_t at = bytes;
      if (staged) bytes += rounded(static_cast<std::size_t>(operand.bytes()));
      return at;
    };
    in_at = add(in, call.in);
    out_at = add(out, call.out);
    ranks_at = add(ranks, call.ranks);
  }
};

Provenance run_planned(const Call& call, const Plan& plan, const CollectiveOptions& options) {
  const Backend& backend = backend_for(call.key.device);
  const Staging staging(call, plan);
  Workspace workspace = options.workspace;
  if (workspace.data == nullptr)
    workspace = backend.kept_workspace(staging.bytes, call.key.device.index, options.stream);
  else if (workspace.bytes < staging.bytes)
    throw Error(ErrorKind::bad_argument,
                fmt::format("workspace has {} bytes but the call needs {} (workspace_bytes)",
                            workspace.bytes, staging.bytes));
  auto* const memory = static_cast<std::byte*>(workspace.data);
  FoldRows rows{.in = call.in.rows(), .out = call.out.rows(), .ranks = call.ranks.rows()};
  if (staging.in) {
    rows.in = packed_rows(memory + staging.in_at, call.in.slice_bytes());
    call.in.pack(rows.in.data, backend, options.stream);
  }
  if (staging.out) {
    rows.out = packed_rows(memory + staging.out_at, call.out.slice_bytes());
    // What lies between uneven blocks stays as it is.
    if (takes_counts(call.key.problem.collective))
      call.out.pack(rows.out.data, backend, options.stream);
  }
  if (staging.ranks) rows.ranks = packed_rows(memory + staging.ranks_at, call.ranks.slice_bytes());
  workspace.bytes = plan.workspace_bytes();
  plan.run(rows, workspace, options.stream);
  if (staging.out) call.out.unpack(rows.out.data, backend, options.stream);
  if (staging.ranks) call.ranks.unpack(rows.ranks.data, backend, options.stream);
  return plan.provenance();
}

}  // namespace

Provenance run_call(const Call& call, const CollectiveOptions& options, PlanCache* cache,
                    const Prepare& prepare) {
  if (call.is_empty()) return choose_all(call.key).provenance;
  const auto plan = !prepare           ? Plan::of(call.key)
                    : cache != nullptr ? cache->of(call.key, prepare)
                                       : std::make_shared<const Plan>(call.key, prepare);
  return run_planned(call, *plan, options);
}

namespace {

// Rows [first, first + count) as rows of their own.
struct SomeRows {
  std::vector<std::byte*> table;

  SomeRows(const RowAddresses& all, std::int64_t first, std::int64_t count) {
    for (std::int64_t r = first; r < first + count; ++r) table.push_back(all.row(r));
  }
  RowAddresses rows() const { return {.table = table}; }
};

// Means that overflow are formed again from the input, which may be overwritten by then.
class Rescue {
 public:
  Rescue(const RowAddresses& in, const Problem& problem, const Parts& parts, Device device)
      : problem_(problem), parts_(parts), device_(device), backend_(backend_for(device)) {
    const auto bytes = static_cast<std::size_t>(row_elements(problem, Slot::input) * parts.count) *
                       size_bytes(parts.dtype);
    for (std::int64_t r = 0; r < problem.ranks; ++r) {
      kept_.emplace_back(bytes);
      backend_.copy_to_host(kept_.back().data(), in.row(r), bytes, device.index);
      pointers_.push_back(kept_.back().data());
    }
  }

  void run(const RowAddresses& out) const {
    const bool is_block = even_form(problem_.collective) == Collective::reduce_scatter;
    const std::vector<std::int64_t> starts = block_starts(problem_, Slot::input);
    const std::int64_t rows = ends_at_root(problem_.collective) ? 1 : problem_.ranks;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t elements = row_elements(problem_, Slot::output, r) * parts_.count;
      const std::int64_t first = is_block ? starts[static_cast<std::size_t>(r)] * parts_.count : 0;
      std::vector<std::byte> row(static_cast<std::size_t>(elements) * size_bytes(parts_.dtype));
      backend_.copy_to_host(row.data(), out.row(r), row.size(), device_.index);
      rescue_means(pointers_, parts_.dtype, first, row.data(), elements);
      backend_.copy_from_host(out.row(r), row.data(), row.size(), device_.index);
    }
  }

 private:
  const Problem& problem_;
  Parts parts_;
  Device device_;
  const Backend& backend_;
  std::vector<std::vector<std::byte>> kept_;
  std::vector<const std::byte*> pointers_;
};

void run_group_steps(const Call& call, std::size_t group, std::int64_t first, const FoldRows& all,
                     const StepObserver& observer) {
  const Problem problem = group_problem(call.key, group);
  const Choice choice = choose(call.key, group);
  const Schedule schedule = build_schedule(problem, choice.selection);
  const Parts parts = parts_of(problem);
  const Layout layout = make_layout(problem, schedule, choice.selection).in_parts(parts.count);
  const bool at_root = ends_at_root(problem.collective);
  const SomeRows in(all.in, first, problem.ranks);
  const SomeRows out(all.out, at_root ? static_cast<std::int64_t>(group) : first,
                     at_root ? 1 : problem.ranks);
  FoldRows rows{.in = in.rows(), .out = out.rows()};
  std::optional<SomeRows> ranks;
  if (!call.ranks.empty()) {
    ranks.emplace(all.ranks, at_root ? static_cast<std::int64_t>(group) : first,
                  at_root ? 1 : problem.ranks);
    rows.ranks = ranks->rows();
  }
  std::optional<Rescue> rescue;
  if (choice.rules.rescues && problem.ranks > 1)
    rescue.emplace(rows.in, problem, parts, call.key.device);
  const auto filling = identity(choice.rules, problem);
  execute_steps(schedule, layout, choice.rules, rows, filling, call.key.device, observer);
  if (rescue) rescue->run(rows.out);
}

Provenance run_call_steps(const Call& call, const StepObserver& observer) {
  Provenance provenance = choose_all(call.key).provenance;
  provenance.executor = "steps";
  if (call.is_empty()) return provenance;
  const Device device = call.key.device;
  const Backend& backend = backend_for(device);
  FoldRows rows{.in = call.in.rows(), .out = call.out.rows(), .ranks = call.ranks.rows()};
  std::vector<DeviceBuffer> copies;
  const auto stage = [&](const Operand& operand, RowAddresses& addresses, bool is_read) {
    if (operand.is_contiguous() || operand.empty()) return;
    copies.emplace_back(static_cast<std::size_t>(operand.bytes()), device);
    addresses = packed_rows(static_cast<std::byte*>(copies.back().data()), operand.slice_bytes());
    if (is_read) operand.pack(addresses.data, backend, nullptr);
  };
  stage(call.in, rows.in, true);
  stage(call.out, rows.out, takes_counts(call.key.problem.collective));
  stage(call.ranks, rows.ranks, false);
  std::int64_t first = 0;
  for (std::size_t group = 0; group < group_count(call.key); ++group) {
    run_group_steps(call, group, first, rows, observer);
    first += group_problem(call.key, group).ranks;
  }
  if (!call.out.is_contiguous()) call.out.unpack(rows.out.data, backend, nullptr);
  if (!call.ranks.is_contiguous()) call.ranks.unpack(rows.ranks.data, backend, nullptr);
  return provenance;
}

}  // namespace

Provenance run(Collective collective, const TensorView& in, const TensorView& out,
               const CollectiveOptions& options) {
  thread_local PreparedCalls prepared;
  if (const PreparedCall* same = prepared.find(collective, in, out, options))
    return run_planned(same->call, *same->plan, options);
  Call call = make_call(collective, in, out, options);
  if (call.is_empty() || !PreparedCalls::keeps(options)) return run_call(call, options);
  auto plan = Plan::of(call.key);
  const PreparedCall& kept = prepared.keep(in, out, std::move(call), std::move(plan));
  return run_planned(kept.call, *kept.plan, options);
}

Provenance run(Collective collective, std::span<const TensorView> in,
               std::span<const TensorView> out, const CollectiveOptions& options) {
  return run_call(make_call(collective, in, out, options), options);
}

std::vector<Provenance> run_coalesced(Collective collective, std::span<const TensorView> in,
                                      std::span<const TensorView> out,
                                      const CollectiveOptions& options) {
  if (in.size() != out.size())
    throw Error(ErrorKind::bad_argument,
                fmt::format("{} inputs but {} outputs are given", in.size(), out.size()));
  std::vector<Call> calls;
  std::size_t most = 0;
  for (std::size_t k = 0; k < in.size(); ++k) {
    try {
      calls.push_back(make_call(collective, in[k], out[k], options));
      if (calls.back().is_empty())
        (void)choose_all(calls.back().key);
      else
        most = std::max(most, Staging(calls.back(), *Plan::of(calls.back().key)).bytes);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("tensor {}: {}", k, error.what()));
    }
  }
  if (options.workspace.data != nullptr && options.workspace.bytes < most)
    throw Error(ErrorKind::bad_argument,
                fmt::format("workspace has {} bytes but the call needs {} (workspace_bytes)",
                            options.workspace.bytes, most));
  std::vector<Provenance> all;
  for (const Call& call : calls) all.push_back(run_call(call, options));
  return all;
}

Provenance run_steps(Collective collective, const TensorView& in, const TensorView& out,
                     const CollectiveOptions& options, const StepObserver& observer) {
  return run_call_steps(make_call(collective, in, out, options), observer);
}

Provenance run_steps(Collective collective, std::span<const TensorView> in,
                     std::span<const TensorView> out, const CollectiveOptions& options,
                     const StepObserver& observer) {
  return run_call_steps(make_call(collective, in, out, options), observer);
}

#define VR_CALL(function, collective)                              \
  Provenance function(const TensorView& in, const TensorView& out, \
                      const CollectiveOptions& options) {          \
    return run(Collective::collective, in, out, options);          \
  }
VR_CALL(all_reduce, all_reduce)
VR_CALL(reduce_ranks, reduce)
VR_CALL(reduce_scatter, reduce_scatter)
VR_CALL(all_gather, all_gather)
VR_CALL(broadcast, broadcast)
VR_CALL(gather, gather)
VR_CALL(scatter, scatter)
VR_CALL(all_to_all, all_to_all)
VR_CALL(permute, permute)
VR_CALL(scan, scan)
VR_CALL(exscan, exscan)
#undef VR_CALL

std::size_t workspace_bytes(Collective collective, const TensorView& in, const TensorView& out,
                            const CollectiveOptions& options) {
  const Call call = make_call(collective, in, out, options);
  if (!call.is_empty()) return Staging(call, *Plan::of(call.key)).bytes;
  (void)choose_all(call.key);
  return 0;
}

namespace {

// In place or not, where input rows have that many elements.
std::size_t most_workspace(const PlanKey& key, std::int64_t row) {
  const Problem& problem = key.problem;
  if (problem.elements == 0) {
    (void)choose_all(key);
    return 0;
  }
  const auto plan = Plan::of(key);
  const bool may_move = even_form(problem.collective) == Collective::reduce_scatter ||
                        even_form(problem.collective) == Collective::scatter;
  const auto input = static_cast<std::size_t>(problem.ranks * row) * size_bytes(problem.dtype);
  return plan->workspace_bytes() + (plan->rereads() || may_move ? rounded(input) : 0);
}

}  // namespace

std::size_t workspace_bytes(Collective collective, const Shape& in, DType dtype, Device device,
                            const CollectiveOptions& options) {
  const Problem problem = problem_of(collective, in, dtype, options);
  return most_workspace(make_key(problem, device, options),
                        element_count({in.begin() + 1, in.end()}));
}

std::size_t workspace_bytes(const Problem& problem, Device device,
                            const CollectiveOptions& options) {
  if (options.ragged)
    throw Error(ErrorKind::bad_argument,
                fmt::format("how long ragged rows are is no part of a problem: ask for the "
                            "workspace of {} with the shape of its input",
                            name(problem.collective)));
  const PlanKey key = make_key(problem, device, options);
  // Counts are those of a group.
  return most_workspace(key, row_elements(group_problem(key, 0), Slot::input));
}

}  // namespace vranks
