// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Two levels: N nodes of L ranks (`ranks-per-node`; 0: one node of all), rank r being number r mod
// L of node r / L. One algorithm works inside nodes (`inner`), one between ranks of the same number
// (`outer`), and between nodes goes only 1/L of what a rank has. All-reduce over R = 4 with L = 2:
// a reduce-scatter inside, an all-reduce of each block outside, an all-gather inside. A row is a
// rank, a column one half of the vector, 0+1 the sum of ranks 0 and 1, * the sum of all, . an
// untouched input:
//
//   rank   inner reduce-scatter   outer all-reduce   inner all-gather
//   0      1+0  .                 *  .               *  *
//   1      .    0+1               .  *               *  *
//   2      3+2  .                 *  .               *  *
//   3      .    2+3               .  *               *  *
//
// reduce: inside to the root's number, then outside to the root. reduce_scatter: inside, then
// outside. all_gather: outside, then inside. An inner algorithm that has all_reduce, but no
// reduce_scatter and all_gather, serves too: then the outer all-reduce takes the whole vector.
// R must be a multiple of L. Both algorithms run with their own defaults, and as themselves: rules
// that pick another one by size are not asked.
// Steps and bytes are sums of those of the parts: for rings, R = NL, an all-reduce takes
// 2(L - 1) + 2(N - 1) steps and 2n(L - 1)/L + 2n(N - 1)/R bytes a rank, as a ring over R does, but
// between nodes only the second term.
// Y. Ueno and R. Yokota, "Exhaustive study of hierarchical AllReduce patterns for large messages
// between GPUs", CCGRID 2019.
#include <fmt/format.h>

#include <functional>
#include <numeric>
#include <string>

#include "collectives/algorithm.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"

namespace vranks::algorithms_of {

namespace {

// One algorithm at work in several groups of ranks at once.
struct Phase {
  Schedule schedule;
  std::int32_t groups;
  std::function<std::int32_t(std::int32_t group, std::int32_t member)> rank;
  // Where element `fine` of the phase's vector is in a rank's slot of the phase. Elements are
  // counted in chunks of the whole schedule.
  std::function<ChunkRef(std::int32_t rank, Slot slot, std::int32_t fine)> place;
  std::int32_t fine_chunks;  // of the phase's vector
  std::int32_t unit;         // `place` keeps this many together; a divisor of a chunk's
};

// Adds its steps. The phase's scratch chunks come behind `scratch_begin` of the whole's.
void add_phase(ScheduleBuilder& builder, const Phase& phase, std::int32_t scratch_begin) {
  const ScheduleShape& shape = phase.schedule.shape();
  const std::int32_t per_chunk = phase.fine_chunks / shape.chunks;
  const auto locate = [&](std::int32_t group, const ChunkRef& ref, std::int32_t offset) {
    const std::int32_t rank = phase.rank(group, ref.rank);
    ChunkRef at =
        ref.slot == Slot::scratch
            ? scratch(rank, scratch_begin + ref.index * per_chunk + offset)
            : phase.place(rank, ref.slot,
                          shape.whole_chunk(ref.rank, ref.slot, ref.index) * per_chunk + offset);
    at.count = phase.unit;
    return at;
  };
  for (std::size_t s = 0; s < phase.schedule.steps(); ++s) {
    for (std::int32_t group = 0; group < phase.groups; ++group) {
      phase.schedule.for_each(s, [&](const Transfer& t) {
        for (std::int32_t i = 0; i < t.dst.count * per_chunk; i += phase.unit) {
          const Transfer placed{t.action, locate(group, t.a, i), locate(group, t.b, i),
                                locate(group, t.dst, i)};
          // What an all-gather takes from its input may be in its place already.
          if (placed.action != Action::copy || placed.a != placed.dst) builder.add(placed);
        }
      });
    }
    builder.end_step();
  }
}

// The inner or outer algorithm, whichever `parameter` says.
struct Part {
  std::string_view parameter;
  std::string name;

  // Throws, naming those that can be it, unless it is one of them for that collective.
  const Algorithm& find(Collective collective) const {
    ErrorKind kind = ErrorKind::bad_argument;
    std::string others;
    for (const Algorithm& each : algorithms()) {
      const bool is_named = each.name == name || has_word(each.aliases, name);
      // Itself would never end, and the automatic ones have no schedule without a size.
      if (each.name == "two_level" || each.name.starts_with("ompi_auto") ||
          !supports(each, collective)) {
        if (is_named) kind = ErrorKind::not_supported;
        continue;
      }
      if (is_named) return each;
      (others += others.empty() ? "" : " ") += each.name;
    }
    throw Error(kind, fmt::format("--{} of two_level can't be '{}'; for {} it can be: {}",
                                  parameter, name, vranks::name(collective), others));
  }
  bool has(Collective collective) const {
    return supports(find(Collective::all_reduce), collective);
  }
  Schedule build(Collective collective, std::int32_t ranks, std::int32_t root = 0) const {
    const Problem problem{.collective = collective, .ranks = ranks, .root = root};
    return find(collective).build(problem, {});
  }
};

class TwoLevel {
 public:
  TwoLevel(const Problem& problem, const Parameters& parameters)
      : collective_(problem.collective),
        inner_{"inner", parameters.inner},
        outer_{"outer", parameters.outer},
        ranks_(static_cast<std::int32_t>(problem.ranks)),
        root_(static_cast<std::int32_t>(problem.root)),
        per_node_(parameters.ranks_per_node == 0 ? ranks_ : parameters.ranks_per_node) {
    if (per_node_ < 1 || ranks_ % per_node_ != 0)
      throw Error(
          ErrorKind::not_supported,
          fmt::format("two_level needs R to be a multiple of ranks-per-node: {} ranks can't "
                      "be put on nodes of {}",
                      ranks_, per_node_));
    nodes_ = ranks_ / per_node_;
  }

  Schedule build() {
    switch (collective_) {
      case Collective::all_reduce:
        return inner_.has(Collective::reduce_scatter) && inner_.has(Collective::all_gather)
                   ? all_reduce_by_blocks()
                   : all_reduce_whole();
      case Collective::reduce:
        return reduce_to_root();
      case Collective::reduce_scatter:
        return reduce_scatter();
      case Collective::all_gather:
        return all_gather();
      default:
        break;
    }
    throw Error(ErrorKind::bad_argument, "two_level was asked for no collective that there is");
  }

 private:
  Schedule all_reduce_by_blocks() {
    Schedule scatter = inner_.build(Collective::reduce_scatter, per_node_);
    Schedule outer = outer_.build(Collective::all_reduce, nodes_);
    Schedule gather = inner_.build(Collective::all_gather, per_node_);
    const std::int32_t block =
        std::lcm(std::lcm(scatter.shape().part_chunks(), outer.shape().chunks),
                 gather.shape().part_chunks());
    return put_together(
        block * per_node_,
        {in_nodes(std::move(scatter), block * per_node_, in_scratch),
         between(std::move(outer), block,
                 [=, this](std::int32_t r, Slot slot, std::int32_t fine) {
                   const std::int32_t at = number(r) * block + fine;
                   return slot == Slot::input ? scratch(r, at) : output(r, at);
                 }),
         in_nodes(std::move(gather), block * per_node_,
                  [](std::int32_t r, Slot, std::int32_t fine) { return output(r, fine); })});
  }

  Schedule all_reduce_whole() {
    Schedule inner = inner_.build(Collective::all_reduce, per_node_);
    Schedule outer = outer_.build(Collective::all_reduce, nodes_);
    const std::int32_t chunks = std::lcm(inner.shape().chunks, outer.shape().chunks);
    return put_together(chunks, {in_nodes(std::move(inner), chunks, in_scratch),
                                 between(std::move(outer), chunks, from_scratch)});
  }

  Schedule reduce_to_root() {
    Schedule inner = inner_.build(Collective::reduce, per_node_, number(root_));
    Schedule outer = outer_.build(Collective::reduce, nodes_, root_ / per_node_);
    const std::int32_t chunks = std::lcm(inner.shape().chunks, outer.shape().chunks);
    Phase last = between(std::move(outer), chunks, from_scratch);
    last.groups = 1;
    last.rank = [this](std::int32_t, std::int32_t node) {
      return node * per_node_ + number(root_);
    };
    return put_together(chunks, {in_nodes(std::move(inner), chunks, in_scratch), last});
  }

  // Inside nodes the vector is taken as L blocks, number l's being the blocks of all ranks of
  // number l, node by node; so numbers l end with what the outer reduce-scatter cuts into those
  // blocks.
  Schedule reduce_scatter() {
    Schedule inner = inner_.build(Collective::reduce_scatter, per_node_);
    Schedule outer = outer_.build(Collective::reduce_scatter, nodes_);
    const std::int32_t part = std::lcm(inner.shape().part_chunks(), outer.shape().part_chunks());
    Phase first = in_nodes(
        std::move(inner), ranks_ * part, [=, this](std::int32_t r, Slot slot, std::int32_t fine) {
          return slot == Slot::input ? input(r, by_rank(fine, part)) : scratch(r, fine);
        });
    first.unit = std::gcd(part, first.unit);
    return put_together(ranks_ * part,
                        {first, between(std::move(outer), nodes_ * part,
                                        [=, this](std::int32_t r, Slot slot, std::int32_t fine) {
                                          return slot == Slot::input
                                                     ? scratch(r, number(r) * nodes_ * part + fine)
                                                     : output(r, fine % part);
                                        })});
  }

  Schedule all_gather() {
    Schedule outer = outer_.build(Collective::all_gather, nodes_);
    Schedule inner = inner_.build(Collective::all_gather, per_node_);
    const std::int32_t part = std::lcm(inner.shape().part_chunks(), outer.shape().part_chunks());
    Phase last = in_nodes(
        std::move(inner), ranks_ * part, [=, this](std::int32_t r, Slot slot, std::int32_t fine) {
          return slot == Slot::input ? scratch(r, fine) : output(r, by_rank(fine, part));
        });
    last.unit = std::gcd(part, last.unit);
    return put_together(ranks_ * part,
                        {between(std::move(outer), nodes_ * part,
                                 [=, this](std::int32_t r, Slot slot, std::int32_t fine) {
                                   return slot == Slot::input
                                              ? input(r, fine % part)
                                              : scratch(r, number(r) * nodes_ * part + fine);
                                 }),
                         last});
  }

  // Chunk `fine` of a vector ordered by number, node by node, in rank order.
  std::int32_t by_rank(std::int32_t fine, std::int32_t part) const {
    const std::int32_t block = fine / part;
    return (block % nodes_ * per_node_ + block / nodes_) * part + fine % part;
  }
  std::int32_t number(std::int32_t rank) const { return rank % per_node_; }

  static ChunkRef in_scratch(std::int32_t r, Slot slot, std::int32_t fine) {
    return slot == Slot::input ? input(r, fine) : scratch(r, fine);
  }
  static ChunkRef from_scratch(std::int32_t r, Slot slot, std::int32_t fine) {
    return slot == Slot::input ? scratch(r, fine) : output(r, fine);
  }

  template <class Place>
  Phase in_nodes(Schedule schedule, std::int32_t fine_chunks, Place place) const {
    const std::int32_t unit = fine_chunks / schedule.shape().chunks;
    return {std::move(schedule),
            nodes_,
            [this](std::int32_t node, std::int32_t member) { return node * per_node_ + member; },
            place,
            fine_chunks,
            unit};
  }
  template <class Place>
  Phase between(Schedule schedule, std::int32_t fine_chunks, Place place) const {
    const std::int32_t unit = fine_chunks / schedule.shape().chunks;
    return {std::move(schedule),
            per_node_,
            [this](std::int32_t member, std::int32_t node) { return node * per_node_ + member; },
            place,
            fine_chunks,
            unit};
  }

  // What a phase leaves for the next is in the first `chunks` scratch chunks.
  Schedule put_together(std::int32_t chunks, const std::vector<Phase>& phases) const {
    std::int32_t scratch_chunks = 0;
    for (const Phase& phase : phases) {
      const ScheduleShape& shape = phase.schedule.shape();
      scratch_chunks =
          std::max(scratch_chunks, shape.scratch_chunks * (phase.fine_chunks / shape.chunks));
    }
    ScheduleBuilder builder({collective_, ranks_, root_, chunks, chunks + scratch_chunks});
    for (const Phase& phase : phases) add_phase(builder, phase, chunks);
    return std::move(builder).build();
  }

  Collective collective_;
  Part inner_, outer_;
  std::int32_t ranks_, root_, per_node_;
  std::int32_t nodes_ = 1;
};

Schedule build(const Problem& problem, const Parameters& parameters) {
  return TwoLevel(problem, parameters).build();
}

}  // namespace

Algorithm two_level() {
  return {
      .name = "two_level",
      .aliases = "hierarchical",
      .collectives = "all_reduce reduce reduce_scatter all_gather",
      .order = "inside each node in the inner algorithm's order, then these sums in the outer's",
      .costs = {{"all_reduce", "2(L-1)+2(N-1)", "2n(L-1)/L+2n(N-1)/R"},
                {"reduce", "at most L+N", "at most n(2L-1)/L"},
                {"reduce_scatter", "L+N-2", "n(R-1)/R"},
                {"all_gather", "L+N-2", "n(R-1)"}},
      .source =
          "Y. Ueno and R. Yokota, Exhaustive study of hierarchical AllReduce patterns for "
          "large messages between GPUs, CCGRID 2019",
      .parameters = "ranks-per-node inner outer",
      .build = build};
}

}  // namespace vranks::algorithms_of
