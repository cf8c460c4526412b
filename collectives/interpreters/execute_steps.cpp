// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/execute_steps.hpp"

#include <fmt/format.h>

#include <numeric>
#include <tuple>

#include "collectives/interpreters/rank_memory.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

class Steps {
 public:
  Steps(const Schedule& schedule, const Layout& layout, const Arithmetic& rules,
        const FoldRows& rows, Device device)
      : schedule_(schedule),
        shape_(schedule.shape()),
        layout_(layout),
        rules_(rules),
        device_(device),
        memory_(shape_, layout, rules, rows, device, all_ranks(shape_)),
        written_(static_cast<std::size_t>(shape_.ranks) *
                 static_cast<std::size_t>(shape_.slot_chunks(Slot::output))),
        held_(static_cast<std::size_t>(shape_.ranks) *
                  static_cast<std::size_t>(shape_.scratch_chunks),
              -1) {}

  void run(std::span<const std::byte> filling, const StepObserver& observer) {
    for (std::size_t step = 0; step < schedule_.steps(); ++step) {
      step_ = step;
      run_step();
      if (observer) observer(step, changed_state());
    }
    memory_.finish(
        filling, [&](std::int32_t rank, std::int32_t chunk) { return bool{written(rank, chunk)}; });
  }

 private:
  static std::vector<std::int32_t> all_ranks(const ScheduleShape& shape) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(shape.ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements * memory_.width());
  }
  [[noreturn]] void fail(const Transfer& t, const std::string& problem) const {
    throw Error(ErrorKind::bad_argument,
                fmt::format("step {}: {}: {}", step_, to_string(t), problem));
  }

  std::int32_t& held(std::int32_t rank, std::int32_t index) {
    return held_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(shape_.scratch_chunks) +
                 static_cast<std::size_t>(index)];
  }
  std::vector<bool>::reference written(std::int32_t rank, std::int32_t index) {
    return written_[static_cast<std::size_t>(rank) *
                        static_cast<std::size_t>(shape_.slot_chunks(Slot::output)) +
                    static_cast<std::size_t>(index)];
  }

  ChunkPlace source(const Transfer& t, const ChunkRef& ref, std::int32_t k) {
    const std::int32_t index = ref.index + k;
    if (ref.slot == Slot::scratch) {
      const std::int32_t whole = held(ref.rank, index);
      if (whole < 0) fail(t, fmt::format("scratch[{}] of rank {} is unwritten", index, ref.rank));
      return {ref.rank, ref.slot, index, whole};
    }
    if (ref.slot == Slot::output && !written(ref.rank, index))
      fail(t, fmt::format("output[{}] of rank {} is unwritten", index, ref.rank));
    return {ref.rank, ref.slot, index, shape_.whole_chunk(ref.rank, ref.slot, index)};
  }

  void run_step() {
    std::vector<Hop> hops, moves;
    std::vector<std::tuple<const ChunkRef*, std::int32_t, std::int32_t>> writes;
    const std::vector<Transfer> transfers = schedule_.step(step_);
    changed_.clear();
    // Reads first: results go to a staging area, and from there to where they belong.
    std::int64_t staged = 0;
    for (const Transfer& t : transfers)
      for (std::int32_t k = 0; k < t.dst.count; ++k) staged += result_length(t, k);
    const DeviceBuffer staging(bytes(staged), device_);
    std::int64_t at = 0;
    for (const Transfer& t : transfers) {
      for (std::int32_t k = 0; k < t.dst.count; ++k) {
        const ChunkPlace a = source(t, t.a, k), b = source(t, t.b, k);
        const std::int64_t length = layout_.length(a.whole);
        if (layout_.length(b.whole) != length)
          fail(t, fmt::format("chunks of {} and {} elements are combined", length,
                              layout_.length(b.whole)));
        std::byte* const stage = static_cast<std::byte*>(staging.data()) + at * memory_.width();
        add_hops(hops, t, a, b, stage);
        ChunkPlace dst{t.dst.rank, t.dst.slot, t.dst.index + k, a.whole};
        if (t.dst.slot == Slot::output) {
          dst.whole = shape_.whole_chunk(t.dst.rank, Slot::output, dst.index);
          if (layout_.length(dst.whole) != length)
            fail(t, fmt::format("{} elements are written to a chunk of {}", length,
                                layout_.length(dst.whole)));
        }
        memory_.add_moves(moves, stage, dst, 0, length);
        writes.emplace_back(&t.dst, dst.index, a.whole);
        at += length;
      }
    }
    memory_.run(hops);
    memory_.run(moves);
    for (const auto& [ref, index, whole] : writes) {
      if (ref->slot == Slot::scratch)
        held(ref->rank, index) = whole;
      else
        written(ref->rank, index) = true;
      ChunkRef one = *ref;
      one.index = index;
      one.count = 1;
      changed_.push_back(one);
    }
  }

  std::int64_t result_length(const Transfer& t, std::int32_t k) {
    return layout_.length(source(t, t.a, k).whole);
  }

  void add_hops(std::vector<Hop>& hops, const Transfer& t, const ChunkPlace& a, const ChunkPlace& b,
                std::byte* stage) const {
    if (t.action == Action::copy) return memory_.add_moves(hops, memory_.operand(a), stage);
    const auto is_own = [&](const ChunkRef& operand) {
      return operand.slot == Slot::input && operand.rank == t.dst.rank;
    };
    memory_.add_combines(hops, memory_.operand(a), memory_.operand(b),
                         is_own(t.b)   ? 2
                         : is_own(t.a) ? 1
                                       : 0,
                         stage);
  }

  std::vector<SlotState> changed_state() {
    std::vector<SlotState> all;
    const auto element = static_cast<std::int64_t>(size_bytes(rules_.dtype));
    // Partial sums of a mean aren't divided yet, and show as what they are.
    Arithmetic undivided = rules_;
    if (undivided.divides()) undivided.op = ReduceOp::sum;
    undivided.total_weight = 1;
    if (undivided.accumulate == Accumulate::exact) undivided = rules_, undivided.group = 1;
    for (const ChunkRef& ref : changed_) {
      const std::int32_t whole = ref.slot == Slot::scratch
                                     ? held(ref.rank, ref.index)
                                     : shape_.whole_chunk(ref.rank, ref.slot, ref.index);
      const std::int64_t length = layout_.length(whole);
      SlotState state{ref.rank, ref.slot, ref.index, {}};
      state.elements.resize(static_cast<std::size_t>(length * element));
      const DeviceBuffer lowered(state.elements.size(), device_);
      std::vector<Hop> hops;
      std::int64_t done = 0;
      for (const Stretch& stretch : memory_.stretches({ref.rank, ref.slot, ref.index, whole})) {
        hops.push_back({.kind = Hop::Kind::lower,
                        .a_is_leaf = memory_.is_raw(),
                        .a = memory_.at(ref.rank, ref.slot, stretch.at),
                        .dst = static_cast<std::byte*>(lowered.data()) + done * element,
                        .elements = stretch.length});
        done += stretch.length;
      }
      memory_.backend().run_hops(hops, undivided, device_.index);
      lowered.copy_to_host(state.elements.data(), state.elements.size());
      all.push_back(std::move(state));
    }
    return all;
  }

  const Schedule& schedule_;
  const ScheduleShape& shape_;
  const Layout& layout_;
  const Arithmetic& rules_;
  Device device_;
  RankMemory memory_;
  std::vector<bool> written_;       // output chunks
  std::vector<std::int32_t> held_;  // whole chunk whose elements a scratch chunk holds; -1: none
  std::vector<ChunkRef> changed_;
  std::size_t step_ = 0;
};

}  // namespace

std::int64_t steps_memory_bytes(const Schedule& schedule, const Layout& layout,
                                const Arithmetic& rules) {
  const ScheduleShape& shape = schedule.shape();
  const std::int64_t outputs = shape.ranks * RankMemory::output_elements(shape, layout);
  const std::int64_t scratch =
      std::int64_t{shape.ranks} * shape.scratch_chunks * RankMemory::longest_chunk(layout);
  return (outputs + scratch) * static_cast<std::int64_t>(carried_bytes(rules));
}

void execute_steps(const Schedule& schedule, const Layout& layout, const Arithmetic& rules,
                   const FoldRows& rows, std::span<const std::byte> filling, Device device,
                   const StepObserver& observer) {
  Steps(schedule, layout, rules, rows, device).run(filling, observer);
}

}  // namespace vranks
