// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches the kernels of a plan for one op.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/backend.hpp"
#include "kernels/cuda/cuda_error.hpp"
#include "kernels/cuda/tree_kernel.cuh"

namespace vranks::cuda {

// Copies row 0 of the fold's output to its other rows.
void broadcast_row(const TreeFold& fold, Stream stream);

// Blocks of one launch, for `rows` subtrees.
template <class Access, class Op, bool FromParts>
std::int64_t blocks_for(std::int64_t rows, const Launch<Op, FromParts>& arguments) {
  const std::int64_t threads = rows * threads_a_row<Access>(arguments);
  return (threads + block_threads - 1) / block_threads;
}

template <int Levels, int rows, class Access, class Op, bool FromParts>
void launch(const Launch<Op, FromParts>& arguments, Stream stream) {
  const std::int64_t subtrees =
      (arguments.ranks + arguments.subtree_ranks - 1) / arguments.subtree_ranks;
  launch_overlapping("launching the tree kernel", tree_kernel<Levels, rows, Access, Op, FromParts>,
                     blocks_for<Access>(subtrees, arguments), stream, arguments);
}

// By the number of rows that a thread walks.
template <class Access, class Op>
void launch_levels(const Launch<Op, false>& arguments, Stream stream) {
  const std::int64_t walked = std::min(arguments.subtree_ranks, arguments.ranks);
  if (walked <= ranks_of_levels(some_levels))
    launch<some_levels, block_ranks, Access>(arguments, stream);
  else
    launch<most_levels, block_ranks, Access>(arguments, stream);
}

template <int R, int bytes, class Op>
void launch_few_ranks(const Launch<Op, false>& arguments, Stream stream) {
  using T = typename Op::Element;
  using Access = Groups<T, bytes / sizeof(T), 1>;
  if constexpr (R > 2)
    if (arguments.ranks < R) return launch_few_ranks<R - 1, bytes>(arguments, stream);
  launch_overlapping("launching the kernel of few ranks", few_ranks_kernel<R, Access, Op>,
                     blocks_for<Access>(1, arguments), stream, arguments);
}

// Columns that the threads of a block share, in subtrees of that many ranks.
template <class Access, class Op>
void launch_shared(Launch<Op, false> arguments, std::int64_t subtree_ranks, Stream stream) {
  arguments.subtree_ranks = subtree_ranks;
  const auto subtrees =
      static_cast<std::uint64_t>((arguments.ranks + subtree_ranks - 1) / subtree_ranks);
  arguments.block_groups = block_threads / static_cast<int>(std::bit_ceil(subtrees));
  const std::int64_t block_columns = std::int64_t{arguments.block_groups} * Access::columns;
  launch_overlapping("launching the shared tree kernel", shared_tree_kernel<Access, Op>,
                     (arguments.elements + block_columns - 1) / block_columns, stream, arguments);
}

// Rows that begin anywhere; Levels and rows as of the kernel.
template <int Levels, int rows, int pack_bytes, class Op>
void launch_shifted(Launch<Op, false> arguments, Stream stream) {
  using T = typename Op::Element;
  using Access = ShiftedPacks<T, pack_bytes>;
  constexpr std::int64_t columns = Access::columns;
  const auto beyond = reinterpret_cast<std::uintptr_t>(arguments.out) % pack_bytes / sizeof(T);
  const std::int64_t lead =
      arguments.parts != nullptr || beyond == 0 ? 0 : columns - static_cast<std::int64_t>(beyond);
  // Behind the last pack there must be as many columns.
  const std::int64_t whole = arguments.elements - lead - columns;
  arguments.packs = whole < columns ? 0 : whole / columns;
  arguments.lead = arguments.packs == 0 ? 0 : static_cast<int>(lead);
  launch<Levels, rows, Access>(arguments, stream);
}

// Columns of 8 bytes, but fewer where more than 16 bytes would be carried for them, and 4 bytes at
// least. Measured on an H200: with sixteen rows at once that keeps enough loads in flight, and the
// tree's levels in registers that leave room for enough threads.
template <class Op>
inline constexpr int tree_columns =
    std::max(std::min(8 / sizeof(typename Op::Element), 16 / sizeof(typename Op::Carried)),
             (sizeof(typename Op::Element) + 3) / sizeof(typename Op::Element));

// Of 8-bit elements: with 16 of them a thread these wouldn't make a block a multiprocessor.
inline constexpr std::int64_t short_row = 1 << 18;

// Common: see is_common().
template <class Op, bool Common>
void launch_fold(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream) {
  using T = typename Op::Element;
  using Carried = typename Op::Carried;
  constexpr auto width = static_cast<std::int64_t>(sizeof(T));

  Launch<Op, false> first{};
  first.op = Op::of(fold);
  first.in = first.original = reinterpret_cast<const T*>(fold.in);
  first.in_stride = first.original_stride = fold.in_stride_bytes / width;
  first.ranks = first.subtree_ranks = first.original_ranks = fold.ranks;
  first.elements = fold.elements;
  first.out = reinterpret_cast<T*>(fold.out);
  first.out_stride = fold.out_stride_bytes / width;
  first.out_rows = fold.out_rows;
  using FewLevels = Groups<T, 8 / width, 1>;  // 8 bytes of any type leave registers for few levels
  if constexpr (Common)
    if (plan.shared_ranks > 0 && rows_are_aligned(fold, FewLevels::bytes))
      return launch_shared<FewLevels>(first, plan.shared_ranks, stream);

  const auto half = [&](int k) {
    return reinterpret_cast<Carried*>(static_cast<std::byte*>(workspace.data) +
                                      static_cast<std::size_t>(k % 2) * plan.half_bytes(fold));
  };
  if (plan.count > 0) {
    first.subtree_ranks = plan.cuts[0].subtree_ranks;
    first.parts = half(0);
    first.out_rows = 1;
  }
  using Columns = Groups<T, tree_columns<Op>, 1>;
  const bool aligned = rows_are_aligned(fold, Columns::bytes);
  if constexpr (Common) {
    if (first.ranks <= few_ranks && rows_are_aligned(fold, 16)) {
      // Short rows of many columns a thread would leave most of the machine idle.
      if (width == 1 && fold.elements <= short_row)
        launch_few_ranks<few_ranks, width == 1 ? 4 : 16>(first, stream);
      else
        launch_few_ranks<few_ranks, 16>(first, stream);
    } else if (first.ranks <= ranks_of_levels(few_levels) &&
               rows_are_aligned(fold, FewLevels::bytes)) {
      launch<few_levels, block_ranks, FewLevels>(first, stream);
    } else if (aligned) {
      launch_levels<Columns>(first, stream);
    } else if (first.ranks <= few_ranks) {
      if (first.ranks < 4)
        launch_shifted<0, 2, 16>(first, stream);
      else if (first.ranks < 8)
        launch_shifted<0, 4, 16>(first, stream);
      else
        launch_shifted<0, 8, 16>(first, stream);
    } else if constexpr (Columns::columns > 1) {
      if (std::min(first.subtree_ranks, first.ranks) <= ranks_of_levels(some_levels))
        launch_shifted<some_levels, block_ranks, Columns::bytes>(first, stream);
      else
        launch_shifted<most_levels, block_ranks, Columns::bytes>(first, stream);
    } else {
      launch_levels<SomeColumns<T, 1>>(first, stream);
    }
  } else {
    if (aligned)
      launch<some_levels, block_ranks, Columns>(first, stream);
    else
      launch<some_levels, block_ranks, SomeColumns<T, 1>>(first, stream);
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
    launch<some_levels, block_ranks, SomeColumns<Carried, 1>>(next, stream);
  }
  // Few columns can't write many rows at speed, so another launch spreads them.
  if (plan.count > 0 && fold.out_rows > 1) broadcast_row(fold, stream);
}

}  // namespace vranks::cuda
