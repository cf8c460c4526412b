// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// NCCL's ring, hop by hop. Each of K channels has its own ring and its own part of the vector.
// Chunk c starts one behind position c of the ring, picks up every rank's part on the way and is
// whole at position c, from where it goes around once more. All-reduce over R = 4 in one channel; a
// row is a rank, a column a chunk, 1+2 the sum of ranks 1 and 2, * the sum of all:
//
//   step 1                 step 2                         step 3                          steps 4-6
//   .    .    3+0  0       .      2+3+0  3+0    0         *      2+3+0  3+0    0          * * * *
//   1    .    .    0+1     1      .      3+0+1  0+1       1      *      3+0+1  0+1        * * * *
//   1+2  2    .    .       1+2    2      .      0+1+2     1+2    2      *      0+1+2      * * * *
//   .    2+3  3    .       1+2+3  2+3    3      .         1+2+3  2+3    3      *          * * * *
//
// Block d of a reduce-scatter ends at rank d likewise, all of a reduce at the root. A long part is
// cut into windows of R chunks, which repeat the same transfers: see the layout.
// Steps 2(R - 1); bytes a rank 2n(R - 1)/R.
// NCCL 2.30.7, src/device/all_reduce.h (runRing), reduce_scatter.h, reduce.h and all_gather.h;
// verified against the results of the real library.
#include <algorithm>
#include <limits>

#include "collectives/algorithm.hpp"
#include "collectives/nccl/arithmetic.hpp"
#include "collectives/nccl/constants.hpp"
#include "collectives/nccl/trees.hpp"

namespace vranks::algorithms_of {

namespace {

// One channel's ring; positions may be given modulo R.
class Positions {
 public:
  explicit Positions(const nccl::Ring& ring) : ring_(ring) {}
  std::int32_t size() const { return static_cast<std::int32_t>(ring_.size()); }
  std::int32_t wrap(std::int32_t p) const { return ((p % size()) + size()) % size(); }
  std::int32_t rank(std::int32_t p) const { return ring_[static_cast<std::size_t>(wrap(p))]; }
  std::int32_t position(std::int32_t rank) const {
    std::int32_t p = 0;
    while (ring_[static_cast<std::size_t>(p)] != rank) ++p;
    return p;
  }

 private:
  const nccl::Ring& ring_;
};

struct Ring {
  std::vector<nccl::Ring> rings;
  ScheduleBuilder builder;

  // Calls f(k, positions of channel k) for each.
  template <class F>
  void for_channels(F&& f) {
    for (std::size_t k = 0; k < rings.size(); ++k)
      f(static_cast<std::int32_t>(k), Positions(rings[k]));
    builder.end_step();
  }
};

void all_reduce(Ring& ring, std::int32_t ranks) {
  for (std::int32_t s = 1; s < ranks; ++s)
    ring.for_channels([&](std::int32_t k, const Positions& at) {
      for (std::int32_t p = 0; p < ranks; ++p) {
        const std::int32_t chunk = k * ranks + at.wrap(p - 1 - s);
        const std::int32_t from = at.rank(p - 1), to = at.rank(p);
        ring.builder.add(reduce(output(to, chunk),
                                s == 1 ? input(from, chunk) : output(from, chunk),
                                input(to, chunk)));
      }
    });
  for (std::int32_t s = 1; s < ranks; ++s)
    ring.for_channels([&](std::int32_t k, const Positions& at) {
      for (std::int32_t p = 0; p < ranks; ++p) {
        const std::int32_t chunk = k * ranks + at.wrap(p - s);
        ring.builder.add(copy(output(at.rank(p), chunk), output(at.rank(p - 1), chunk)));
      }
    });
}

void reduce_scatter(Ring& ring, std::int32_t ranks) {
  const auto channels = static_cast<std::int32_t>(ring.rings.size());
  for (std::int32_t s = 1; s < ranks; ++s)
    ring.for_channels([&](std::int32_t k, const Positions& at) {
      for (std::int32_t p = 0; p < ranks; ++p) {
        const std::int32_t chunk = at.rank(p - 1 - s) * channels + k;  // of that rank's block
        const std::int32_t from = at.rank(p - 1), to = at.rank(p);
        ring.builder.add(reduce(s == ranks - 1 ? output(to, k) : scratch(to, chunk),
                                s == 1 ? input(from, chunk) : scratch(from, chunk),
                                input(to, chunk)));
      }
    });
}

void reduce_to(Ring& ring, std::int32_t ranks, std::int32_t root) {
  for (std::int32_t s = 1; s < ranks; ++s)
    ring.for_channels([&](std::int32_t k, const Positions& at) {
      const std::int32_t p = at.position(root) + 1 + s;
      const std::int32_t from = at.rank(p - 1), to = at.rank(p);
      ring.builder.add(reduce(s == ranks - 1 ? output(to, k) : scratch(to, k),
                              s == 1 ? input(from, k) : scratch(from, k), input(to, k)));
    });
}

void all_gather(Ring& ring, std::int32_t ranks) {
  const auto channels = static_cast<std::int32_t>(ring.rings.size());
  for (std::int32_t r = 0; r < ranks; ++r)
    ring.builder.add(copy(output(r, r * channels, channels), input(r, 0, channels)));
  ring.builder.end_step();
  for (std::int32_t s = 1; s < ranks; ++s)
    ring.for_channels([&](std::int32_t k, const Positions& at) {
      for (std::int32_t p = 0; p < ranks; ++p) {
        const std::int32_t chunk = at.rank(p - s) * channels + k;
        ring.builder.add(copy(output(at.rank(p), chunk), output(at.rank(p - 1), chunk)));
      }
    });
}

Schedule build(const Problem& problem, const Parameters& parameters) {
  nccl::constants_of(parameters.nccl_version);  // refuses versions it doesn't know
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const auto root = static_cast<std::int32_t>(problem.root);
  std::vector<nccl::Ring> rings = nccl::rings_of(problem.ranks, parameters);
  const std::int32_t channels = parameters.channels;
  ScheduleShape shape{problem.collective, ranks, root, channels};
  if (problem.collective != Collective::reduce)  // too many are refused by the builder
    shape.chunks = static_cast<std::int32_t>(
        std::min(problem.ranks * channels, std::int64_t{std::numeric_limits<std::int32_t>::max()}));
  if (problem.collective == Collective::reduce_scatter) shape.scratch_chunks = shape.chunks;
  if (problem.collective == Collective::reduce) shape.scratch_chunks = channels;
  Ring ring{std::move(rings), ScheduleBuilder(shape)};
  if (problem.collective == Collective::all_gather) {
    all_gather(ring, ranks);
  } else if (ranks == 1) {
    ring.builder.add(copy(output(0, 0, channels), input(0, 0, channels)));
    ring.builder.end_step();
  } else if (problem.collective == Collective::all_reduce) {
    all_reduce(ring, ranks);
  } else if (problem.collective == Collective::reduce_scatter) {
    reduce_scatter(ring, ranks);
  } else {
    reduce_to(ring, ranks, root);
  }
  return std::move(ring.builder).build();
}

}  // namespace

Algorithm nccl_ring() {
  return {.name = "nccl_ring",
          .aliases = "",
          .collectives = "all_reduce reduce reduce_scatter all_gather",
          .order = "chunk c: from ring position c+1 up, c last: ((x(c+1) + x(c+2)) + ...) + xc",
          .costs = {{"all_reduce", "2(R-1)", "2n(R-1)/R"},
                    {"reduce", "R-1", "n"},
                    {"reduce_scatter", "R-1", "n(R-1)/R"},
                    {"all_gather", "R-1", "n(R-1)"}},
          .source = "NCCL 2.30.7, src/device/all_reduce.h",
          .parameters = "protocol channels rings nccl-version",
          .build = build,
          .layout = nccl_ring_layout,
          .arithmetic = nccl::defaults,
          .refine = nccl::refine};
}

}  // namespace vranks::algorithms_of
