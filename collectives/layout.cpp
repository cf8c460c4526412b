// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ranks/error.hpp"

namespace vranks {

Layout::Layout(std::int64_t elements, const std::vector<std::vector<Interval>>& chunks)
    : elements_(elements) {
  for (const auto& chunk : chunks) {
    for (const Interval& interval : chunk)
      if (interval.begin < interval.end) intervals_.push_back(interval);
    ends_.push_back(intervals_.size());
  }
  std::vector<Interval> sorted = intervals_;
  std::ranges::sort(sorted, {}, &Interval::begin);
  std::int64_t end = 0;
  for (const Interval& interval : sorted) {
    if (interval.begin != end) break;
    end = interval.end;
  }
  const bool covered = sorted.empty() || end == sorted.back().end;
  if (!covered || end != elements)
    throw Error(ErrorKind::bad_argument,
                fmt::format("the chunks don't cover {} elements once each: there is a gap or an "
                            "overlap at element {}",
                            elements, end));
}

std::int64_t Layout::length(std::int32_t c) const {
  std::int64_t sum = 0;
  for (const Interval& interval : chunk(c)) sum += interval.length();
  return sum;
}

std::int64_t whole_elements(const Problem& problem) {
  return problem.collective == Collective::all_gather ? problem.elements * problem.ranks
                                                      : problem.elements;
}

std::int64_t block_elements(const Problem& problem) {
  const std::int64_t whole = whole_elements(problem);
  if (whole % problem.ranks != 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("{} gives every rank an equal block: {} elements can't be cut into {} "
                            "blocks",
                            name(problem.collective), whole, problem.ranks));
  return whole / problem.ranks;
}

namespace {

using Chunks = std::vector<std::vector<Interval>>;

// Appends `elements` from `begin` on as `chunks` chunks, the first ones one longer.
void add_even(Chunks& all, std::int64_t begin, std::int64_t elements, std::int64_t chunks) {
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t length = elements / chunks + (c < elements % chunks);
    all.push_back({{begin, begin + length, begin}});
    begin += length;
  }
}

void add_halves(Chunks& all, std::int64_t begin, std::int64_t elements, std::int64_t chunks) {
  if (chunks == 1) {
    all.push_back({{begin, begin + elements, begin}});
    return;
  }
  add_halves(all, begin, elements / 2, chunks / 2);
  add_halves(all, begin + elements / 2, elements - elements / 2, chunks / 2);
}

constexpr LayoutInfo layout_table[] = {
    {even_layout, "even", "", "equal chunks, the first n mod C one element longer"},
    {halving_layout, "halving", "", "cut in halves again and again, the left one the shorter"},
    {counts_layout, "counts", "", "as many elements as --counts says"},
    {nccl_ring_layout, "nccl_ring", "", "parts of channels, windows, chunks of NCCL's ring"},
    {nccl_tree_layout, "nccl_tree", "", "parts of channels of NCCL's tree"},
    {msccl_layout, "msccl", "", "equal chunks; n must be a multiple of C"},
};

}  // namespace

Layout even_layout(const Problem& problem, const ScheduleShape& shape, const Parameters&) {
  Chunks chunks;
  if (shape.has_parts()) {
    const std::int64_t block = block_elements(problem);
    for (std::int64_t r = 0; r < problem.ranks; ++r)
      add_even(chunks, r * block, block, shape.part_chunks());
  } else {
    add_even(chunks, 0, whole_elements(problem), shape.chunks);
  }
  return {whole_elements(problem), chunks};
}

Layout halving_layout(const Problem& problem, const ScheduleShape& shape, const Parameters&) {
  if (!std::has_single_bit(static_cast<std::uint32_t>(shape.chunks)))
    throw Error(ErrorKind::bad_argument,
                fmt::format("layout halving needs a power of two of chunks, not {}", shape.chunks));
  Chunks chunks;
  add_halves(chunks, 0, whole_elements(problem), shape.chunks);
  return {whole_elements(problem), chunks};
}

Layout counts_layout(const Problem& problem, const ScheduleShape& shape,
                     const Parameters& parameters) {
  if (parameters.counts.size() != static_cast<std::size_t>(shape.chunks))
    throw Error(ErrorKind::bad_argument,
                fmt::format("layout counts needs one count for each of {} chunks, not {}",
                            shape.chunks, parameters.counts.size()));
  Chunks chunks;
  std::int64_t begin = 0;
  for (const std::int64_t count : parameters.counts) {
    if (count < 0 || count > whole_elements(problem) - begin)
      throw Error(
          ErrorKind::bad_argument,
          fmt::format("count {} of chunk {} doesn't fit: {} of {} elements are left", count,
                      chunks.size(), whole_elements(problem) - begin, whole_elements(problem)));
    chunks.push_back({{begin, begin + count, begin}});
    begin += count;
  }
  return {whole_elements(problem), chunks};
}

Layout msccl_layout(const Problem& problem, const ScheduleShape& shape,
                    const Parameters& parameters) {
  const std::int64_t whole = whole_elements(problem);
  if (whole % shape.chunks != 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("MSCCL cuts a vector into equal chunks: {} elements are no multiple of "
                            "{} chunks",
                            whole, shape.chunks));
  return even_layout(problem, shape, parameters);
}

std::span<const LayoutInfo> layouts() { return layout_table; }

std::string_view name(LayoutFunction layout) {
  for (const LayoutInfo& row : layout_table)
    if (row.function == layout) return row.name;
  return "own";
}

}  // namespace vranks
