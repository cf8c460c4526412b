// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/plan.hpp"

#include <algorithm>

namespace vranks::cuda {

namespace {

// With sixteen 8-byte loads in flight each, this many threads on a multiprocessor hide the memory's
// latency twice over.
constexpr std::int64_t threads_wanted = 512;
// Fewer rows than this are walked at once: a further launch would cost more than it saves.
constexpr std::int64_t least_subtree = 32;
constexpr std::int64_t largest_subtree = 1024;

}  // namespace

bool is_common(const TreeFold& fold) {
  return fold.op != ReduceOp::prod &&
         (is_floating(fold.dtype) || fold.dtype == DType::i32 || fold.dtype == DType::i64);
}

Plan::Plan(const TreeFold& fold, int multiprocessors) {
  const std::int64_t wanted = multiprocessors * threads_wanted;
  const std::int64_t row_bytes = fold.elements * static_cast<std::int64_t>(size_bytes(fold.dtype));
  std::int64_t threads_a_row = (row_bytes + 7) / 8;
  std::int64_t ranks = fold.ranks;
  constexpr std::int64_t most_a_thread = ranks_of_levels(few_levels);
  if (is_common(fold) && ranks > block_ranks && ranks <= most_shared * most_a_thread &&
      threads_a_row < wanted) {
    shared_ranks = block_ranks;
    const auto subtrees = [&](std::int64_t size) { return (ranks + size - 1) / size; };
    while (shared_ranks < most_a_thread && (subtrees(shared_ranks) > most_shared ||
                                            threads_a_row * subtrees(2 * shared_ranks) >= wanted))
      shared_ranks *= 2;
  }
  // Parts are combined by a kernel with some_levels.
  const auto walked_at_once = [&] {
    return ranks_of_levels(count == 0 && is_common(fold) ? most_levels : some_levels);
  };
  while (ranks > walked_at_once() || (ranks > 2 * least_subtree && threads_a_row < wanted)) {
    std::int64_t subtree = largest_subtree;
    while (subtree > least_subtree && threads_a_row * ((ranks + subtree - 1) / subtree) < wanted)
      subtree /= 2;
    cuts[count] = {ranks, subtree};
    ranks = cuts[count].subtrees();
    ++count;
    threads_a_row = fold.elements;  // parts are read one by one
  }
  last_ranks = ranks;
}

std::size_t Plan::half_bytes(const TreeFold& fold) const {
  if (count == 0) return 0;
  // The first launch leaves the most parts.
  const std::size_t bytes =
      static_cast<std::size_t>(cuts[0].subtrees() * fold.elements) * widest_carried_bytes(fold);
  return (bytes + 255) / 256 * 256;
}

std::size_t Plan::workspace_bytes(const TreeFold& fold) const {
  return half_bytes(fold) * static_cast<std::size_t>(std::min(count, 2));
}

std::size_t widest_carried_bytes(const TreeFold& fold) {
  if (is_floating(fold.dtype)) return std::max<std::size_t>(4, size_bytes(fold.dtype));
  return size_bytes(fold.dtype) == 8 ? 16 : 8;
}

bool rows_are_aligned(const TreeFold& fold, std::uintptr_t bytes) {
  const auto aligned = [&](auto number) {
    return static_cast<std::uintptr_t>(number) % bytes == 0;
  };
  return aligned(reinterpret_cast<std::uintptr_t>(fold.in)) &&
         aligned(reinterpret_cast<std::uintptr_t>(fold.out)) &&
         aligned(fold.elements * static_cast<std::int64_t>(size_bytes(fold.dtype))) &&
         (fold.ranks == 1 || aligned(fold.in_stride_bytes)) &&
         (fold.out_rows == 1 || aligned(fold.out_stride_bytes));
}

}  // namespace vranks::cuda
