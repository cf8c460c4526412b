// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Halving and doubling (Rabenseifner): pairs of ranks at distance 1, 2, 4, ... exchange one half of
// what they have and combine the other, the lower rank's on the left, until each has a part of the
// result; the parts are collected the same way back. All-reduce over R = 4; a row is a rank, a
// column a chunk, 0+1 the sum of ranks 0 and 1, * the sum of all, (0+1)+(2+3), . an untouched
// input:
//
//   rank   step 1               step 2                 step 3          step 4
//   0      0+1  0+1  .    .     *    0+1  .    .       *  *  .  .      *  *  *  *
//   1      .    .    0+1  0+1   .    .    *    0+1     .  .  *  *      *  *  *  *
//   2      2+3  2+3  .    .     2+3  *    .    .       *  *  .  .      *  *  *  *
//   3      .    .    2+3  2+3   .    .    2+3  *       .  .  *  *      *  *  *  *
//
// R no power of two: with p the largest power of two below R and e = R - p, ranks 2j and 2j + 1,
// j < e, first combine one half each; one of them (2j, or the root) gets the other's half, takes
// part for both, and sends the result at the end.
// reduce collects the parts at the root by a binomial tree. reduce-scatter and all-gather are the
// two halves, with rank r's block as r's part. Summands with [e > 0] only where R is no power of
// two, R > 1:
//
//                    steps                   bytes sent by the busiest rank (n: a rank's input)
//   all_reduce       2 log2 p + 3 [e > 0]    2n(p - 1)/p + 3n/2 [e > 0]
//   reduce           2 log2 p + 2 [e > 0]    n(p - 1)/p + n/2, at most n/2 more if e > 0
//   reduce_scatter   log2 p + 3 [e > 0]      n(R - 1)/R for R = 2^k, else at most 2n
//   all_gather       log2 p + 2 [e > 0]      n(R - 1) for R = 2^k, else below 3Rn
//
// R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Perform. Comput. Appl. 19(1), 2005, section 4.5.
#include <algorithm>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/hypercube.hpp"

namespace vranks::algorithms_of {

namespace {

struct Chunks {
  std::int32_t begin, count;
};

class Writer {
 public:
  explicit Writer(const Problem& problem)
      : cube_(static_cast<std::int32_t>(problem.ranks)),
        shape_({.collective = problem.collective,
                .ranks = cube_.ranks,
                .root = static_cast<std::int32_t>(problem.root)}),
        builder_(finish(shape_, cube_)) {}

  Schedule write() && {
    if (shape_.collective != Collective::all_gather) {
      if (cube_.extra > 0) fold_in();
      for (std::int32_t s = 0; s < cube_.dimensions; ++s) halve(s);
    }
    switch (shape_.collective) {
      case Collective::all_reduce:
        if (cube_.ranks == 1) copy_input();
        for (std::int32_t s = cube_.dimensions; s-- > 0;) double_up(s);
        cube_.add_results_of_extra(builder_, shape_.chunks);
        break;
      case Collective::reduce:
        if (cube_.ranks == 1) copy_input();
        for (std::int32_t s = cube_.dimensions; s-- > 0;) collect(s);
        break;
      case Collective::reduce_scatter:
        if (cube_.ranks == 1) copy_input();
        for (std::int32_t r = 0; r < cube_.ranks && cube_.ranks > 1; ++r)
          builder_.add(copy(output(r, 0), scratch(actor(cube_.corner(r)), r)));
        builder_.end_step();
        break;
      default:  // all_gather
        cube_.add_own_blocks(builder_);
        for (std::int32_t s = cube_.dimensions; s-- > 0;) double_up(s);
        cube_.add_results_of_extra(builder_, shape_.chunks);
        break;
    }
    return std::move(builder_).build();
  }

 private:
  static const ScheduleShape& finish(ScheduleShape& shape, const Hypercube& cube) {
    shape.chunks = shape.has_parts() ? cube.ranks : cube.corners;
    if (shape.collective == Collective::reduce || shape.collective == Collective::reduce_scatter)
      shape.scratch_chunks = shape.chunks;
    return shape;
  }

  // The rank that takes part for corner j.
  std::int32_t actor(std::int32_t j) const {
    const bool root_is_second = shape_.collective == Collective::reduce && j < cube_.extra &&
                                shape_.root == cube_.rank(j) + 1;
    return cube_.rank(j) + (root_is_second ? 1 : 0);
  }

  // What corner j has after s halvings: of blocks those of all corners whose last s bits are j's,
  // of a vector the half that bit 0 names, of it the half that bit 1 names, and so on.
  std::vector<Chunks> held(std::int32_t j, std::int32_t s) const {
    if (!shape_.has_parts()) {
      std::int32_t begin = 0;
      for (std::int32_t bit = 0; bit < s; ++bit)
        if ((j >> bit) & 1) begin += cube_.corners >> (bit + 1);
      return {{begin, cube_.corners >> s}};
    }
    std::vector<Chunks> all;
    for (std::int32_t i = j & ((1 << s) - 1); i < cube_.corners; i += 1 << s)
      all.push_back({cube_.rank(i), cube_.ranks_at(i)});
    return all;
  }

  // Where a rank keeps its partial results.
  ChunkRef partial(std::int32_t rank, const Chunks& chunks) const {
    const bool in_output = shape_.scratch_chunks == 0 ||
                           (shape_.collective == Collective::reduce && rank == shape_.root);
    return in_output ? output(rank, chunks.begin, chunks.count)
                     : scratch(rank, chunks.begin, chunks.count);
  }

  void copy_input() {
    builder_.add(copy(output(0, 0), input(0, 0)));
    builder_.end_step();
  }

  // Both ranks at a corner combine one half; the actor gets the other.
  void fold_in() {
    const std::int32_t middle = shape_.chunks / 2;
    const auto half = [&](std::int32_t rank) {
      return rank % 2 == 0 ? Chunks{0, middle} : Chunks{middle, shape_.chunks - middle};
    };
    for (std::int32_t r = 0; r < 2 * cube_.extra; ++r) {
      const auto [begin, count] = half(r);
      builder_.add(reduce(partial(r, {begin, count}), input(r & ~1, begin, count),
                          input(r | 1, begin, count)));
    }
    builder_.end_step();
    for (std::int32_t j = 0; j < cube_.extra; ++j) {
      const std::int32_t other = actor(j) ^ 1;
      builder_.add(copy(partial(actor(j), half(other)), partial(other, half(other))));
    }
    builder_.end_step();
  }

  void halve(std::int32_t s) {
    const auto value = [&](std::int32_t j, const Chunks& chunks) {
      return s == 0 && j >= cube_.extra ? input(actor(j), chunks.begin, chunks.count)
                                        : partial(actor(j), chunks);
    };
    for (std::int32_t j = 0; j < cube_.corners; ++j)
      for (const Chunks& chunks : held(j, s + 1))
        builder_.add(reduce(partial(actor(j), chunks), value(j & ~(1 << s), chunks),
                            value(j | (1 << s), chunks)));
    builder_.end_step();
  }

  // Undoes halving s: partners give each other what they have.
  void double_up(std::int32_t s) {
    for (std::int32_t j = 0; j < cube_.corners; ++j) send(s, j);
    builder_.end_step();
  }

  // The same towards the root's corner only.
  void collect(std::int32_t s) {
    for (std::int32_t j = 0; j < cube_.corners; ++j)
      if ((j >> s) == (cube_.corner(shape_.root) >> s)) send(s, j);
    builder_.end_step();
  }

  void send(std::int32_t s, std::int32_t to) {
    const std::int32_t from = to ^ (1 << s);
    for (const Chunks& chunks : held(from, s + 1))
      builder_.add(copy(partial(actor(to), chunks), partial(actor(from), chunks)));
  }

  Hypercube cube_;
  ScheduleShape shape_;
  ScheduleBuilder builder_;
};

Schedule build(const Problem& problem, const Parameters&) { return Writer(problem).write(); }

// Blocks are given; a vector is cut in halves.
Layout layout(const Problem& problem, const ScheduleShape& shape, const Parameters& parameters) {
  return (shape.has_parts() ? even_layout : halving_layout)(problem, shape, parameters);
}

}  // namespace

Algorithm halving_doubling() {
  return {
      .name = "halving_doubling",
      .aliases = "rabenseifner",
      .collectives = "all_reduce reduce reduce_scatter all_gather",
      .order = "neighbours first: ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6)",
      .costs = {{"all_reduce", "2log2 R; other R: 2log2 p+3", "2n(R-1)/R; other R: 2n(p-1)/p+3n/2"},
                {"reduce", "2log2 R; other R: 2log2 p+2",
                 "n(R-1)/R+n/2; other R: at most n(p-1)/p+n"},
                {"reduce_scatter", "log2 R; other R: log2 p+3",
                 "n(R-1)/R; other R: at most n(3R-1)/(2R)"},
                {"all_gather", "log2 R; other R: log2 p+2",
                 "n(R-1); other R: at most n(2R+log2 p-2)"}},
      .source =
          "R. Thakur, R. Rabenseifner and W. Gropp, Optimization of collective "
          "communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), "
          "2005, section 4.5",
      .parameters = "",
      .build = build,
      .layout = layout,
      .takes_counts = true};
}

}  // namespace vranks::algorithms_of
