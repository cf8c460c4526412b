// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "collectives/layout.hpp"
#include "collectives/overlap.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::bad_argument, problem);
}

// Ranks of a group, all of which are of one size where blocks are cut or gathered.
std::int64_t group_size(Collective collective, std::int64_t ranks, const Groups& groups) {
  if (groups.empty()) return ranks;
  check_partition(groups, ranks);
  const std::size_t size = groups[0].size();
  const Collective form = even_form(collective);
  const bool needs_equal =
      ScheduleShape{.collective = form}.has_parts() || takes_counts(collective);
  for (std::size_t g = 1; g < groups.size() && needs_equal; ++g)
    if (groups[g].size() != size)
      refuse(
          fmt::format("{} needs groups of equal size, but group 0 has {} ranks and group {} has "
                      "{}",
                      name(collective), size, g, groups[g].size()));
  return static_cast<std::int64_t>(size);
}

// Elements of a slice for each of its first dimension.
std::int64_t rest_elements(const Shape& slice) {
  return slice.empty() ? 1 : element_count(std::span(slice).subspan(1), 1);
}

Counts in_elements(const Counts& counts, std::int64_t rest) {
  Counts all;
  for (const std::int64_t count : counts)
    if (__builtin_mul_overflow(count, rest, &all.emplace_back()))
      refuse(fmt::format("a count of {} times {} elements has more than 2^63 - 1", count, rest));
  return all;
}

// The problem with counts and displacements as the caller gives them: of the first dimension.
Problem in_rows(Problem problem, const CollectiveOptions& options) {
  problem.counts = options.counts;
  problem.send_displacements = options.send_displacements;
  problem.receive_displacements = options.receive_displacements;
  return problem;
}

std::vector<std::int32_t> sources_of(
    const std::vector<std::pair<std::int64_t, std::int64_t>>& permutation, std::int64_t ranks) {
  std::vector<std::int32_t> sources(static_cast<std::size_t>(ranks), -1);
  std::vector<bool> sends(static_cast<std::size_t>(ranks));
  for (const auto& [source, destination] : permutation) {
    for (const std::int64_t rank : {source, destination})
      if (rank < 0 || rank >= ranks)
        refuse(fmt::format("the pair ({}, {}) names rank {}, but there are ranks 0 to {}", source,
                           destination, rank, ranks - 1));
    std::int32_t& of = sources[static_cast<std::size_t>(destination)];
    if (of >= 0)
      refuse(
          fmt::format("rank {} is the destination of ranks {} and {}; a permutation has one "
                      "source each",
                      destination, of, source));
    if (sends[static_cast<std::size_t>(source)])
      refuse(fmt::format("rank {} is a source twice; a permutation sends each slice once", source));
    of = static_cast<std::int32_t>(source);
    sends[static_cast<std::size_t>(source)] = true;
  }
  return sources;
}

// `problem`: in rows.
void check_received(const Problem& problem, const Counts& received) {
  if (received.empty()) return;
  const auto ranks = static_cast<std::size_t>(problem.ranks);
  if (problem.collective != Collective::all_to_all_v)
    refuse(fmt::format("{} has no receive counts: they are its counts", name(problem.collective)));
  if (received.size() != ranks * ranks)
    refuse(fmt::format("all_to_all_v over {} ranks needs {} receive counts, not {}", ranks,
                       ranks * ranks, received.size()));
  for (std::size_t s = 0; s < ranks; ++s)
    for (std::size_t d = 0; d < ranks; ++d)
      if (problem.counts[s * ranks + d] != received[d * ranks + s])
        refuse(fmt::format("pair {}->{}: rank {} sends {} of dimension 1 but rank {} expects {}", s,
                           d, s, problem.counts[s * ranks + d], d, received[d * ranks + s]));
}

struct Shapes {
  Problem problem;  // of a group, but over all ranks where it says how many there are
  Shape out_slice;
};

// `slice`: of an input slice.
Shapes shapes_of(Collective collective, std::int64_t ranks, const Shape& slice, DType dtype,
                 const CollectiveOptions& options) {
  const std::int64_t size = group_size(collective, ranks, options.groups);
  const Collective form = even_form(collective);
  const std::int64_t rest = rest_elements(slice);
  Shapes shapes{
      .problem = {.collective = collective,
                  .ranks = size,
                  .elements = element_count(slice),
                  .dtype = dtype,
                  .op = options.op,
                  .root = options.root,
                  .counts = in_elements(options.counts, rest),
                  .send_displacements = in_elements(options.send_displacements, rest),
                  .receive_displacements = in_elements(options.receive_displacements, rest),
                  .factor = options.factor,
                  .weights = options.weights},
      .out_slice = slice};
  Problem& problem = shapes.problem;
  if (options.ragged && collective != Collective::all_to_all_v)
    refuse(fmt::format("ragged rows are those of an all_to_all_v; {} has none", name(collective)));
  if (collective == Collective::permute && options.permutation.empty())
    refuse("permute needs a permutation: pairs (source, destination)");
  if (collective == Collective::permute || !options.permutation.empty())
    problem.sources = sources_of(options.permutation, size);
  if (collective == Collective::barrier) problem.elements = 0;
  const bool has_blocks =
      ScheduleShape{.collective = form}.has_parts() && form != Collective::permute;
  const bool cuts_input =
      has_blocks && form != Collective::all_gather && form != Collective::gather;
  if ((cuts_input || takes_counts(collective)) && slice.empty())
    refuse(
        fmt::format("{} counts blocks along the first dimension of a rank's slice, but slices "
                    "of shape {} have none",
                    name(collective), to_string(slice)));
  if (takes_counts(collective)) {
    // Rows count even where they have no elements.
    const Problem counted = in_rows(problem, options);
    (void)block_lengths(counted);
    check_received(counted, options.receive_counts);
    shapes.out_slice[0] = row_elements(counted, Slot::output);
    const std::int64_t needed = row_elements(counted, Slot::input);
    const std::vector<std::int64_t> lengths = block_lengths(problem);
    problem.elements = std::reduce(lengths.begin(), lengths.end());
    // Rows that hold several blocks one behind the other hold no more.
    const bool exact = form == Collective::reduce_scatter ||
                       (form == Collective::scatter && options.send_displacements.empty());
    if (exact && needed != slice[0])
      refuse(fmt::format("{}: the counts add up to {}, but dimension 1 is {}; they must be equal",
                         name(collective), needed, slice[0]));
    for (std::int64_t r = 0; needed > slice[0] && r < size; ++r)
      if (const std::int64_t sent = row_elements(counted, Slot::input, r); sent > slice[0])
        refuse(fmt::format("{}: rank {} sends {} of dimension 1, but its input has {}",
                           name(collective), form == Collective::scatter ? problem.root : r, sent,
                           slice[0]));
    return shapes;
  }
  if (!options.receive_counts.empty()) check_received(problem, options.receive_counts);
  switch (collective) {
    case Collective::reduce_scatter:
    case Collective::scatter:
    case Collective::all_to_all:
      if (slice[0] % size != 0)
        refuse(
            fmt::format("{} gives every rank an equal block: dimension 1 of {} can't be cut into "
                        "{} blocks; {}_v takes counts",
                        name(collective), slice[0], size, name(collective)));
      if (collective != Collective::all_to_all) shapes.out_slice[0] /= size;
      break;
    case Collective::all_gather:
    case Collective::gather:
      shapes.out_slice.insert(shapes.out_slice.begin(), size);
      break;
    default:
      break;
  }
  return shapes;
}

// What each rank sends must be what its row holds, where rows aren't said to hold more.
void check_rows(const Problem& problem, const Operand& in, const Operand& out, const Groups& groups,
                const CollectiveOptions& options) {
  if (!takes_counts(problem.collective)) {
    for (const Operand* operand : {&in, &out})
      if (operand->is_ragged())
        refuse(
            fmt::format("{} needs slices of one shape, but they have first dimensions of {} and "
                        "{}",
                        name(problem.collective), operand->length(0), operand->slice_shape()[0]));
    return;
  }
  const Problem counted = in_rows(problem, options);
  const bool exact = problem.collective == Collective::all_to_all_v && !options.ragged &&
                     options.send_displacements.empty();
  const auto check = [&](const Operand& operand, Slot slot, bool is_exact, const char* what) {
    const std::int64_t ranks = operand.ranks();
    for (std::int64_t r = 0; r < ranks; ++r) {
      const std::int64_t rank =
          slot == Slot::output && ends_at_root(problem.collective) ? 0 : r % problem.ranks;
      const std::int64_t needed = row_elements(counted, slot, rank);
      const std::int64_t length = operand.length(r);
      if (needed > length || (is_exact && needed != length))
        refuse(fmt::format("{}: rank {}{} {} {} of dimension 1, but its {} has {}",
                           name(problem.collective), rank,
                           groups.empty() ? "" : fmt::format(" of group {}", r / problem.ranks),
                           slot == Slot::input ? "sends" : "receives", needed, what, length));
    }
  };
  check(in, Slot::input, exact, "input");
  check(out, Slot::output, false, "output");
}

void check_same_kind(const Operand& in, const Operand& out) {
  if (in.dtype() != out.dtype())
    refuse(fmt::format("input is {} but output is {}", name(in.dtype()), name(out.dtype())));
  if (in.device() != out.device())
    refuse(fmt::format("input is on {} but output is on {}", to_string(in.device()),
                       to_string(out.device())));
}

// Shape or strides of all ranks.
Shape with_ranks(std::int64_t ranks, const Shape& slice) {
  Shape all;
  all.reserve(slice.size() + 1);
  all.push_back(ranks);
  all.insert(all.end(), slice.begin(), slice.end());
  return all;
}

// A rooted collective's output has no dimension of ranks unless there are groups.
bool has_rank_dimension(Collective collective, const CollectiveOptions& options) {
  return !ends_at_root(collective) || !options.groups.empty();
}

std::int64_t output_ranks(Collective collective, std::int64_t ranks,
                          const CollectiveOptions& options) {
  if (!ends_at_root(collective)) return ranks;
  return options.groups.empty() ? 1 : static_cast<std::int64_t>(options.groups.size());
}

// A tensor as an operand, with a dimension of ranks where it has none.
Operand output_operand(Collective collective, const TensorView& out,
                       const CollectiveOptions& options, const char* what) {
  if (has_rank_dimension(collective, options)) return {out, Operand::Use::written, what};
  const bool has_strides = !out.strides.empty() && out.strides.size() == out.shape.size();
  return {{.data = out.data,
           .dtype = out.dtype,
           .shape = with_ranks(1, out.shape),
           .strides = has_strides ? with_ranks(0, out.strides) : out.strides,
           .device = out.device},
          Operand::Use::written,
          what};
}

void check_output_shape(Collective collective, const Shape& has, const Shape& needs) {
  // Of a _v form there may be room for more.
  bool fits = has.size() == needs.size();
  for (std::size_t i = 0; fits && i < has.size(); ++i)
    fits = has[i] == needs[i] || (takes_counts(collective) && i == 0 && has[i] > needs[i]);
  if (!fits)
    refuse(fmt::format("output has slices of shape {} but must have {}", to_string(has),
                       to_string(needs)));
}

// Puts slices in the order of the groups, and finds out how they lie.
void place(Call& call, const CollectiveOptions& options) {
  Groups& groups = call.key.groups;
  const Collective collective = call.key.problem.collective;
  std::vector<std::int64_t> order, sizes;
  for (const Group& group : groups) {
    order.insert(order.end(), group.begin(), group.end());
    sizes.push_back(static_cast<std::int64_t>(group.size()));
  }
  const bool is_sorted = std::ranges::is_sorted(order);
  if (!is_sorted) {
    call.in.reorder(order);
    if (!ends_at_root(collective)) {
      call.out.reorder(order);
      call.ranks.reorder(order);
    }
  }
  const auto check = [&](const Problem& problem, std::span<const std::int64_t> group_sizes) {
    check_rows(problem, call.in, call.out, groups, options);
    call.aliasing = aliasing_of(problem, group_sizes, call.in, call.out);
  };
  // All ranks in their order are one group as if none were listed.
  if (groups.size() == 1 && is_sorted) groups.clear();
  if (groups.empty())
    check(call.key.problem, {&call.key.problem.ranks, 1});
  else
    check(group_problem(call.key, 0), sizes);
  const auto is_scattered = [](const Operand& operand) {
    return operand.is_contiguous() && !operand.is_uniform();
  };
  call.key.scattered = is_scattered(call.in) || is_scattered(call.out) || is_scattered(call.ranks);
}

Call finish(Collective collective, Operand in, Operand out, const CollectiveOptions& options) {
  check_same_kind(in, out);
  Shapes shapes = shapes_of(collective, in.ranks(), in.slice_shape(), in.dtype(), options);
  if (out.ranks() != output_ranks(collective, in.ranks(), options))
    refuse(fmt::format("output has {} slices but must have {}", out.ranks(),
                       output_ranks(collective, in.ranks(), options)));
  if (!out.is_ragged()) check_output_shape(collective, out.slice_shape(), shapes.out_slice);
  Operand ranks;
  if (options.ranks.data != nullptr) {
    if (!finds_rank(options.op) || !reduces(collective))
      refuse("ranks are told by min_loc and max_loc only");
    ranks = output_operand(collective, options.ranks, options, "ranks");
    if (ranks.dtype() != DType::i32 || ranks.device() != out.device() ||
        ranks.ranks() != out.ranks() || ranks.slice_shape() != out.slice_shape())
      refuse(fmt::format("ranks must be i32 of the output's shape and device, not {} of shape {}",
                         name(options.ranks.dtype), to_string(options.ranks.shape)));
  }
  refuse_overlap(ranks, "ranks", in, "input");
  refuse_overlap(ranks, "ranks", out, "output");
  shapes.problem.ranks = in.ranks();
  const Device device = in.device();
  Call call{.in = std::move(in),
            .out = std::move(out),
            .ranks = std::move(ranks),
            .key = make_key(std::move(shapes.problem), device, options)};
  place(call, options);
  return call;
}

}  // namespace

PlanKey make_key(Problem problem, Device device, const CollectiveOptions& options) {
  return {.problem = std::move(problem),
          .groups = options.groups,
          .algorithm = std::string(options.algorithm),
          .parameters = options.parameters,
          .policies = {options.accumulate, options.mean, options.nan, options.fp8},
          .device = device};
}

Call make_call(Collective collective, const TensorView& in, const TensorView& out,
               const CollectiveOptions& options) {
  return finish(collective, {in, Operand::Use::read, "input"},
                output_operand(collective, out, options, "output"), options);
}

Call make_call(Collective collective, std::span<const TensorView> in,
               std::span<const TensorView> out, const CollectiveOptions& options) {
  return finish(collective, {in, Operand::Use::read, "input"},
                {out, Operand::Use::written, "output"}, options);
}

Problem problem_of(Collective collective, const Shape& in, DType dtype,
                   const CollectiveOptions& options) {
  if (in.empty()) refuse("a shape (R, ...) needs at least one dimension");
  Problem problem =
      shapes_of(collective, in[0], {in.begin() + 1, in.end()}, dtype, options).problem;
  problem.ranks = in[0];
  return problem;
}

Shape output_shape(Collective collective, const Shape& in, const CollectiveOptions& options) {
  if (in.empty()) refuse("a shape (R, ...) needs at least one dimension");
  const Shape slice =
      shapes_of(collective, in[0], {in.begin() + 1, in.end()}, DType::f32, options).out_slice;
  if (!has_rank_dimension(collective, options)) return slice;
  return with_ranks(output_ranks(collective, in[0], options), slice);
}

}  // namespace vranks
