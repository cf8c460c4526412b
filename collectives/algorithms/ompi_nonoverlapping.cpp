// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's non-overlapping all-reduce and reduce-scatter: MPI_Reduce to rank 0, then a broadcast
// or a scatter. How MPI_Reduce goes about it is said by the parameter reduce-algorithm, else by its
// own decision rules. With ompi_binomial over R = 4; a row is a rank, * the sum of all:
//
//   step 1   step 2            step 3           step 4   step 5
//   1+0      1+0               (1+0)+(3+2) = *  *        *
//   1        1                 1                *        *
//   2        3+2               3+2              2        *
//   3        3                 3                3        *
//
// (Steps 1 and 2 of ranks 0 and 2 happen at once.) Steps: the reduction's, and ceil(log2 R) or 1;
// bytes: the reduction's, and n ceil(log2 R) or n(R - 1)/R. The broadcast is drawn as a binomial
// tree and the scatter as linear; the library takes what its rules for them give. Copies only: no
// bits depend on it.
// Open MPI 4.1.4, ompi/mca/coll/base: ompi_coll_base_allreduce_intra_nonoverlapping
// (coll_base_allreduce.c), ompi_coll_base_reduce_scatter_intra_nonoverlapping
// (coll_base_reduce_scatter.c), ompi_coll_base_reduce_scatter_block_basic_linear.
#include <fmt/format.h>

#include <vector>

#include "collectives/openmpi/rules.hpp"
#include "collectives/openmpi/trees.hpp"
#include "ranks/error.hpp"

namespace vranks::algorithms_of {

namespace {

// The reduction that comes first: of the same vectors, to rank 0.
Problem reduction(const Problem& problem) {
  Problem reduction = problem;
  reduction.collective = Collective::reduce;
  reduction.root = 0;
  return reduction;
}

const Algorithm& reduction_algorithm(const Parameters& parameters) {
  const std::string& name = parameters.reduce_algorithm;
  if (name.empty())
    throw Error(
        ErrorKind::bad_argument,
        "ompi_nonoverlapping needs a reduce-algorithm: select() finds it by Open MPI's rules");
  if (!name.starts_with("ompi_"))
    throw Error(ErrorKind::bad_argument,
                fmt::format("the reduce-algorithm of ompi_nonoverlapping is one of Open MPI's "
                            "(ompi_...), not {}",
                            name));
  return find_algorithm(name, Collective::reduce);
}

Parameters reduction_parameters(const Parameters& parameters) {
  Parameters its;
  its.fanout = parameters.fanout;
  return its;
}

// A reduction may cut the vector into `windows` equal parts, window w from element floor(w n /
// windows) on; a reduce-scatter cuts it into R >= windows blocks. Chunks must fit both: where the
// numbers differ each block is two chunks, with the border of a window, if one is inside, between
// them.
class Cut {
 public:
  Cut(std::int32_t ranks, std::int32_t windows) : ranks_(ranks), windows_(windows) {}

  std::int32_t chunks() const { return pieces() * ranks_; }
  // The first chunk of window w (of w = windows: one behind the last).
  std::int32_t first(std::int32_t w) const {
    return w == 0 || w == windows_ ? w / windows_ * chunks() : pieces() * block(w) + pieces() - 1;
  }
  Layout layout(const Problem& problem) const {
    std::vector<std::vector<Interval>> all;
    const std::int64_t length = block_elements(problem);
    std::int32_t next = 1;  // window whose border comes next
    for (std::int32_t r = 0; r < ranks_; ++r) {
      const std::int64_t begin = r * length, end = begin + length;
      std::int64_t border = end;
      if (next < windows_ && block(next) == r) border = next++ * problem.elements / windows_;
      all.push_back({{begin, border, begin}});
      all.push_back({{border, end, border}});
    }
    return {problem.elements, all};
  }

 private:
  std::int32_t pieces() const { return windows_ == 1 || windows_ == ranks_ ? 1 : 2; }
  // The block in which window w begins.
  std::int32_t block(std::int32_t w) const {
    return static_cast<std::int32_t>(std::int64_t{w} * ranks_ / windows_);
  }

  std::int32_t ranks_, windows_;
};

void add_all_reduce(ScheduleBuilder& builder, const Schedule& first) {
  builder.append(first, [](const Transfer& t) { return t; });
  openmpi::add_binomial_broadcast(builder, first.shape().ranks, first.shape().chunks);
}

void add_reduce_scatter(ScheduleBuilder& builder, const Schedule& first, const Cut& cut) {
  const std::int32_t ranks = first.shape().ranks, block = cut.chunks() / ranks;
  // The reduction's result stays in rank 0's scratch; its scratch chunks are as its others.
  const auto widened = [&](ChunkRef ref) {
    const std::int32_t end = cut.first(ref.index + ref.count);
    ref.index = cut.first(ref.index);
    ref.count = end - ref.index;
    if (ref.slot == Slot::output) ref.slot = Slot::scratch;
    return ref;
  };
  builder.append(first, [&](const Transfer& t) {
    return Transfer{t.action, widened(t.a), widened(t.b), widened(t.dst)};
  });
  for (std::int32_t r = 0; r < ranks; ++r)
    builder.add(copy(output(r, 0, block), scratch(0, r * block, block)));
  builder.end_step();
}

Schedule build(const Problem& problem, const Parameters& parameters) {
  const Schedule first =
      reduction_algorithm(parameters).build(reduction(problem), reduction_parameters(parameters));
  const ScheduleShape& shape = first.shape();
  if (problem.collective == Collective::all_reduce) {
    ScheduleBuilder builder(
        {Collective::all_reduce, shape.ranks, 0, shape.chunks, shape.scratch_chunks});
    add_all_reduce(builder, first);
    return std::move(builder).build();
  }
  const Cut cut(shape.ranks, shape.chunks);
  ScheduleBuilder builder({Collective::reduce_scatter, shape.ranks, 0, cut.chunks(), cut.chunks()});
  add_reduce_scatter(builder, first, cut);
  return std::move(builder).build();
}

Layout layout(const Problem& problem, const ScheduleShape& shape, const Parameters& parameters) {
  if (problem.collective == Collective::all_reduce)
    return reduction_algorithm(parameters).layout(reduction(problem), shape, {});
  if (shape.chunks == shape.ranks) return even_layout(problem, shape, parameters);
  const ScheduleShape first = reduction_algorithm(parameters)
                                  .build(reduction(problem), reduction_parameters(parameters))
                                  .shape();
  return Cut(shape.ranks, first.chunks).layout(problem);
}

Selection select_reduction(const Problem& problem, const Parameters& parameters) {
  const Problem first = reduction(problem);
  const Algorithm& asked = parameters.reduce_algorithm.empty()
                               ? find_algorithm("ompi_auto", Collective::reduce)
                               : reduction_algorithm(parameters);
  const Selection found = select(asked, first, reduction_parameters(parameters));
  Parameters chosen = parameters;
  chosen.reduce_algorithm = found.algorithm->name;
  chosen.fanout = found.parameters.fanout;
  return openmpi::instead("ompi_nonoverlapping", problem, found.reason, chosen);
}

}  // namespace

Algorithm ompi_nonoverlapping() {
  return {.name = "ompi_nonoverlapping",
          .aliases = "",
          .collectives = "all_reduce reduce_scatter",
          .order = "that of a reduce to rank 0 by the reduce-algorithm",
          .costs = {{"all_reduce", "the reduce's + ceil(log2 R)", "n ceil(log2 R)"},
                    {"reduce_scatter", "the reduce's + 1", "n"}},
          .source =
              "Open MPI 4.1.4, coll/base: coll_base_allreduce.c, coll_base_reduce_scatter.c, "
              "*_intra_nonoverlapping",
          .parameters = "reduce-algorithm fanout",
          .build = build,
          .layout = layout,
          .select = select_reduction};
}

}  // namespace vranks::algorithms_of
