// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/execute_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/backend.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// A contiguous stretch of a chunk: where it lies in the memory of its slot, in elements.
struct Stretch {
  std::int64_t at = 0, length = 0;
  std::int64_t position = 0;  // of its first element, from the origin
};

class Steps {
 public:
  Steps(const Schedule& schedule, const Layout& layout, const Arithmetic& rules,
        const FoldRows& rows, std::span<const std::byte> filling, Device device)
      : schedule_(schedule),
        shape_(schedule.shape()),
        layout_(layout),
        rules_(rules),
        rows_(rows),
        filling_(filling),
        device_(device),
        backend_(backend_for(device)),
        // What only moves keeps its bits, so it is never lifted.
        raw_(!reduces(shape_.collective) || (shape_.ranks == 1 && !rules.computes_alone)),
        width_(static_cast<std::int64_t>(raw_ ? size_bytes(rules.dtype) : carried_bytes(rules))),
        out_elements_(output_elements(shape_, layout)),
        outputs_(bytes(shape_.ranks * out_elements_), device),
        scratch_(bytes(std::int64_t{shape_.ranks} * shape_.scratch_chunks * longest()), device),
        written_(static_cast<std::size_t>(shape_.ranks) *
                 static_cast<std::size_t>(shape_.slot_chunks(Slot::output))),
        held_(static_cast<std::size_t>(shape_.ranks) *
                  static_cast<std::size_t>(shape_.scratch_chunks),
              -1) {}

  void run(const StepObserver& observer) {
    for (std::size_t step = 0; step < schedule_.steps(); ++step) {
      step_ = step;
      run_step();
      if (observer) observer(step, changed_state());
    }
    finish();
  }

  // Behind the last element that any rank's output has.
  static std::int64_t output_elements(const ScheduleShape& shape, const Layout& layout) {
    std::int64_t end = 0;
    for (std::int32_t c = 0; c < layout.chunks(); ++c)
      for (const Interval& interval : layout.chunk(c))
        end = std::max(end, interval.end - layout.shift(Slot::output, c));
    // Filled outputs are those of a permute or an exscan, as long as any.
    return shape.collective == Collective::barrier ? 0 : end;
  }

  static std::int64_t longest_chunk(const Layout& layout) {
    std::int64_t most = 0;
    for (std::int32_t c = 0; c < layout.chunks(); ++c) most = std::max(most, layout.length(c));
    return most;
  }

 private:
  // One chunk of a transfer, ready to be read or written.
  struct Place {
    const ChunkRef* ref;
    std::int32_t index;
    std::int32_t whole;  // chunk of the whole vector whose elements it holds
  };

  std::int64_t longest() const { return longest_chunk(layout_); }
  std::int64_t element_bytes() const { return static_cast<std::int64_t>(size_bytes(rules_.dtype)); }
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements * width_);
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

  Place source(const Transfer& t, const ChunkRef& ref, std::int32_t k) {
    const std::int32_t index = ref.index + k;
    if (ref.slot == Slot::scratch) {
      const std::int32_t whole = held(ref.rank, index);
      if (whole < 0) fail(t, fmt::format("scratch[{}] of rank {} is unwritten", index, ref.rank));
      return {&ref, index, whole};
    }
    if (ref.slot == Slot::output && !written(ref.rank, index))
      fail(t, fmt::format("output[{}] of rank {} is unwritten", index, ref.rank));
    return {&ref, index, shape_.whole_chunk(ref.rank, ref.slot, index)};
  }

  // The stretches of a place, in the order of its elements.
  std::vector<Stretch> stretches(const Place& place) const {
    std::vector<Stretch> all;
    const ChunkRef& ref = *place.ref;
    const bool is_scratch = ref.slot == Slot::scratch;
    std::int64_t at = std::int64_t{place.index} * (is_scratch ? longest() : 0);
    const std::int64_t shift = is_scratch ? 0 : layout_.shift(ref.slot, place.whole);
    for (const Interval& interval : layout_.chunk(place.whole)) {
      if (!is_scratch) at = interval.begin - shift;
      all.push_back({at, interval.length(), interval.begin - interval.origin});
      at += interval.length();
    }
    return all;
  }

  std::byte* memory(const ChunkRef& ref, std::int64_t element) const {
    const std::int64_t rank = ref.rank;
    if (ref.slot == Slot::input) return rows_.in.row(rank) + element * element_bytes();
    const bool is_output = ref.slot == Slot::output;
    const std::int64_t row = is_output ? out_elements_ : shape_.scratch_chunks * longest();
    return static_cast<std::byte*>((is_output ? outputs_ : scratch_).data()) +
           (rank * row + element) * width_;
  }

  // Calls f(elements done before, stretch of a, stretch of b) for the stretches that are contiguous
  // in both.
  template <class F>
  static void side_by_side(const std::vector<Stretch>& a, const std::vector<Stretch>& b, F&& f) {
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
        const Place a = source(t, t.a, k), b = source(t, t.b, k);
        const std::int64_t length = layout_.length(a.whole);
        if (layout_.length(b.whole) != length)
          fail(t, fmt::format("chunks of {} and {} elements are combined", length,
                              layout_.length(b.whole)));
        std::byte* const stage = static_cast<std::byte*>(staging.data()) + at * width_;
        add_hops(hops, t, a, b, stage);
        Place dst{&t.dst, t.dst.index + k, a.whole};
        if (t.dst.slot == Slot::output) {
          dst.whole = shape_.whole_chunk(t.dst.rank, Slot::output, dst.index);
          if (layout_.length(dst.whole) != length)
            fail(t, fmt::format("{} elements are written to a chunk of {}", length,
                                layout_.length(dst.whole)));
        }
        std::int64_t done = 0;
        for (const Stretch& stretch : stretches(dst)) {
          moves.push_back(move(stage + done * width_, memory(t.dst, stretch.at), stretch.length));
          done += stretch.length;
        }
        writes.emplace_back(&t.dst, dst.index, a.whole);
        at += length;
      }
    }
    backend_.run_hops(hops, rules_, device_.index);
    backend_.run_hops(moves, rules_, device_.index);
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

  // Partial results as they are; elements where nothing is computed.
  Hop move(const std::byte* from, std::byte* to, std::int64_t elements) const {
    return {.kind = raw_ ? Hop::Kind::lower : Hop::Kind::copy,
            .a_is_leaf = raw_,
            .a = from,
            .dst = to,
            .elements = elements};
  }

  void add_hops(std::vector<Hop>& hops, const Transfer& t, const Place& a, const Place& b,
                std::byte* stage) const {
    const bool a_is_leaf = t.a.slot == Slot::input, b_is_leaf = t.b.slot == Slot::input;
    side_by_side(stretches(a), stretches(b),
                 [&](std::int64_t done, Stretch from_a, Stretch from_b) {
                   std::byte* const to = stage + done * width_;
                   if (t.action == Action::copy) {
                     Hop hop = move(memory(t.a, from_a.at), to, from_a.length);
                     hop.a_is_leaf = hop.a_is_leaf || a_is_leaf;
                     hop.a_row = t.a.rank;
                     hops.push_back(hop);
                     return;
                   }
                   Hop hop{.kind = Hop::Kind::combine,
                           .a_is_leaf = a_is_leaf,
                           .b_is_leaf = b_is_leaf,
                           .a = memory(t.a, from_a.at),
                           .b = memory(t.b, from_b.at),
                           .a_row = t.a.rank,
                           .b_row = t.b.rank,
                           .dst = to,
                           .elements = from_a.length};
                   if (b_is_leaf && t.b.rank == t.dst.rank)
                     hop.own = 2;
                   else if (a_is_leaf && t.a.rank == t.dst.rank)
                     hop.own = 1;
                   hop.position = hop.own == 1 ? from_a.position : from_b.position;
                   hops.push_back(hop);
                 });
  }

  bool tells_ranks() const {
    const bool is_wanted = rows_.ranks.data != nullptr || !rows_.ranks.table.empty();
    return is_wanted && finds_rank(rules_.op) && !raw_;
  }

  // The caller's rows: lowered from what the schedule left, if that is all written.
  void finish() {
    std::vector<Hop> hops;
    for (std::int32_t r = 0; r < shape_.ranks; ++r) {
      if (shape_.fills_output(r)) fill(r);
      if (!shape_.has_output(r)) continue;
      const std::int64_t row = ends_at_root(shape_.collective) ? 0 : r;
      for (std::int32_t c = 0; c < shape_.slot_chunks(Slot::output); ++c) {
        if (!written(r, c))
          throw Error(ErrorKind::bad_argument,
                      fmt::format("output chunk {} of rank {} is never written", c, r));
        const ChunkRef ref = output(r, c);
        for (const Stretch& stretch :
             stretches({&ref, c, shape_.whole_chunk(r, Slot::output, c)})) {
          Hop hop{.kind = Hop::Kind::lower,
                  .a_is_leaf = raw_,
                  .a = memory(ref, stretch.at),
                  .dst = rows_.out.row(row) + stretch.at * element_bytes(),
                  .elements = stretch.length};
          if (tells_ranks())
            hop.ranks =
                rows_.ranks.row(row) + stretch.at * static_cast<std::int64_t>(sizeof(std::int32_t));
          hops.push_back(hop);
        }
      }
    }
    backend_.run_hops(hops, rules_, device_.index);
  }

  // The output of a rank that no message brings anything.
  void fill(std::int32_t r) {
    const auto fill_row = [&](std::byte* to, std::span<const std::byte> element) {
      std::vector<std::byte> row;
      for (std::int64_t i = 0; i < out_elements_; ++i)
        row.insert(row.end(), element.begin(), element.end());
      backend_.copy_from_host(to, row.data(), row.size(), device_.index);
    };
    fill_row(rows_.out.row(r), filling_.first(size_bytes(rules_.dtype)));
    if (tells_ranks()) {
      const std::int32_t none = FoldProgram::no_rank;
      fill_row(rows_.ranks.row(r), std::as_bytes(std::span(&none, 1)));
    }
  }

  std::vector<SlotState> changed_state() {
    std::vector<SlotState> all;
    const std::int64_t element = element_bytes();
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
      for (const Stretch& stretch : stretches({&ref, ref.index, whole})) {
        hops.push_back({.kind = Hop::Kind::lower,
                        .a_is_leaf = raw_,
                        .a = memory(ref, stretch.at),
                        .dst = static_cast<std::byte*>(lowered.data()) + done * element,
                        .elements = stretch.length});
        done += stretch.length;
      }
      backend_.run_hops(hops, undivided, device_.index);
      lowered.copy_to_host(state.elements.data(), state.elements.size());
      all.push_back(std::move(state));
    }
    return all;
  }

  const Schedule& schedule_;
  const ScheduleShape& shape_;
  const Layout& layout_;
  const Arithmetic& rules_;
  const FoldRows& rows_;
  std::span<const std::byte> filling_;
  Device device_;
  const Backend& backend_;
  bool raw_;
  std::int64_t width_;         // bytes of a partial result
  std::int64_t out_elements_;  // of the longest output
  DeviceBuffer outputs_, scratch_;
  std::vector<bool> written_;       // output chunks
  std::vector<std::int32_t> held_;  // whole chunk whose elements a scratch chunk holds; -1: none
  std::vector<ChunkRef> changed_;
  std::size_t step_ = 0;
};

}  // namespace

std::int64_t steps_memory_bytes(const Schedule& schedule, const Layout& layout,
                                const Arithmetic& rules) {
  const ScheduleShape& shape = schedule.shape();
  const std::int64_t outputs = shape.ranks * Steps::output_elements(shape, layout);
  const std::int64_t scratch =
      std::int64_t{shape.ranks} * shape.scratch_chunks * Steps::longest_chunk(layout);
  return (outputs + scratch) * static_cast<std::int64_t>(carried_bytes(rules));
}

void execute_steps(const Schedule& schedule, const Layout& layout, const Arithmetic& rules,
                   const FoldRows& rows, std::span<const std::byte> filling, Device device,
                   const StepObserver& observer) {
  Steps(schedule, layout, rules, rows, filling, device).run(observer);
}

}  // namespace vranks
