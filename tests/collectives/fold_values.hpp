// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What an algorithm makes of data, in plain code: its schedule is followed symbolically, and the
// sums that come out are added up in T. Nothing is shared with the executors.
//
// The data is spread_value(rank, i): random signs and mantissas, exponents from -12 to 12, so that
// sums depend on their order.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/interpreters/interpret.hpp"

namespace vranks {

// Element i of rank r's input.
template <class T>
T spread_value(std::int64_t rank, std::int64_t i) {
  std::uint64_t bits = (static_cast<std::uint64_t>(rank) << 40) + static_cast<std::uint64_t>(i);
  for (int round = 0; round < 2; ++round) {  // splitmix64
    bits += 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
  }
  constexpr int digits = std::numeric_limits<T>::digits;
  const auto mantissa = static_cast<T>((bits >> 11) >> (53 - digits));
  const auto exponent = static_cast<int>(bits % 25) - 12 - digits;
  return std::ldexp((bits & 1024) != 0 ? -mantissa : mantissa, exponent);
}

template <class T>
std::vector<T> spread_values(std::int64_t rank, std::int64_t begin, std::int64_t end) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(end - begin));
  for (std::int64_t i = begin; i < end; ++i) values.push_back(spread_value<T>(rank, i));
  return values;
}

template <class T>
bool have_equal_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
class FoldValues {
 public:
  using Vector = std::vector<T>;
  // Elements [begin, end) of a rank's input.
  using Inputs = std::function<Vector(std::int32_t rank, std::int64_t begin, std::int64_t end)>;

  FoldValues(const Problem& problem, const Selection& selection)
      : schedule_(selection.algorithm->build(problem, selection.parameters)),
        folds_(interpret(schedule_,
                         [](std::size_t step, const Transfer& transfer, const ChunkRef& ref) {
                           ADD_FAILURE() << "step " << step << " reads unwritten " << to_string(ref)
                                         << " in " << to_string(transfer);
                         })),
        layout_(selection.algorithm->layout(problem, schedule_.shape(), selection.parameters)) {}

  const Schedule& schedule() const { return schedule_; }
  const Layout& layout() const { return layout_; }

  // What rank `rank` gets, its elements in order.
  Vector output(std::int32_t rank, const Inputs& inputs = spread_values<T>) {
    const ScheduleShape& shape = schedule_.shape();
    std::map<std::int64_t, Vector> pieces;  // by the element they begin at
    for (std::int32_t c = 0; c < shape.slot_chunks(Slot::output); ++c) {
      const FoldId fold = folds_.output(shape, rank, c);
      const std::int32_t chunk = shape.whole_chunk(rank, Slot::output, c);
      if (fold == no_fold) {
        ADD_FAILURE() << "rank " << rank << " never gets chunk " << chunk;
        continue;
      }
      for (const Interval& interval : layout_.chunk(chunk))
        pieces[interval.begin] = value(fold, chunk, interval, inputs);
    }
    Vector all;
    for (const auto& [begin, piece] : pieces) all.insert(all.end(), piece.begin(), piece.end());
    return all;
  }

 private:
  Vector value(FoldId fold, std::int32_t chunk, const Interval& interval,
               const Inputs& inputs) const {
    const FoldGraph& graph = folds_.graph;
    const ScheduleShape& shape = schedule_.shape();
    if (graph.is_leaf(fold)) {
      const std::int32_t rank = graph.leaf_rank(fold);
      EXPECT_EQ(shape.whole_chunk(rank, Slot::input, graph.leaf_chunk(fold)), chunk);
      const std::int64_t before =
          shape.is_part(Slot::input) ? rank * (layout_.elements() / shape.ranks) : 0;
      return inputs(rank, interval.begin - before, interval.end - before);
    }
    Vector left = value(graph.left(fold), chunk, interval, inputs);
    const Vector right = value(graph.right(fold), chunk, interval, inputs);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = left[i] + right[i];
    return left;
  }

  Schedule schedule_;
  Folds folds_;
  Layout layout_;
};

}  // namespace vranks
