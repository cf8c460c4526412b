// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's Rabenseifner algorithm: a reduce-scatter by halving, then an all-gather by doubling or
// a gather to the root. With e ranks more than p, a power of two, ranks 0 to 2e - 1 first meet in
// pairs: the even rank sums the left floor(n/2) elements, the odd one the others and hands them to
// the even one, which acts for both from then on. All-reduce over R = 4; a row is a rank, a column
// a chunk, * the sum of all:
//
//   step 1              step 2                     step 3            step 4
//   0+1  0+1  .    .    (0+1)+(2+3)  0+1  .   .    *(0) *(0)  .  .   * * * *
//   .    .    0+1  0+1  .  .    (0+1)+(2+3)  0+1   .  .  *(2) *(2)   * * * *
//   2+3  2+3  .    .    2+3  (0+1)+(2+3)  .   .    *(1) *(1)  .  .   * * * *
//   .    .    2+3  2+3  .  .    2+3  (0+1)+(2+3)   .  .  *(3) *(3)   * * * *
//
// Chunks are halves of halves, the left one the shorter. The library keeps its own partial result
// on the left; here it is always that of the lower ranks, so that all chunks have one order: the
// bits are the same for ops that commute. Steps 2 log2 R, bytes 2n(R - 1)/R (reduce: n(R - 1)/R and
// n/2); for other R up to 3 steps and 3n/2 bytes more. Fewer elements than p: ompi_linear.
// Open MPI 4.1.4, ompi/mca/coll/base: ompi_coll_base_allreduce_intra_redscat_allgather
// (coll_base_allreduce.c), ompi_coll_base_reduce_intra_redscat_gather (coll_base_reduce.c).
// R. Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.
#include <fmt/format.h>

#include "collectives/openmpi/blocks.hpp"
#include "collectives/openmpi/rules.hpp"

namespace vranks::algorithms_of {

namespace {

using openmpi::Partners;
using openmpi::VirtualRanks;
using openmpi::Window;

class Rabenseifner {
 public:
  explicit Rabenseifner(const Problem& problem)
      : ranks_(problem.ranks),
        reduces_to_root_(problem.collective == Collective::reduce),
        root_(reduces_to_root_ ? static_cast<std::int32_t>(problem.root) : 0),
        builder_({problem.collective, ranks_.ranks, root_, ranks_.power,
                  reduces_to_root_ && ranks_.ranks > 1 ? ranks_.power : 0}) {}

  Schedule build() && {
    if (ranks_.ranks == 1) {
      builder_.add(copy(output(0, 0), input(0, 0)));
      builder_.end_step();
      return std::move(builder_).build();
    }
    add_pairs();
    add_halving(builder_, ranks_,
                {.partners = Partners::nearest_first,
                 .higher_left = false,
                 .player = [&](std::int32_t v) { return ranks_.even(v); },
                 .chunks = [](Window w) { return w; },
                 .partial = [&](std::int32_t rank, Window w) { return partial(rank, w); }});
    if (reduces_to_root_)
      add_gather();
    else
      add_all_gather();
    return std::move(builder_).build();
  }

 private:
  ChunkRef partial(std::int32_t rank, Window w) const {
    return !reduces_to_root_ || rank == root_ ? output(rank, w.first, w.count)
                                              : scratch(rank, w.first, w.count);
  }
  // What v has the sum of after `level` halvings.
  Window window(std::int32_t v, std::int32_t level) const {
    return openmpi::window(ranks_, Partners::nearest_first, v, level);
  }

  void add_pairs() {
    const std::int32_t half = ranks_.power / 2;
    for (std::int32_t j = 0; j < ranks_.extra; ++j)
      for (const std::int32_t side : {0, 1})
        builder_.add(reduce(partial(2 * j + side, {side * half, half}),
                            input(2 * j, side * half, half), input(2 * j + 1, side * half, half)));
    builder_.end_step();
    for (std::int32_t j = 0; j < ranks_.extra; ++j)
      builder_.add(copy(partial(2 * j, {half, half}), partial(2 * j + 1, {half, half})));
    builder_.end_step();
  }

  void add_all_gather() {
    for (std::int32_t level = ranks_.levels; level-- > 0;) {
      for (std::int32_t v = 0; v < ranks_.power; ++v) {
        const std::int32_t peer = v ^ (1 << level);
        const Window w = window(peer, level + 1);
        builder_.add(copy(partial(ranks_.even(v), w), partial(ranks_.even(peer), w)));
      }
      builder_.end_step();
    }
    for (std::int32_t j = 0; j < ranks_.extra; ++j)
      builder_.add(copy(output(2 * j + 1, 0, ranks_.power), output(2 * j, 0, ranks_.power)));
    builder_.end_step();
  }

  // A binomial tree. A root that is the odd rank of its pair has nothing: it takes the part that
  // virtual rank 0 has, and its place.
  void add_gather() {
    const bool is_odd = root_ < 2 * ranks_.extra && root_ % 2 == 1;
    const std::int32_t top = is_odd                     ? 0
                             : root_ < 2 * ranks_.extra ? root_ / 2
                                                        : root_ - ranks_.extra;
    const auto player = [&](std::int32_t v) { return is_odd && v == 0 ? root_ : ranks_.even(v); };
    if (is_odd) {
      const Window w = window(0, ranks_.levels);
      builder_.add(copy(partial(root_, w), partial(0, w)));
      builder_.end_step();
    }
    for (std::int32_t level = ranks_.levels; level-- > 0;) {
      // Those still there agree with the top in all bits from `level` on once they have received.
      for (std::int32_t v = 0; v < ranks_.power; ++v) {
        if (v >> level != top >> level) continue;
        const std::int32_t peer = v ^ (1 << level);
        const Window w = window(peer, level + 1);
        builder_.add(copy(partial(player(v), w), partial(player(peer), w)));
      }
      builder_.end_step();
    }
  }

  VirtualRanks ranks_;
  bool reduces_to_root_;
  std::int32_t root_;
  ScheduleBuilder builder_;
};

Schedule build(const Problem& problem, const Parameters&) { return Rabenseifner(problem).build(); }

Selection select_linear(const Problem& problem, const Parameters& parameters) {
  const std::int32_t power = VirtualRanks(problem.ranks).power;
  if (problem.elements < power)
    return openmpi::instead("ompi_linear", problem,
                            fmt::format("Open MPI's Rabenseifner algorithm needs an element for "
                                        "each of {} ranks, but there are {}",
                                        power, problem.elements));
  return openmpi::instead("ompi_rabenseifner", problem, {}, parameters);
}

}  // namespace

Algorithm ompi_rabenseifner() {
  return {
      .name = "ompi_rabenseifner",
      .aliases = "",
      .collectives = "all_reduce reduce",
      .order = "((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6)",
      .costs = {{"all_reduce", "2log2 R; other R: 2log2 p+3", "2n(R-1)/R; other R: 2n(p-1)/p+3n/2"},
                {"reduce", "2log2 R; other R: 2log2 p+2",
                 "n(R-1)/R+n/2; other R: at most n(p-1)/p+n"}},
      .source =
          "Open MPI 4.1.4, coll/base: coll_base_allreduce.c *_intra_redscat_allgather, "
          "coll_base_reduce.c *_intra_redscat_gather",
      .parameters = "",
      .build = build,
      .layout = halving_layout,
      .select = select_linear};
}

}  // namespace vranks::algorithms_of
