// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's recursive doubling. All-reduce: partners at distance 1, 2, 4 ... exchange all they
// have; with e ranks more than a power of two, ranks 0 to 2e - 1 first meet in pairs, whose odd
// ranks act for both. The higher ranks' partial result is on the left, on both sides alike. Over
// R = 4; a row is a rank, 0+1 the sum of ranks 0 and 1, * the sum of all:
//
//   step 1   step 2
//   1+0      (3+2)+(1+0) = *
//   1+0      *
//   3+2      *
//   3+2      *
//
// Steps log2 R, or floor(log2 R) + 2; bytes n log2 R, or n(floor(log2 R) + 1).
//
// Reduce-scatter (MPI_Reduce_scatter_block): the same without pairs; a rank sends all blocks but
// those of the ranks that it has summed over already. Where the partner's group is cut off at R,
// those who get nothing are sent what their neighbours received. Lower ranks are written on the
// left here. ceil(log2 R) exchanges; n(log2 R - (R - 1)/R) bytes if R is a power of two.
//
// All-gather, R a power of two: partners exchange all blocks that they have; log2 R steps,
// n(R - 1) bytes. Other R: ompi_bruck.
// Open MPI 4.1.4, ompi/mca/coll/base: ompi_coll_base_allreduce_intra_recursivedoubling
// (coll_base_allreduce.c), ompi_coll_base_reduce_scatter_block_intra_recursivedoubling
// (coll_base_reduce_scatter_block.c), ompi_coll_base_allgather_intra_recursivedoubling.
#include <fmt/format.h>

#include <bit>
#include <vector>

#include "collectives/openmpi/blocks.hpp"
#include "collectives/openmpi/rules.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

namespace {

using openmpi::VirtualRanks;
using openmpi::Window;

Schedule all_reduce(const VirtualRanks& ranks) {
  ScheduleBuilder builder({Collective::all_reduce, ranks.ranks, 0, 1, 0});
  if (ranks.ranks == 1) builder.add(copy(output(0, 0), input(0, 0)));
  for (std::int32_t j = 0; j < ranks.extra; ++j)
    builder.add(reduce(output(2 * j + 1, 0), input(2 * j + 1, 0), input(2 * j, 0)));
  builder.end_step();
  for (std::int32_t mask = 1; mask < ranks.power; mask *= 2) {
    const auto value = [&](std::int32_t v) {
      return mask == 1 && v >= ranks.extra ? input(ranks.odd(v), 0) : output(ranks.odd(v), 0);
    };
    for (std::int32_t v = 0; v < ranks.power; ++v)
      builder.add(reduce(output(ranks.odd(v), 0), value(v | mask), value(v & ~mask)));
    builder.end_step();
  }
  for (std::int32_t j = 0; j < ranks.extra; ++j)
    builder.add(copy(output(2 * j, 0), output(2 * j + 1, 0)));
  builder.end_step();
  return std::move(builder).build();
}

Schedule all_gather(std::int32_t ranks) {
  if (!std::has_single_bit(static_cast<std::uint32_t>(ranks)))
    throw Error(ErrorKind::not_supported,
                fmt::format("Open MPI's recursive doubling all_gather needs a power of two of "
                            "ranks, not {}; select() gives ompi_bruck",
                            ranks));
  ScheduleBuilder builder({Collective::all_gather, ranks, 0, ranks, 0});
  for (std::int32_t r = 0; r < ranks; ++r) builder.add(copy(output(r, r), input(r, 0)));
  builder.end_step();
  for (std::int32_t mask = 1; mask < ranks; mask *= 2) {
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t peer = r ^ mask, first = peer / mask * mask;
      builder.add(copy(output(r, first, mask), output(peer, first, mask)));
    }
    builder.end_step();
  }
  return std::move(builder).build();
}

// Sums over a rank's group are in scratch [0, R), what others sent it and it has to pass on in
// scratch [R, 2R). As in the library, blocks of the own group but the own one go stale and are
// still exchanged.
class ReduceScatter {
 public:
  explicit ReduceScatter(std::int32_t ranks)
      : ranks_(ranks), builder_({Collective::reduce_scatter, ranks, 0, ranks, 2 * ranks}) {
    for (std::int32_t r = 0; r < ranks; ++r)
      builder_.add(copy(scratch(r, 0, ranks), input(r, 0, ranks)));
    builder_.end_step();
  }

  Schedule build() && {
    for (std::int32_t mask = 1; mask < ranks_; mask *= 2) exchange(mask);
    for (std::int32_t r = 0; r < ranks_; ++r) builder_.add(copy(output(r, 0), partial(r, {r, 1})));
    builder_.end_step();
    return std::move(builder_).build();
  }

 private:
  static std::int32_t group(std::int32_t rank, std::int32_t mask) { return rank / mask * mask; }
  static ChunkRef partial(std::int32_t rank, Window w) { return scratch(rank, w.first, w.count); }
  ChunkRef received(std::int32_t rank, Window w) const {
    return scratch(rank, ranks_ + w.first, w.count);
  }
  // The blocks outside the partner's group, in up to two parts.
  template <class F>
  void for_each_part(std::int32_t rank, std::int32_t mask, F&& f) const {
    const std::int32_t first = group(rank ^ mask, mask), end = first + mask;
    if (first > 0) f(Window{0, first});
    if (end < ranks_) f(Window{end, ranks_ - end});
  }
  // The lower group's partial result, then the higher's.
  void add_sum(std::int32_t rank, std::int32_t mask, Window w, const ChunkRef& theirs) {
    const ChunkRef own = partial(rank, w);
    builder_.add((rank & mask) == 0 ? reduce(own, own, theirs) : reduce(own, theirs, own));
  }

  // Groups of `mask` ranks become groups of twice as many.
  void exchange(std::int32_t mask) {
    // Who has it in `received`.
    std::vector<bool> waits(static_cast<std::size_t>(ranks_));
    for (std::int32_t r = 0; r < ranks_; ++r) {
      const std::int32_t peer = r ^ mask;
      if (peer >= ranks_) continue;
      const bool is_cut_off = group(peer, mask) + mask > ranks_ && peer > r;
      waits[static_cast<std::size_t>(r)] = is_cut_off;
      for_each_part(r, mask, [&](Window w) {
        if (is_cut_off)
          builder_.add(copy(received(r, w), partial(peer, w)));
        else
          add_sum(r, mask, w, partial(peer, w));
      });
    }
    builder_.end_step();
    pass_on(mask, waits);
    for (std::int32_t r = 0; r < ranks_; ++r)
      if (waits[static_cast<std::size_t>(r)])
        for_each_part(r, mask, [&](Window w) { add_sum(r, mask, w, received(r, w)); });
    builder_.end_step();
  }

  // The group before a cut-off one: those with a partner send what they got to the others.
  void pass_on(std::int32_t mask, std::vector<bool>& waits) {
    const std::int32_t last = group(ranks_ - 1, mask), low = last ^ mask;
    const std::int32_t have = ranks_ - last;
    if (low > last || have >= mask) return;
    for (std::int32_t half = mask / 2; half > 0; half /= 2) {
      for (std::int32_t from = low; from < low + mask; ++from) {
        const std::int32_t to = from ^ half, ready = group(from, 2 * half) + have;
        if (to < from || from >= ready || to < ready) continue;
        for_each_part(to, mask,
                      [&](Window w) { builder_.add(copy(received(to, w), received(from, w))); });
        waits[static_cast<std::size_t>(to)] = true;
      }
      builder_.end_step();
    }
  }

  std::int32_t ranks_;
  ScheduleBuilder builder_;
};

Schedule build(const Problem& problem, const Parameters&) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  switch (problem.collective) {
    case Collective::all_gather:
      return all_gather(ranks);
    case Collective::reduce_scatter:
      return ReduceScatter(ranks).build();
    default:
      return all_reduce(VirtualRanks(ranks));
  }
}

Selection select_bruck(const Problem& problem, const Parameters& parameters) {
  if (problem.collective == Collective::all_gather &&
      !std::has_single_bit(static_cast<std::uint64_t>(problem.ranks)))
    return openmpi::instead(
        "ompi_bruck", problem,
        fmt::format("Open MPI's recursive doubling needs a power of two of ranks, not {}",
                    problem.ranks));
  return openmpi::instead("ompi_recursive_doubling", problem, {}, parameters);
}

}  // namespace

Algorithm ompi_recursive_doubling() {
  return {.name = "ompi_recursive_doubling",
          .aliases = "",
          .collectives = "all_reduce reduce_scatter all_gather",
          .order =
              "all_reduce: (x6 + (x5 + x4)) + ((x3 + x2) + (x1 + x0)); reduce_scatter: "
              "((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6)",
          .costs = {{"all_reduce", "log2 R; other R: log2 p+2", "n log2 R; other R: n(log2 p+1)"},
                    {"reduce_scatter", "log2 R; other R: at most 2log2 p+1",
                     "n(log2 R-(R-1)/R); other R: at most n(2log2 p-1+2/R)"},
                    {"all_gather", "log2 R", "n(R-1)"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_allreduce.c, "
              "coll_base_reduce_scatter_block.c, coll_base_allgather.c, "
              "*_intra_recursivedoubling",
          .parameters = "",
          .build = build,
          .select = select_bruck};
}

}  // namespace vranks::algorithms_of
