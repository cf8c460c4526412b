// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ranks/error.hpp"

namespace vranks {

namespace {

__extension__ using Wide = __int128;

// Elements of `width` bytes at begin + i0 * stride0 + i1 * stride1 + ..., where each index runs
// from 0 to below a length.
struct Box {
  struct Dimension {
    std::int64_t stride, length;
  };

  std::int64_t begin = 0;
  std::int64_t width = 0;
  std::vector<Dimension> dimensions = {};
  std::int64_t slice = 0;  // the first one it holds

  void add(std::int64_t stride, std::int64_t length) {
    if (length == 1 || stride == 0) return;
    if (stride < 0) begin += stride * (length - 1), stride = -stride;
    dimensions.push_back({stride, length});
  }
  std::int64_t end() const {
    std::int64_t at = begin + width;
    for (const auto& [stride, length] : dimensions) at += stride * (length - 1);
    return at;
  }
};

Box slice_box(const Operand& operand, std::int64_t r) {
  const auto width = static_cast<std::int64_t>(size_bytes(operand.dtype()));
  Box box{.begin = reinterpret_cast<std::int64_t>(operand.rows().row(r)), .slice = r};
  if (operand.is_contiguous()) {
    box.width = operand.behind(r);
    return box;
  }
  Shape shape = operand.slice_shape();
  if (!shape.empty()) shape[0] = operand.length(r);
  const Strides strides = operand.strides();
  box.width = width;
  for (std::size_t d = 0; d < shape.size(); ++d) box.add(strides[d] * width, shape[d]);
  return box;
}

// One box where slices come at equal distances, otherwise one for each that has elements.
std::vector<Box> boxes_of(const Operand& operand) {
  std::vector<Box> boxes;
  if (operand.empty()) return boxes;
  if (operand.is_uniform()) {
    boxes.push_back(slice_box(operand, 0));
    boxes[0].add(operand.rows().stride_bytes, operand.ranks());
    return boxes;
  }
  for (std::int64_t r = 0; r < operand.ranks(); ++r)
    if (operand.length(r) > 0) boxes.push_back(slice_box(operand, r));
  return boxes;
}

// Looks for an element of one box and one of another that share a byte.
class Meeting {
 public:
  Meeting(const Box& a, const Box& b) : a_(a), b_(b) {
    // How far b's element lies behind a's: a sum of steps, each of a stride times a number between
    // two limits.
    for (const auto& [stride, length] : a.dimensions) add(stride, 1 - length, 0);
    for (const auto& [stride, length] : b.dimensions) add(stride, 0, length - 1);
    std::ranges::sort(steps_, [](const Step& x, const Step& y) { return x.stride > y.stride; });
    Wide lowest = 0, highest = 0;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      steps_[i].lowest_below = lowest;
      steps_[i].highest_below = highest;
      lowest += Wide{steps_[i].stride} * steps_[i].first;
      highest += Wide{steps_[i].stride} * steps_[i].last;
    }
  }

  bool is_possible() {
    if (a_.begin >= b_.end() || b_.begin >= a_.end()) return false;
    return search(0, Wide{b_.begin} - a_.begin);
  }

 private:
  struct Step {
    std::int64_t stride, first, last;
    Wide lowest_below = 0, highest_below = 0;  // what all smaller steps reach
  };

  void add(std::int64_t stride, std::int64_t first, std::int64_t last) {
    const auto same = std::ranges::find(steps_, stride, &Step::stride);
    if (same == steps_.end()) {
      steps_.push_back({stride, first, last});
    } else {
      same->first += first;
      same->last += last;
    }
  }

  // Whether the steps from number k on can lead from `distance` to less than an element.
  bool search(std::size_t k, Wide distance) {
    if (++visited_ > most_visited) return true;
    if (k == steps_.size()) return distance < a_.width && -distance < b_.width;
    const Step& step = steps_[k];
    // distance + i * stride + [lowest_below, highest_below] must meet (-b's width, a's width).
    const auto floor_of = [&](Wide x) {
      return x >= 0 ? x / step.stride : -((-x + step.stride - 1) / step.stride);
    };
    const Wide from = -floor_of(distance + step.highest_below + b_.width - 1);
    const Wide to = floor_of(a_.width - 1 - distance - step.lowest_below);
    const Wide last = std::min<Wide>(to, step.last);
    for (Wide i = std::max<Wide>(from, step.first); i <= last; ++i)
      if (search(k + 1, distance + i * step.stride)) return true;
    return false;
  }

  static constexpr std::int64_t most_visited = 1 << 16;

  const Box& a_;
  const Box& b_;
  std::vector<Step> steps_;
  std::int64_t visited_ = 0;
};

bool meet(const Box& a, const Box& b) { return Meeting(a, b).is_possible(); }

// The first pair of boxes that meet, in the order of memory.
std::optional<std::pair<std::size_t, std::size_t>> first_meeting(const std::vector<Box>& boxes,
                                                                 std::size_t of_first) {
  std::vector<std::size_t> order(boxes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return boxes[i].begin; });
  const auto side = [&](std::size_t i) { return i < of_first; };
  for (std::size_t x = 0; x < order.size(); ++x) {
    const std::int64_t end = boxes[order[x]].end();
    for (std::size_t y = x + 1; y < order.size() && boxes[order[y]].begin < end; ++y) {
      // Two operands: only what is of different ones matters.
      if (of_first != 0 && side(order[x]) == side(order[y])) continue;
      if (meet(boxes[order[x]], boxes[order[y]])) return std::pair(order[x], order[y]);
    }
  }
  return std::nullopt;
}

// The first slice of an operand that meets the box.
std::int64_t slice_that_meets(const Operand& operand, const Box& box, std::int64_t otherwise) {
  if (!operand.is_uniform()) return otherwise;
  for (std::int64_t r = 0; r < operand.ranks(); ++r)
    if (meet(slice_box(operand, r), box)) return r;
  return otherwise;
}

}  // namespace

void refuse_overlap_of_slices(const Operand& operand, const char* what) {
  const std::vector<Box> boxes = boxes_of(operand);
  const auto found = first_meeting(boxes, 0);
  if (!found) return;
  const Box &a = boxes[found->first], &b = boxes[found->second];
  throw Error(ErrorKind::bad_argument,
              fmt::format("{}: the slices of ranks {} and {} overlap: they start {} bytes apart, "
                          "and the first has {} bytes",
                          what, a.slice, b.slice, b.begin - a.begin, a.end() - a.begin));
}

void refuse_overlap(const Operand& a, const char* a_what, const Operand& b, const char* b_what) {
  std::vector<Box> boxes = boxes_of(a);
  const std::size_t of_first = boxes.size();
  if (of_first == 0) return;
  const std::vector<Box> others = boxes_of(b);
  boxes.insert(boxes.end(), others.begin(), others.end());
  const auto found = first_meeting(boxes, of_first);
  if (!found) return;
  const auto [first, second] = std::minmax(found->first, found->second);
  const std::int64_t r = slice_that_meets(a, boxes[second], boxes[first].slice);
  const Box slice = slice_box(a, r);
  const std::int64_t s = slice_that_meets(b, slice, boxes[second].slice);
  throw Error(ErrorKind::bad_argument,
              fmt::format("slice {} of the {} overlaps slice {} of the {}, which begins {} bytes "
                          "behind it; they must lie apart",
                          r, a_what, s, b_what, slice_box(b, s).begin - slice.begin));
}

}  // namespace vranks
