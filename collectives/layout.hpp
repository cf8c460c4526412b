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

 private:
  std::int64_t elements_;
  std::vector<Interval> intervals_;
  std::vector<std::size_t> ends_;  // behind the last interval of each chunk
};

// Elements of the whole vector of that problem: n, or R * n for an all-gather.
std::int64_t whole_elements(const Problem& problem);
// Elements of one rank's block, where slots hold blocks. Throws bad_argument if the vector is no
// multiple of the ranks.
std::int64_t block_elements(const Problem& problem);

// The rows of `vranks list layouts`. Each throws bad_argument if the problem doesn't fit.
//   even     n elements over C chunks: the first n mod C are one longer; blocks are cut alike
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
