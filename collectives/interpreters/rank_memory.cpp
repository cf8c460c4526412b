// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/rank_memory.hpp"

#include <fmt/format.h>

#include "ranks/error.hpp"

namespace vranks {

RankMemory::RankMemory(const ScheduleShape& shape, const Layout& layout, const Arithmetic& rules,
                       const FoldRows& rows, Device device, std::vector<std::int32_t> ranks)
    : shape_(shape),
      layout_(layout),
      rules_(rules),
      rows_(rows),
      device_(device),
      backend_(backend_for(device)),
      ranks_(std::move(ranks)),
      place_of_(static_cast<std::size_t>(shape.ranks), -1),
      raw_(!reduces(shape.collective) || (shape.ranks == 1 && !rules.computes_alone)),
      width_(static_cast<std::int64_t>(raw_ ? size_bytes(rules.dtype) : carried_bytes(rules))),
      out_elements_(output_elements(shape, layout)),
      longest_(longest_chunk(layout)),
      outputs_(bytes(std::ssize(ranks_) * out_elements_), device),
      scratch_(bytes(std::ssize(ranks_) * shape.scratch_chunks * longest_), device) {
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    place_of_[static_cast<std::size_t>(ranks_[i])] = static_cast<std::int32_t>(i);
}

std::int64_t RankMemory::output_elements(const ScheduleShape& shape, const Layout& layout) {
  std::int64_t end = 0;
  for (std::int32_t c = 0; c < layout.chunks(); ++c)
    for (const Interval& interval : layout.chunk(c))
      end = std::max(end, interval.end - layout.shift(Slot::output, c));
  // Filled outputs are those of a permute or an exscan, as long as any.
  return shape.collective == Collective::barrier ? 0 : end;
}

std::int64_t RankMemory::longest_chunk(const Layout& layout) {
  std::int64_t most = 0;
  for (std::int32_t c = 0; c < layout.chunks(); ++c) most = std::max(most, layout.length(c));
  return most;
}

std::vector<Stretch> RankMemory::stretches(const ChunkPlace& place) const {
  std::vector<Stretch> all;
  const bool is_scratch = place.slot == Slot::scratch;
  std::int64_t at = std::int64_t{place.index} * (is_scratch ? longest_ : 0);
  const std::int64_t shift = is_scratch ? 0 : layout_.shift(place.slot, place.whole);
  for (const Interval& interval : layout_.chunk(place.whole)) {
    if (!is_scratch) at = interval.begin - shift;
    all.push_back({at, interval.length(), interval.begin - interval.origin});
    at += interval.length();
  }
  return all;
}

std::vector<Stretch> RankMemory::stretches(const ChunkPlace& place, std::int64_t begin,
                                           std::int64_t end) const {
  std::vector<Stretch> all;
  std::int64_t before = 0;
  for (const Stretch& stretch : stretches(place)) {
    const std::int64_t from = std::max(begin - before, std::int64_t{0});
    const std::int64_t to = std::min(end - before, stretch.length);
    if (from < to) all.push_back({stretch.at + from, to - from, stretch.position + from});
    before += stretch.length;
  }
  return all;
}

std::byte* RankMemory::at(std::int32_t rank, Slot slot, std::int64_t element) const {
  if (slot == Slot::input) return rows_.in.row(rank) + element * element_bytes();
  const bool is_output = slot == Slot::output;
  const std::int64_t row = is_output ? out_elements_ : shape_.scratch_chunks * longest_;
  return static_cast<std::byte*>((is_output ? outputs_ : scratch_).data()) +
         (place_of_[static_cast<std::size_t>(rank)] * row + element) * width_;
}

Hop RankMemory::move(const std::byte* from, std::byte* to, std::int64_t elements) const {
  return {.kind = raw_ ? Hop::Kind::lower : Hop::Kind::copy,
          .a_is_leaf = raw_,
          .a = from,
          .dst = to,
          .elements = elements};
}

void RankMemory::add_moves(std::vector<Hop>& hops, const HopOperand& from, std::byte* to) const {
  std::int64_t done = 0;
  for (const Stretch& stretch : from.stretches) {
    Hop& hop =
        hops.emplace_back(move(address(from, stretch.at), to + done * width_, stretch.length));
    hop.a_is_leaf = hop.a_is_leaf || from.is_leaf();
    hop.a_row = from.rank;
    done += stretch.length;
  }
}

void RankMemory::add_moves(std::vector<Hop>& hops, const std::byte* from, const ChunkPlace& to,
                           std::int64_t begin, std::int64_t end) const {
  std::int64_t done = 0;
  for (const Stretch& stretch : stretches(to, begin, end)) {
    hops.push_back(move(from + done * width_, at(to.rank, to.slot, stretch.at), stretch.length));
    done += stretch.length;
  }
}

void RankMemory::add_combines(std::vector<Hop>& hops, const HopOperand& left,
                              const HopOperand& right, std::uint8_t own, std::byte* to) const {
  side_by_side(left.stretches, right.stretches,
               [&](std::int64_t done, const Stretch& a, const Stretch& b) {
                 hops.push_back({.kind = Hop::Kind::combine,
                                 .a_is_leaf = left.is_leaf(),
                                 .b_is_leaf = right.is_leaf(),
                                 .own = own,
                                 .a = address(left, a.at),
                                 .b = address(right, b.at),
                                 .a_row = left.rank,
                                 .b_row = right.rank,
                                 .dst = to + done * width_,
                                 .elements = a.length,
                                 .position = own == 1 ? a.position : b.position});
               });
}

bool RankMemory::tells_ranks() const {
  return rows_.ranks.exist() && finds_rank(rules_.op) && !raw_;
}

void RankMemory::add_results(std::vector<Hop>& hops, std::int32_t rank, std::int32_t chunk) const {
  const std::int64_t row = ends_at_root(shape_.collective) ? 0 : rank;
  const std::int32_t whole = shape_.whole_chunk(rank, Slot::output, chunk);
  for (const Stretch& stretch : stretches({rank, Slot::output, chunk, whole})) {
    Hop hop{.kind = Hop::Kind::lower,
            .a_is_leaf = raw_,
            .a = at(rank, Slot::output, stretch.at),
            .dst = rows_.out.row(row) + stretch.at * element_bytes(),
            .elements = stretch.length};
    if (tells_ranks())
      hop.ranks =
          rows_.ranks.row(row) + stretch.at * static_cast<std::int64_t>(sizeof(std::int32_t));
    hops.push_back(hop);
  }
}

void RankMemory::refuse_unwritten(std::int32_t rank, std::int32_t chunk) {
  throw Error(ErrorKind::bad_argument,
              fmt::format("output chunk {} of rank {} is never written", chunk, rank));
}

// The output of a rank that no message brings anything.
void RankMemory::fill(std::int32_t rank, std::span<const std::byte> filling) const {
  const auto fill_row = [&](std::byte* to, std::span<const std::byte> element) {
    std::vector<std::byte> row;
    for (std::int64_t i = 0; i < out_elements_; ++i)
      row.insert(row.end(), element.begin(), element.end());
    backend_.copy_from_host(to, row.data(), row.size(), device_.index);
  };
  fill_row(rows_.out.row(rank), filling.first(size_bytes(rules_.dtype)));
  if (tells_ranks()) {
    const std::int32_t none = FoldProgram::no_rank;
    fill_row(rows_.ranks.row(rank), std::as_bytes(std::span(&none, 1)));
  }
}

}  // namespace vranks
