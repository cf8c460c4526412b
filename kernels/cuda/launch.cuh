// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches the kernels of a plan for one op.
#pragma once

#include <algorithm>

#include "kernels/backend.hpp"
#include "kernels/cuda/cuda_error.hpp"
#include "kernels/cuda/tree_kernel.cuh"

namespace vranks::cuda {

// Copies row 0 of the fold's output to its other rows.
void broadcast_row(const TreeFold& fold, Stream stream);

template <int Levels, class Access, class Op, bool FromParts>
void launch(const Launch<Op, FromParts>& arguments, Stream stream) {
  constexpr std::int64_t columns = Access::template columns<typename Launch<Op, FromParts>::In>;
  const bool one = arguments.subtree_ranks >= arguments.ranks;
  const std::int64_t subtrees =
      one ? 1 : (arguments.ranks + arguments.subtree_ranks - 1) / arguments.subtree_ranks;
  const std::int64_t threads = subtrees * ((arguments.elements + columns - 1) / columns);
  const std::int64_t blocks = (threads + block_threads - 1) / block_threads;
  check_grid(blocks);
  tree_kernel<Levels, Access>
      <<<static_cast<unsigned>(blocks), block_threads, 0, stream>>>(arguments);
  check_cuda(cudaGetLastError(), "launching the tree kernel");
}

// Common: see is_common().
template <class Op, bool Common>
void launch_fold(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream) {
  using T = typename Op::Element;
  using Carried = typename Op::Carried;
  constexpr auto width = static_cast<std::int64_t>(sizeof(T));
  const bool aligned = rows_are_aligned(fold);

  Launch<Op, false> first{};
  first.op = Op::of(fold);
  first.in = first.original = reinterpret_cast<const T*>(fold.in);
  first.in_stride = first.original_stride = fold.in_stride_bytes / width;
  first.ranks = first.subtree_ranks = first.original_ranks = fold.ranks;
  first.elements = fold.elements;
  first.out = reinterpret_cast<T*>(fold.out);
  first.out_stride = fold.out_stride_bytes / width;
  first.out_rows = plan.count == 0 ? fold.out_rows : 1;

  const auto half = [&](int k) {
    return reinterpret_cast<Carried*>(static_cast<std::byte*>(workspace.data) +
                                      static_cast<std::size_t>(k % 2) * plan.half_bytes(fold));
  };
  if (plan.count > 0) {
    first.subtree_ranks = plan.cuts[0].subtree_ranks;
    first.parts = half(0);
  }
  const std::int64_t walked = std::min(first.subtree_ranks, first.ranks);
  if constexpr (Common) {
    if (aligned) {
      if (walked <= ranks_of_levels(few_levels))
        launch<few_levels, Vectors>(first, stream);
      else if (walked <= ranks_of_levels(some_levels))
        launch<some_levels, Vectors>(first, stream);
      else
        launch<most_levels, Vectors>(first, stream);
    } else if (walked <= ranks_of_levels(few_levels)) {
      // Four columns a thread keep enough loads in flight where there are few ranks.
      launch<few_levels, Singles<4>>(first, stream);
    } else {
      launch<most_levels, Singles<1>>(first, stream);
    }
  } else {
    // More carried bytes a row than this would not fit in registers.
    constexpr bool fits = sizeof(Carried) * Vectors::columns<T> <= 64;
    if (fits && aligned)
      launch<some_levels, std::conditional_t<fits, Vectors, Singles<1>>>(first, stream);
    else
      launch<some_levels, Singles<1>>(first, stream);
  }

  for (int k = 1; k <= plan.count; ++k) {
    Launch<Op, true> next{};
    next.op = first.op;
    next.in = half(k - 1);
    next.in_stride = fold.elements;
    next.ranks = plan.cuts[k - 1].subtrees();
    next.subtree_ranks = k < plan.count ? plan.cuts[k].subtree_ranks : next.ranks;
    next.elements = fold.elements;
    next.parts = k < plan.count ? half(k) : nullptr;
    next.out = first.out;
    next.out_stride = first.out_stride;
    next.out_rows = 1;
    next.original = first.original;
    next.original_stride = first.original_stride;
    next.original_ranks = fold.ranks;
    launch<some_levels, Singles<1>>(next, stream);
  }
  // Few columns can't write many rows at speed, so another launch spreads them.
  if (plan.count > 0 && fold.out_rows > 1) broadcast_row(fold, stream);
}

}  // namespace vranks::cuda
