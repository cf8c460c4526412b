// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/aliasing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "collectives/layout.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

using Address = std::uintptr_t;

struct Span {
  Address begin = 0, end = 0;
  std::int64_t slice = 0;
};

Address address(const std::byte* pointer) { return reinterpret_cast<Address>(pointer); }

Span slice_span(const Operand& operand, std::int64_t slice) {
  const Address at = address(operand.rows().row(slice));
  return {at + static_cast<Address>(operand.lowest()),
          at + static_cast<Address>(operand.behind(slice)), slice};
}

// All memory from the lowest to behind the highest element.
Span envelope(const Operand& operand) {
  Span all = slice_span(operand, 0);
  const auto add = [&](std::int64_t slice) {
    const Span span = slice_span(operand, slice);
    all.begin = std::min(all.begin, span.begin);
    all.end = std::max(all.end, span.end);
  };
  if (operand.is_uniform())
    add(operand.ranks() - 1);
  else
    for (std::int64_t r = 1; r < operand.ranks(); ++r) add(r);
  return all;
}

// Which overlaps are in place.
class Places {
 public:
  Places(const Problem& problem, std::span<const std::int64_t> group_sizes, const Operand& in,
         const Operand& out)
      : problem_(problem), form_(even_form(problem.collective)), in_(in), out_(out) {
    groups_.reserve(static_cast<std::size_t>(in.ranks()));
    firsts_.reserve(group_sizes.size());
    for (const std::int64_t size : group_sizes) {
      for (std::int64_t r = 0; r < size; ++r) groups_.push_back({first_, size});
      firsts_.push_back(first_);
      first_ += size;
    }
    const bool cuts_input = form_ == Collective::reduce_scatter || form_ == Collective::scatter;
    const bool fills_output = form_ == Collective::all_gather || form_ == Collective::gather;
    if (cuts_input || fills_output) {
      starts_ = block_starts(problem, cuts_input ? Slot::input : Slot::output);
      const std::int64_t width = static_cast<std::int64_t>(size_bytes(in.dtype()));
      for (std::int64_t& start : starts_) start *= width;
    }
  }

  // Whether anything reads that slice of the input.
  bool is_read(std::int64_t slice) const {
    const bool from_root = form_ == Collective::broadcast || form_ == Collective::scatter;
    return !from_root || local(slice) == problem_.root;
  }

  Aliasing check(std::int64_t in_slice, std::int64_t out_slice) const {
    const std::int64_t distance = out_.rows().row(out_slice) - in_.rows().row(in_slice);
    const std::int64_t rank = ends_at_root(form_) ? in_slice : out_slice;
    const bool same_rank = in_slice == out_slice;
    const auto start = [&] { return starts_[static_cast<std::size_t>(local(rank))]; };
    switch (form_) {
      case Collective::reduce:
        if (distance == 0 && firsts_[static_cast<std::size_t>(out_slice)] == group(in_slice).first)
          return Aliasing::same_places;
        break;
      case Collective::reduce_scatter:
        if (same_rank && distance == start()) return Aliasing::same_places;
        if (same_rank && distance == 0) return Aliasing::moved;
        break;
      case Collective::scatter:
        if (same_rank && distance == start()) return Aliasing::same_places;
        if (same_rank && distance == 0) return Aliasing::moved;
        break;
      case Collective::all_gather:
        if (same_rank && distance == -start()) return Aliasing::same_places;
        break;
      case Collective::gather:
        if (firsts_[static_cast<std::size_t>(out_slice)] == group(in_slice).first &&
            distance == -start())
          return Aliasing::same_places;
        break;
      default:
        if (same_rank && distance == 0) return Aliasing::same_places;
        break;
    }
    throw Error(ErrorKind::bad_argument,
                fmt::format("slice {} of the output overlaps slice {} of the input: it begins {} "
                            "bytes behind; in place it must {}, otherwise lie apart",
                            out_slice, in_slice, distance, rule()));
  }

 private:
  struct GroupOf {
    std::int64_t first, size;
  };
  const GroupOf& group(std::int64_t slice) const {
    return groups_[static_cast<std::size_t>(slice)];
  }
  std::int64_t local(std::int64_t slice) const { return slice - group(slice).first; }

  const char* rule() const {
    switch (form_) {
      case Collective::reduce:
        return "be exactly one slice of the input";
      case Collective::reduce_scatter:
      case Collective::scatter:
        return "be block r of slice r of the input, or its start";
      case Collective::all_gather:
      case Collective::gather:
        return "hold slice r of the input as its block r";
      default:
        return "be the input itself";
    }
  }

  const Problem& problem_;
  Collective form_;
  const Operand& in_;
  const Operand& out_;
  std::vector<GroupOf> groups_;       // of each slice of the input
  std::vector<std::int64_t> firsts_;  // of each group
  std::vector<std::int64_t> starts_;  // in bytes, of each rank's block
  std::int64_t first_ = 0;
};

}  // namespace

Aliasing aliasing_of(const Problem& problem, std::span<const std::int64_t> group_sizes,
                     const Operand& in, const Operand& out) {
  if (in.empty() || out.empty()) return Aliasing::apart;
  const Span all_in = envelope(in), all_out = envelope(out);
  if (all_out.begin >= all_in.end || all_in.begin >= all_out.end) return Aliasing::apart;
  // What isn't contiguous is copied before the first result is written, or after the last read.
  if (!in.is_contiguous() || !out.is_contiguous()) return Aliasing::apart;
  const Collective form = even_form(problem.collective);
  const bool keeps_shape = problem.ranks == 1 || !ScheduleShape{.collective = form}.has_parts() ||
                           form == Collective::permute || form == Collective::all_to_all;
  const RowAddresses in_rows = in.rows(), out_rows = out.rows();
  if (keeps_shape && !ends_at_root(problem.collective) && in.is_uniform() && out.is_uniform() &&
      in_rows.data == out_rows.data &&
      (in.ranks() == 1 || in_rows.stride_bytes == out_rows.stride_bytes))
    return Aliasing::same_places;

  const Places places(problem, group_sizes, in, out);
  std::vector<Span> inputs;
  inputs.reserve(static_cast<std::size_t>(in.ranks()));
  Address longest = 0;
  for (std::int64_t r = 0; r < in.ranks(); ++r) {
    const Span span = slice_span(in, r);
    if (span.begin == span.end || !places.is_read(r)) continue;
    inputs.push_back(span);
    longest = std::max(longest, span.end - span.begin);
  }
  std::ranges::sort(inputs, {}, &Span::begin);
  Aliasing result = Aliasing::apart;
  for (std::int64_t r = 0; r < out.ranks(); ++r) {
    const Span output = slice_span(out, r);
    if (output.begin == output.end) continue;
    const Address lowest = output.begin > longest ? output.begin - longest : 0;
    for (auto at = std::ranges::lower_bound(inputs, lowest, {}, &Span::begin);
         at != inputs.end() && at->begin < output.end; ++at)
      if (at->end > output.begin) result = std::max(result, places.check(at->slice, r));
  }
  return result;
}

}  // namespace vranks
