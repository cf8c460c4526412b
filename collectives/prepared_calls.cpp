// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/prepared_calls.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <utility>

namespace vranks {

namespace {

bool is_same_kind(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.device == b.device;
}

// Of options that are kept. Workspace and stream are each call's own.
bool says(const PlanKey& key, Collective collective, const CollectiveOptions& options) {
  const Problem& problem = key.problem;
  return problem.collective == collective && problem.op == options.op &&
         problem.root == options.root &&
         std::bit_cast<std::uint64_t>(problem.factor) ==
             std::bit_cast<std::uint64_t>(options.factor) &&
         key.algorithm == options.algorithm &&
         key.policies == Policies{options.accumulate, options.mean, options.nan, options.fp8} &&
         key.parameters == options.parameters;
}

}  // namespace

bool PreparedCalls::keeps(const CollectiveOptions& options) {
  // All fields by name: with one more this no longer compiles, and says() may have to know it.
  const auto& [op, algorithm, parameters, nan, accumulate, mean, fp8, root, factor, weights, groups,
               permutation, counts, receive_counts, send_displacements, receive_displacements,
               ragged, ranks, workspace, stream] = options;
  return weights.empty() && groups.empty() && permutation.empty() && counts.empty() &&
         receive_counts.empty() && send_displacements.empty() && receive_displacements.empty() &&
         !ragged && ranks.data == nullptr;
}

const PreparedCall* PreparedCalls::find(Collective collective, const TensorView& in,
                                        const TensorView& out, const CollectiveOptions& options) {
  if (!keeps(options)) return nullptr;
  const auto at = std::ranges::find_if(kept_, [&](const PreparedCall& kept) {
    return is_same_kind(kept.in, in) && is_same_kind(kept.out, out) &&
           says(kept.call.key, collective, options);
  });
  if (at == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, at);
  Call& call = at->call;
  if (!call.in.move_to(in.data) || !call.out.move_to(out.data)) return nullptr;
  const Problem& problem = call.key.problem;
  call.aliasing = aliasing_of(problem, {&problem.ranks, 1}, call.in, call.out);
  return &*at;
}

const PreparedCall& PreparedCalls::keep(TensorView in, TensorView out, Call call,
                                        std::shared_ptr<const Plan> plan) {
  constexpr std::size_t most = 16;
  if (kept_.size() < most) kept_.emplace_back();
  // The one whose use is longest ago makes room.
  kept_.splice(kept_.begin(), kept_, std::prev(kept_.end()));
  PreparedCall& latest = kept_.front();
  latest.in = std::move(in);
  latest.out = std::move(out);
  latest.call = std::move(call);
  latest.plan = std::move(plan);
  return latest;
}

}  // namespace vranks
