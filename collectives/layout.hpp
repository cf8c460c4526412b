// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the chunks of a schedule lie for one problem: for every chunk of the whole vector (see
// ScheduleShape) a list of element intervals, possibly empty or several. All chunks together are
// the vector, and none overlap. Layouts are pure functions of a problem, a schedule and parameters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/parameters.hpp"
#include "collectives/problem.hpp"
#include "collectives/schedule.hpp"

namespace vranks {

// Elements [begin, end) of the whole vector. Rules about an element's position count from `origin`
// (NCCL's LL128 fuses by position in the chunk, the channel's part, or the part inside the block).
struct Interval {
  std::int64_t begin = 0, end = 0, origin = 0;

  std::int64_t length() const { return end - begin; }
  bool operator==(const Interval&) const = default;
};

class Layout {
 public:
  // chunks[c]: the intervals of chunk c, in the order in which its elements count. Throws
  // bad_argument if they overlap or leave a gap in [0, elements).
  Layout(std::int64_t elements, const std::vector<std::vector<Interval>>& chunks);

  std::int64_t elements() const { return elements_; }  // of the whole vector
  std::int32_t chunks() const { return static_cast<std::int32_t>(ends_.size()); }
  std::span<const Interval> chunk(std::int32_t c) const {
    const std::size_t begin = c == 0 ? 0 : ends_[static_cast<std::size_t>(c) - 1];
    return std::span(intervals_).subspan(begin, ends_[static_cast<std::size_t>(c)] - begin);
  }
  // Elements of that chunk.
  std::int64_t length(std::int32_t c) const;

  // Where a slot holds chunk c, its element e of the whole vector is element e - shift(slot, c) of
  // that slot's memory.
  std::int64_t shift(Slot slot, std::int32_t c) const {
    const auto& shifts = slot == Slot::input ? input_shifts_ : output_shifts_;
    return shifts[static_cast<std::size_t>(c / block_chunks_)];
  }
  // Says where the blocks of that problem lie in the slots. Throws bad_argument if counts or
  // displacements don't fit, naming rank and numbers.
  void place_blocks(const Problem& problem, const ScheduleShape& shape);
  // The same places where every element is `parts` elements of another type.
  Layout in_parts(std::int64_t parts) const;

 private:
  std::int64_t elements_;
  std::vector<Interval> intervals_;
  std::vector<std::size_t> ends_;  // behind the last interval of each chunk
  std::int32_t block_chunks_ = 0;
  std::vector<std::int64_t> input_shifts_, output_shifts_;  // of each block
};

// Elements of the whole vector of that problem (see ScheduleShape).
std::int64_t whole_elements(const Problem& problem);
// Elements of each block (see ScheduleShape::blocks()). Throws bad_argument, naming ranks and
// numbers, if blocks must be equal and can't, or if counts are missing, too many or negative.
std::vector<std::int64_t> block_lengths(const Problem& problem);
// Elements of the one length of all blocks. Precondition: the problem takes no counts.
inline std::int64_t block_elements(const Problem& problem) { return block_lengths(problem)[0]; }
// Where each block starts in the row that holds it, in elements (see ScheduleShape::blocks()).
std::vector<std::int64_t> block_starts(const Problem& problem, Slot slot);
// Elements that the input and the output row of a rank need: of the longest rank where counts
// differ. With `rank`, of that one.
std::int64_t row_elements(const Problem& problem, Slot slot);
std::int64_t row_elements(const Problem& problem, Slot slot, std::int64_t rank);

// The rows of `vranks list layouts`. Each throws bad_argument if the problem doesn't fit.
//   even     n elements over C chunks: the first n mod C are one longer; blocks are cut alike, each
//            as long as the problem's counts say
//   halving  C a power of two: cut in halves again and again, the left one the shorter
//   counts   as many elements as the parameters say, chunk by chunk
//   nccl     windows, parts and chunks of the NCCL version, protocol and channels that the
//            parameters say; see nccl/partition.hpp
//   msccl    equal chunks only: n must be a multiple of C
Layout even_layout(const Problem&, const ScheduleShape&, const Parameters&);
Layout halving_layout(const Problem&, const ScheduleShape&, const Parameters&);
Layout counts_layout(const Problem&, const ScheduleShape&, const Parameters&);
Layout nccl_ring_layout(const Problem&, const ScheduleShape&, const Parameters&);
Layout nccl_tree_layout(const Problem&, const ScheduleShape&, const Parameters&);
Layout msccl_layout(const Problem&, const ScheduleShape&, const Parameters&);

using LayoutFunction = Layout (*)(const Problem&, const ScheduleShape&, const Parameters&);

struct LayoutInfo {
  LayoutFunction function;
  std::string_view name;
  std::string_view aliases;
  std::string_view meaning;
};

std::span<const LayoutInfo> layouts();
std::string_view name(LayoutFunction layout);

}  // namespace vranks
