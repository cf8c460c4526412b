// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of one process hold while an algorithm runs on real data: the input, and outputs
// and scratch chunks of partial results; and how chunks become hops. Shared by the interpreters
// that show every partial result, in one process and in several.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/schedule.hpp"
#include "kernels/backend.hpp"

namespace vranks {

// A contiguous stretch of a chunk: where it lies in the memory of its slot, in elements.
struct Stretch {
  std::int64_t at = 0, length = 0;
  std::int64_t position = 0;  // of its first element, from the origin
};

// Calls f(elements done before, stretch of a, stretch of b) for the stretches that are contiguous
// in both.
template <class F>
void side_by_side(std::span<const Stretch> a, std::span<const Stretch> b, F&& f) {
  std::size_t i = 0, j = 0;
  std::int64_t in_a = 0, in_b = 0, done = 0;
  while (i < a.size() && j < b.size()) {
    const std::int64_t length = std::min(a[i].length - in_a, b[j].length - in_b);
    f(done, Stretch{a[i].at + in_a, length, a[i].position + in_a},
      Stretch{b[j].at + in_b, length, b[j].position + in_b});
    done += length;
    if ((in_a += length) == a[i].length) ++i, in_a = 0;
    if ((in_b += length) == b[j].length) ++j, in_b = 0;
  }
}

// One chunk of a slot of a rank.
struct ChunkPlace {
  std::int32_t rank = 0;
  Slot slot = Slot::input;
  std::int32_t index = 0;
  std::int32_t whole = 0;  // chunk of the whole vector whose elements it holds
};

// What a hop reads: elements of a chunk, or of a message, which lie one behind the other.
struct HopOperand {
  std::int32_t rank = 0;               // whose chunk it is
  const std::byte* message = nullptr;  // null: a chunk
  Slot slot = Slot::scratch;
  std::vector<Stretch> stretches;

  bool is_leaf() const { return message == nullptr && slot == Slot::input; }
};

class RankMemory {
 public:
  // `ranks`: those that live here, in ascending order; rows are those of all ranks (null where they
  // live elsewhere), or one of the output where only the root has any. Allocates on `device`.
  RankMemory(const ScheduleShape& shape, const Layout& layout, const Arithmetic& rules,
             const FoldRows& rows, Device device, std::vector<std::int32_t> ranks);

  const ScheduleShape& shape() const { return shape_; }
  const Layout& layout() const { return layout_; }
  const Backend& backend() const { return backend_; }
  const std::vector<std::int32_t>& ranks() const { return ranks_; }
  bool is_here(std::int32_t rank) const { return place_of_[static_cast<std::size_t>(rank)] >= 0; }
  // Whether values only move, so that they keep their bits and are never lifted.
  bool is_raw() const { return raw_; }
  // Bytes of a partial result, or of an element where values only move.
  std::int64_t width() const { return width_; }

  // The stretches of a chunk, in the order of its elements; with a range, of those elements alone.
  std::vector<Stretch> stretches(const ChunkPlace& place) const;
  std::vector<Stretch> stretches(const ChunkPlace& place, std::int64_t begin,
                                 std::int64_t end) const;
  // Where that element of the slot lies.
  std::byte* at(std::int32_t rank, Slot slot, std::int64_t element) const;

  HopOperand operand(const ChunkPlace& place) const {
    return {place.rank, nullptr, place.slot, stretches(place)};
  }
  HopOperand operand(const ChunkPlace& place, std::int64_t begin, std::int64_t end) const {
    return {place.rank, nullptr, place.slot, stretches(place, begin, end)};
  }

  // Hops for partial results as they are, and elements where nothing is computed; leaves are
  // lifted.
  void add_moves(std::vector<Hop>& hops, const HopOperand& from, std::byte* to) const;
  // The same to elements [begin, end) of a chunk.
  void add_moves(std::vector<Hop>& hops, const std::byte* from, const ChunkPlace& to,
                 std::int64_t begin, std::int64_t end) const;
  // Hops that combine. `own`: 1 or 2, the operand that is the combining rank's own input; 0: none.
  void add_combines(std::vector<Hop>& hops, const HopOperand& left, const HopOperand& right,
                    std::uint8_t own, std::byte* to) const;
  void run(std::span<const Hop> hops) const { backend_.run_hops(hops, rules_, device_.index); }

  // Lowers what lies in the outputs to the caller's rows. `filling`: see execute_steps(). Throws
  // bad_argument for an output chunk that is_written(rank, index) denies.
  template <class IsWritten>
  void finish(std::span<const std::byte> filling, IsWritten&& is_written) const {
    std::vector<Hop> hops;
    for (const std::int32_t rank : ranks_) {
      if (shape_.fills_output(rank)) fill(rank, filling);
      if (!shape_.has_output(rank)) continue;
      for (std::int32_t c = 0; c < shape_.slot_chunks(Slot::output); ++c) {
        if (!is_written(rank, c)) refuse_unwritten(rank, c);
        add_results(hops, rank, c);
      }
    }
    run(hops);
  }

  // Behind the last element that any rank's output has.
  static std::int64_t output_elements(const ScheduleShape& shape, const Layout& layout);
  static std::int64_t longest_chunk(const Layout& layout);

 private:
  std::int64_t element_bytes() const { return static_cast<std::int64_t>(size_bytes(rules_.dtype)); }
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements * width_);
  }
  Hop move(const std::byte* from, std::byte* to, std::int64_t elements) const;
  const std::byte* address(const HopOperand& from, std::int64_t element) const {
    return from.message ? from.message + element * width_ : at(from.rank, from.slot, element);
  }
  bool tells_ranks() const;
  void fill(std::int32_t rank, std::span<const std::byte> filling) const;
  void add_results(std::vector<Hop>& hops, std::int32_t rank, std::int32_t chunk) const;
  [[noreturn]] static void refuse_unwritten(std::int32_t rank, std::int32_t chunk);

  const ScheduleShape& shape_;
  const Layout& layout_;
  const Arithmetic& rules_;
  const FoldRows& rows_;
  Device device_;
  const Backend& backend_;
  std::vector<std::int32_t> ranks_;
  std::vector<std::int32_t> place_of_;  // of each rank, in ranks_; -1: it lives elsewhere
  bool raw_;
  std::int64_t width_;
  std::int64_t out_elements_;  // of the longest output
  std::int64_t longest_;       // chunk
  DeviceBuffer outputs_, scratch_;
};

}  // namespace vranks
