// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// An algorithm as data: which chunk goes where, and what is combined with what, step by step. A
// schedule knows numbers of chunks only; where they lie in a tensor is a Layout's matter, so one
// schedule serves every size, dtype and device.
//
// Steps are an order of meaning, not barriers: every read of a step sees the state before it. A
// schedule repeats itself from rank to rank, so transfers are kept as runs: a first transfer, and
// how its numbers grow. A ring over 4096 ranks, 33 million transfers, takes a few MB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/problem.hpp"

namespace vranks {

// What a rank has: its part of the input (read-only), of the output, and chunks of its own.
enum class Slot : std::uint8_t { input, output, scratch };

// `count` chunks, from `index` on, of a slot of a rank.
struct ChunkRef {
  std::int32_t rank = 0;
  std::int32_t index = 0;
  std::int32_t count = 1;
  Slot slot = Slot::input;

  bool operator==(const ChunkRef&) const = default;
};

constexpr ChunkRef input(std::int64_t rank, std::int64_t index, std::int64_t count = 1) {
  return {static_cast<std::int32_t>(rank), static_cast<std::int32_t>(index),
          static_cast<std::int32_t>(count), Slot::input};
}
constexpr ChunkRef output(std::int64_t rank, std::int64_t index, std::int64_t count = 1) {
  return {static_cast<std::int32_t>(rank), static_cast<std::int32_t>(index),
          static_cast<std::int32_t>(count), Slot::output};
}
constexpr ChunkRef scratch(std::int64_t rank, std::int64_t index, std::int64_t count = 1) {
  return {static_cast<std::int32_t>(rank), static_cast<std::int32_t>(index),
          static_cast<std::int32_t>(count), Slot::scratch};
}

enum class Action : std::uint8_t { copy, reduce };

// copy: dst = a (and b equals a). reduce: dst = op(a, b), a on the left. dst is on the rank that
// does it; at most one operand is on another rank: that is the message.
struct Transfer {
  Action action = Action::copy;
  ChunkRef a, b, dst;

  bool operator==(const Transfer&) const = default;
  bool is_message() const { return a.rank != dst.rank || b.rank != dst.rank; }
  // The rank that sends to dst.rank. Precondition: is_message().
  std::int32_t source() const { return a.rank != dst.rank ? a.rank : b.rank; }
};

constexpr Transfer copy(ChunkRef dst, ChunkRef a) { return {Action::copy, a, a, dst}; }
constexpr Transfer reduce(ChunkRef dst, ChunkRef a, ChunkRef b) {
  return {Action::reduce, a, b, dst};
}

// What a schedule is about.
struct ScheduleShape {
  Collective collective = Collective::all_reduce;  // no _v form: counts are a Layout's matter
  std::int32_t ranks = 1;
  std::int32_t root = 0;                   // of a rooted collective
  std::int32_t chunks = 1;                 // of the whole vector; see below
  std::int32_t scratch_chunks = 0;         // of each rank
  std::vector<std::int32_t> sources = {};  // of permute: whose slice a rank gets; -1: none

  bool operator==(const ScheduleShape&) const = default;

  // The whole vector is what one rank puts into an all-reduce, reduce, reduce-scatter, scan, or, as
  // the root, into a broadcast or scatter; what it gets from an all-gather or gather; and the
  // inputs of all ranks one behind the other of an all-to-all or permute. A barrier passes one
  // chunk without elements. Where a slot holds one rank's part of the whole vector, part r has the
  // chunks [r * part_chunks(), (r + 1) * part_chunks()).
  bool is_part(Slot slot) const {
    switch (collective) {
      case Collective::all_gather:
      case Collective::gather:
        return slot == Slot::input;
      case Collective::reduce_scatter:
      case Collective::scatter:
        return slot == Slot::output;
      case Collective::all_to_all:
      case Collective::permute:
        return slot != Slot::scratch;
      default:
        return false;
    }
  }
  bool has_parts() const { return is_part(Slot::input) || is_part(Slot::output); }
  std::int32_t part_chunks() const { return chunks / ranks; }
  std::int32_t slot_chunks(Slot slot) const {
    if (slot == Slot::scratch) return scratch_chunks;
    return is_part(slot) ? part_chunks() : chunks;
  }
  // Blocks are what counts are about: one for each pair of ranks in an all-to-all, one a part
  // elsewhere.
  std::int32_t blocks() const {
    if (collective == Collective::all_to_all) return ranks * ranks;
    return has_parts() ? ranks : 1;
  }
  std::int32_t block_chunks() const { return chunks / blocks(); }
  // The chunk of the whole vector that chunk `index` of that slot is. Not for scratch. Of an
  // all-to-all's output chunks the first block_chunks() come from rank 0, and so on.
  // Precondition: has_output(rank) if the slot is the output of a permute.
  std::int32_t whole_chunk(std::int32_t rank, Slot slot, std::int32_t index) const {
    if (slot == Slot::output && collective == Collective::all_to_all)
      return (index / block_chunks() * ranks + rank) * block_chunks() + index % block_chunks();
    if (slot == Slot::output && collective == Collective::permute)
      return sources[static_cast<std::size_t>(rank)] * part_chunks() + index;
    return is_part(slot) ? rank * part_chunks() + index : index;
  }
  // The chunk of that rank's output that is chunk `whole` of the whole vector; -1: none is.
  // Precondition: has_output(rank).
  std::int32_t output_index(std::int32_t rank, std::int32_t whole) const {
    if (collective == Collective::all_to_all) {
      const std::int32_t block = whole / block_chunks();
      return block % ranks == rank ? block / ranks * block_chunks() + whole % block_chunks() : -1;
    }
    const std::int32_t index = whole - whole_chunk(rank, Slot::output, 0);
    return index >= 0 && index < slot_chunks(Slot::output) ? index : -1;
  }
  // Whether the schedule makes an output of that rank. Of a reduce and a gather only the root has
  // one.
  bool has_output(std::int32_t rank) const {
    return (!ends_at_root(collective) || rank == root) && !fills_output(rank);
  }
  // Whether that rank's output is all zeros (a permute that sends it nothing) or the identity of
  // the op (rank 0 of an exscan), which no message brings.
  bool fills_output(std::int32_t rank) const {
    if (collective == Collective::permute) return sources[static_cast<std::size_t>(rank)] < 0;
    return collective == Collective::exscan && rank == 0;
  }
};

class Schedule {
 public:
  const ScheduleShape& shape() const { return shape_; }
  std::size_t steps() const { return step_ends_.size(); }
  std::int64_t transfers() const { return transfers_; }
  std::size_t memory_bytes() const;

  // Calls f(const Transfer&) for every transfer of that step, in the order they were added.
  template <class F>
  void for_each(std::size_t step, F&& f) const {
    for (std::size_t i = step == 0 ? 0 : step_ends_[step - 1]; i < step_ends_[step]; ++i) {
      Transfer transfer = runs_[i].first;
      f(std::as_const(transfer));
      for (std::int32_t k = 1; k < runs_[i].count; ++k) {
        runs_[i].growth.apply(transfer);
        f(std::as_const(transfer));
      }
    }
  }
  std::vector<Transfer> step(std::size_t step) const;

  bool operator==(const Schedule& other) const;

 private:
  friend class ScheduleBuilder;
  Schedule() = default;

  // What is added to a transfer to get the next one of its run.
  struct Growth {
    std::int32_t a_rank = 0, a_index = 0, b_rank = 0, b_index = 0, dst_rank = 0, dst_index = 0;

    bool operator==(const Growth&) const = default;
    void apply(Transfer& t) const {
      t.a.rank += a_rank;
      t.a.index += a_index;
      t.b.rank += b_rank;
      t.b.index += b_index;
      t.dst.rank += dst_rank;
      t.dst.index += dst_index;
    }
  };
  struct Run {
    Transfer first;
    std::int32_t count = 1;
    Growth growth;
  };

  ScheduleShape shape_;
  std::vector<Run> runs_;
  std::vector<std::size_t> step_ends_;  // behind the last run of each step
  std::int64_t transfers_ = 0;
};

// The one way to make a schedule; checks every rule of the types above.
//
//   ScheduleBuilder builder({Collective::all_reduce, 2, 0, 1});
//   builder.add(reduce(output(0, 0), input(1, 0), input(0, 0)));
//   builder.end_step();
//   builder.add(copy(output(1, 0), output(0, 0)));
//   builder.end_step();
//   Schedule schedule = std::move(builder).build();
class ScheduleBuilder {
 public:
  // Throws bad_argument if the numbers make no sense (ranks < 1, chunks not a multiple of ranks
  // where a slot holds one rank's part, ...).
  explicit ScheduleBuilder(const ScheduleShape& shape);

  // One more transfer of the current step. Throws bad_argument, naming step and transfer, for a
  // chunk that isn't there, an input or another rank's output that is written, operands of
  // different counts or on two other ranks, a chunk written twice in a step.
  void add(const Transfer& transfer);
  // Ends the current step; one without transfers is left out.
  void end_step();
  // Puts all steps of `other` behind, every transfer changed by `map`.
  template <class Map>
  void append(const Schedule& other, Map&& map) {
    for (std::size_t s = 0; s < other.steps(); ++s) {
      other.for_each(s, [&](const Transfer& t) { add(map(t)); });
      end_step();
    }
  }
  // Precondition: the last step was ended.
  Schedule build() &&;

 private:
  void check(const ChunkRef& ref, const char* what) const;
  [[noreturn]] void fail(const std::string& problem) const;

  Schedule schedule_;
  Schedule::Growth expected_;   // growth of the open run
  std::size_t step_begin_ = 0;  // first run of the current step
  std::int64_t step_transfers_ = 0;
  std::vector<std::int32_t> written_in_;  // step (from 1) that last wrote [rank][slot][index]
};

std::string_view name(Slot slot);
// "input[3, 0..2) of rank 1", for messages.
std::string to_string(const ChunkRef& ref);
std::string to_string(const Transfer& transfer);

}  // namespace vranks
