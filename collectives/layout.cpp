// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ranks/error.hpp"

namespace vranks {

Layout::Layout(std::int64_t elements, const std::vector<std::vector<Interval>>& chunks)
    : elements_(elements) {
  for (const auto& chunk : chunks) {
    for (const Interval& interval : chunk)
      if (interval.begin < interval.end) intervals_.push_back(interval);
    ends_.push_back(intervals_.size());
  }
  std::vector<Interval> sorted = intervals_;
  std::ranges::sort(sorted, {}, &Interval::begin);
  std::int64_t end = 0;
  for (const Interval& interval : sorted) {
    if (interval.begin != end) break;
    end = interval.end;
  }
  const bool covered = sorted.empty() || end == sorted.back().end;
  if (!covered || end != elements)
    throw Error(ErrorKind::bad_argument,
                fmt::format("the chunks don't cover {} elements once each: there is a gap or an "
                            "overlap at element {}",
                            elements, end));
}

std::int64_t Layout::length(std::int32_t c) const {
  std::int64_t sum = 0;
  for (const Interval& interval : chunk(c)) sum += interval.length();
  return sum;
}

std::int64_t whole_elements(const Problem& problem) {
  switch (problem.collective) {
    case Collective::all_gather:
    case Collective::gather:
    case Collective::all_to_all:
    case Collective::permute:
      return problem.elements * problem.ranks;
    default:
      return problem.elements;
  }
}

std::vector<std::int64_t> block_lengths(const Problem& problem) {
  const Collective form = even_form(problem.collective);
  const bool pairs = form == Collective::all_to_all;
  const ScheduleShape shape{.collective = form, .ranks = static_cast<std::int32_t>(problem.ranks)};
  const std::int64_t blocks = pairs               ? problem.ranks * problem.ranks
                              : shape.has_parts() ? problem.ranks
                                                  : 1;
  if (!takes_counts(problem.collective)) {
    const std::int64_t whole = whole_elements(problem);
    if (whole % blocks != 0)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{} gives every rank an equal block: {} elements can't be cut into "
                              "{} blocks; {}_v takes counts",
                              name(problem.collective), whole / (pairs ? problem.ranks : 1),
                              problem.ranks, name(problem.collective)));
    return std::vector<std::int64_t>(static_cast<std::size_t>(blocks), whole / blocks);
  }
  if (problem.counts.size() != static_cast<std::size_t>(blocks))
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("{} over {} ranks needs {} counts ({}), not {}", name(problem.collective),
                    problem.ranks, blocks, pairs ? "one for each pair of ranks" : "one a rank",
                    problem.counts.size()));
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < problem.counts.size(); ++k) {
    const std::int64_t count = problem.counts[k];
    const auto rank = static_cast<std::int64_t>(k) / (pairs ? problem.ranks : 1);
    if (count < 0)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("count {} of rank {} is negative: {}", k, rank, count));
    if (__builtin_add_overflow(sum, count, &sum))
      throw Error(ErrorKind::not_supported, "the counts together exceed 2^63 - 1 elements");
  }
  return problem.counts;
}

namespace {

// Where the block of the whole vector with that number starts in the row of the rank that holds it.
class Places {
 public:
  explicit Places(const Problem& problem)
      : problem_(problem), form_(even_form(problem.collective)), lengths_(block_lengths(problem)) {}

  std::span<const std::int64_t> lengths() const { return lengths_; }

  std::vector<std::int64_t> starts(Slot slot) const {
    const bool is_input = slot == Slot::input;
    const auto ranks = static_cast<std::size_t>(problem_.ranks);
    std::vector<std::int64_t> starts(lengths_.size());
    const Counts& given = is_input ? problem_.send_displacements : problem_.receive_displacements;
    check(given, slot);
    switch (form_) {
      case Collective::all_gather:
      case Collective::gather:
        if (!is_input) put(starts, given, 0, 1, lengths_.size());
        break;
      case Collective::reduce_scatter:
      case Collective::scatter:
        if (is_input) put(starts, given, 0, 1, lengths_.size());
        break;
      case Collective::all_to_all:
        for (std::size_t r = 0; r < ranks; ++r)
          is_input ? put(starts, given, r * ranks, 1, ranks) : put(starts, given, r, ranks, ranks);
        break;
      default:
        break;
    }
    return starts;
  }

  // Behind the last element of each rank's row that holds a block; a row that all ranks have counts
  // as rank 0's.
  std::vector<std::int64_t> row_ends(Slot slot) const {
    const std::vector<std::int64_t> at = starts(slot);
    std::vector<std::int64_t> ends(static_cast<std::size_t>(problem_.ranks));
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (lengths_[k] == 0) continue;
      std::int64_t& end = ends[holder(slot, k)];
      end = std::max(end, at[k] + lengths_[k]);
    }
    return ends;
  }

  // Received blocks must not overlap, and each row's end must be a number.
  void check_received() const {
    if (problem_.receive_displacements.empty()) return;
    const std::vector<std::int64_t> at = starts(Slot::output);
    std::vector<std::size_t> order(at.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::erase_if(order, [&](std::size_t k) { return lengths_[k] == 0; });
    std::ranges::sort(order, {},
                      [&](std::size_t k) { return std::pair(holder(Slot::output, k), at[k]); });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const std::size_t a = order[i - 1], b = order[i];
      if (holder(Slot::output, a) == holder(Slot::output, b) && at[b] < at[a] + lengths_[a])
        throw Error(ErrorKind::bad_argument,
                    fmt::format("the blocks of {} elements from rank {} and of {} from rank {} "
                                "overlap: they are received at {} and {}",
                                lengths_[a], sender(a), lengths_[b], sender(b), at[a], at[b]));
    }
  }

 private:
  std::size_t holder(Slot slot, std::size_t block) const {
    const auto ranks = static_cast<std::size_t>(problem_.ranks);
    if (form_ == Collective::all_to_all) return slot == Slot::input ? block / ranks : block % ranks;
    const ScheduleShape shape{.collective = form_,
                              .ranks = static_cast<std::int32_t>(problem_.ranks)};
    return shape.is_part(slot) ? block : 0;
  }
  std::size_t sender(std::size_t block) const {
    return form_ == Collective::all_to_all ? block / static_cast<std::size_t>(problem_.ranks)
                                           : block;
  }

  // `count` blocks, every `step`-th from `first` on, lie where given, or one behind the other. The
  // displacements of what a rank receives are kept rank by rank.
  void put(std::vector<std::int64_t>& starts, const Counts& given, std::size_t first,
           std::size_t step, std::size_t count) const {
    std::int64_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t block = first + i * step;
      starts[block] = next;
      if (!given.empty()) starts[block] = given[step == 1 ? block : first * count + i];
      next += lengths_[block];
    }
  }

  void check(const Counts& given, Slot slot) const {
    if (given.empty()) return;
    const bool sends = slot == Slot::input;
    const char* const what = sends ? "send" : "receive";
    const bool allowed = takes_counts(problem_.collective) &&
                         (form_ == Collective::all_to_all ||
                          (sends ? form_ == Collective::scatter
                                 : form_ == Collective::all_gather || form_ == Collective::gather));
    if (!allowed)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{} has no {} displacements", name(problem_.collective), what));
    if (given.size() != lengths_.size())
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{} over {} ranks needs {} {} displacements, not {}",
                              name(problem_.collective), problem_.ranks, lengths_.size(), what,
                              given.size()));
    for (std::size_t k = 0; k < given.size(); ++k) {
      std::int64_t end = 0;
      if (given[k] < 0 || __builtin_add_overflow(given[k], problem_.counts[k], &end))
        throw Error(ErrorKind::bad_argument,
                    fmt::format("{} displacement {} is {}: it must be 0 or more, and its block "
                                "must end below 2^63",
                                what, k, given[k]));
    }
  }

  const Problem& problem_;
  Collective form_;
  std::vector<std::int64_t> lengths_;
};

}  // namespace

std::vector<std::int64_t> block_starts(const Problem& problem, Slot slot) {
  return Places(problem).starts(slot);
}

std::int64_t row_elements(const Problem& problem, Slot slot) {
  if (!takes_counts(problem.collective)) return row_elements(problem, slot, 0);
  return std::ranges::max(Places(problem).row_ends(slot));
}

std::int64_t row_elements(const Problem& problem, Slot slot, std::int64_t rank) {
  const ScheduleShape shape{.collective = even_form(problem.collective),
                            .ranks = static_cast<std::int32_t>(problem.ranks)};
  if (!takes_counts(problem.collective))
    return whole_elements(problem) / (shape.is_part(slot) ? problem.ranks : 1);
  const bool one_row = !shape.is_part(slot);
  return Places(problem).row_ends(slot)[one_row ? 0 : static_cast<std::size_t>(rank)];
}

void Layout::place_blocks(const Problem& problem, const ScheduleShape& shape) {
  const Places places(problem);
  places.check_received();
  block_chunks_ = shape.block_chunks();
  input_shifts_ = places.starts(Slot::input);
  output_shifts_ = places.starts(Slot::output);
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < input_shifts_.size(); ++k) {
    input_shifts_[k] = begin - input_shifts_[k];
    output_shifts_[k] = begin - output_shifts_[k];
    begin += places.lengths()[k];
  }
}

Layout Layout::in_parts(std::int64_t parts) const {
  Layout scaled = *this;
  scaled.elements_ *= parts;
  for (Interval& interval : scaled.intervals_) {
    interval.begin *= parts;
    interval.end *= parts;
    interval.origin *= parts;
  }
  for (std::int64_t& shift : scaled.input_shifts_) shift *= parts;
  for (std::int64_t& shift : scaled.output_shifts_) shift *= parts;
  return scaled;
}

namespace {

using Chunks = std::vector<std::vector<Interval>>;

// Appends `elements` from `begin` on as `chunks` chunks, the first ones one longer.
void add_even(Chunks& all, std::int64_t begin, std::int64_t elements, std::int64_t chunks) {
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t length = elements / chunks + (c < elements % chunks);
    all.push_back({{begin, begin + length, begin}});
    begin += length;
  }
}

void add_halves(Chunks& all, std::int64_t begin, std::int64_t elements, std::int64_t chunks) {
  if (chunks == 1) {
    all.push_back({{begin, begin + elements, begin}});
    return;
  }
  add_halves(all, begin, elements / 2, chunks / 2);
  add_halves(all, begin + elements / 2, elements - elements / 2, chunks / 2);
}

constexpr LayoutInfo layout_table[] = {
    {even_layout, "even", "", "equal chunks, the first n mod C one element longer"},
    {halving_layout, "halving", "", "cut in halves again and again, the left one the shorter"},
    {counts_layout, "counts", "", "as many elements as --counts says"},
    {nccl_ring_layout, "nccl_ring", "", "parts of channels, windows, chunks of NCCL's ring"},
    {nccl_tree_layout, "nccl_tree", "", "parts of channels of NCCL's tree"},
    {msccl_layout, "msccl", "", "equal chunks; n must be a multiple of C"},
};

}  // namespace

Layout even_layout(const Problem& problem, const ScheduleShape& shape, const Parameters&) {
  Chunks chunks;
  chunks.reserve(static_cast<std::size_t>(shape.chunks));
  std::int64_t begin = 0;
  for (const std::int64_t length : block_lengths(problem)) {
    add_even(chunks, begin, length, shape.block_chunks());
    begin += length;
  }
  return {whole_elements(problem), chunks};
}

Layout halving_layout(const Problem& problem, const ScheduleShape& shape, const Parameters&) {
  if (!std::has_single_bit(static_cast<std::uint32_t>(shape.chunks)))
    throw Error(ErrorKind::bad_argument,
                fmt::format("layout halving needs a power of two of chunks, not {}", shape.chunks));
  Chunks chunks;
  add_halves(chunks, 0, whole_elements(problem), shape.chunks);
  return {whole_elements(problem), chunks};
}

Layout counts_layout(const Problem& problem, const ScheduleShape& shape,
                     const Parameters& parameters) {
  if (parameters.counts.size() != static_cast<std::size_t>(shape.chunks))
    throw Error(ErrorKind::bad_argument,
                fmt::format("layout counts needs one count for each of {} chunks, not {}",
                            shape.chunks, parameters.counts.size()));
  Chunks chunks;
  std::int64_t begin = 0;
  for (const std::int64_t count : parameters.counts) {
    if (count < 0 || count > whole_elements(problem) - begin)
      throw Error(
          ErrorKind::bad_argument,
          fmt::format("count {} of chunk {} doesn't fit: {} of {} elements are left", count,
                      chunks.size(), whole_elements(problem) - begin, whole_elements(problem)));
    chunks.push_back({{begin, begin + count, begin}});
    begin += count;
  }
  return {whole_elements(problem), chunks};
}

Layout msccl_layout(const Problem& problem, const ScheduleShape& shape,
                    const Parameters& parameters) {
  const std::int64_t whole = whole_elements(problem);
  if (whole % shape.chunks != 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("MSCCL cuts a vector into equal chunks: {} elements are no multiple of "
                            "{} chunks",
                            whole, shape.chunks));
  return even_layout(problem, shape, parameters);
}

std::span<const LayoutInfo> layouts() { return layout_table; }

std::string_view name(LayoutFunction layout) {
  for (const LayoutInfo& row : layout_table)
    if (row.function == layout) return row.name;
  return "own";
}

}  // namespace vranks
