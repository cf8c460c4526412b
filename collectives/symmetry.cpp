// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/symmetry.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "collectives/interpreters/access_log.hpp"

namespace vranks {

std::vector<std::int32_t> Symmetry::generators() const {
  if (kind == Kind::rotation) return {step};
  std::vector<std::int32_t> numbers;
  for (std::int32_t bit = step; bit < ranks; bit *= 2) numbers.push_back(bit);
  return numbers;
}

std::int32_t Symmetry::whole_chunk(const ScheduleShape& shape, std::int32_t chunk,
                                   std::int32_t number) const {
  if (shape.collective == Collective::all_to_all) {
    const std::int32_t block = chunk / shape.block_chunks();
    return (rank(block / ranks, number) * ranks + rank(block % ranks, number)) *
               shape.block_chunks() +
           chunk % shape.block_chunks();
  }
  return moves_chunks || shape.has_parts() ? moved(chunk, shape.chunks, number) : chunk;
}

std::int32_t Symmetry::slot_chunk(const ScheduleShape& shape, Slot slot, std::int32_t index,
                                  std::int32_t number) const {
  if (slot == Slot::scratch)
    return moves_scratch ? moved(index, shape.scratch_chunks, number) : index;
  if (shape.collective == Collective::all_to_all)
    return moved(index, shape.slot_chunks(slot), number);
  return shape.is_part(slot) ? index : whole_chunk(shape, index, number);
}

std::vector<Symmetry> possible_symmetries(const ScheduleShape& shape) {
  // Which rank gets whose slice of a permute is in no slot's numbers.
  if (shape.collective == Collective::permute) return {};
  const auto has_blocks = [&](std::int32_t chunks) {
    return chunks > 0 && chunks % shape.ranks == 0;
  };
  std::vector<Symmetry> all;
  for (std::int32_t step = 1; step < shape.ranks; ++step) {
    if (shape.ranks % step != 0) continue;
    for (const Symmetry::Kind kind : {Symmetry::Kind::rotation, Symmetry::Kind::exchange}) {
      const auto number = static_cast<std::uint32_t>(shape.ranks);
      if (kind == Symmetry::Kind::exchange && !std::has_single_bit(number)) continue;
      for (const bool chunks : {false, true})
        for (const bool scratch : {false, true}) {
          if (chunks && (shape.has_parts() || !has_blocks(shape.chunks))) continue;
          if (scratch && !has_blocks(shape.scratch_chunks)) continue;
          all.push_back({kind, shape.ranks, step, chunks, scratch});
        }
    }
  }
  return all;
}

namespace {

class Renumbering {
 public:
  Renumbering(const Schedule& schedule, const Symmetry& symmetry)
      : schedule_(schedule),
        symmetry_(symmetry),
        chunks_(schedule.shape()),
        writers_(chunks_.size(), 0) {}

  // Whether that renumbering takes the transfers of each step to those of the same step; of all
  // ranks, or those of the first one, which is soon found out.
  bool changes_nothing(std::int32_t number, bool of_all) {
    const std::int32_t first = symmetry_.rank(0, number);
    for (std::size_t step = 0; step < schedule_.steps(); ++step) {
      transfers_.clear();
      links_.clear();
      schedule_.for_each(step, [&](const Transfer& t) {
        if (!of_all && t.dst.rank != 0 && t.dst.rank != first) return;
        writers_[chunks_.number(t.dst)] = static_cast<std::uint32_t>(transfers_.size());
        transfers_.push_back(t);
        if (t.is_message())
          links_.push_back(static_cast<std::uint64_t>(t.source()) << 32 |
                           static_cast<std::uint32_t>(t.dst.rank));
      });
      for (const Transfer& t : transfers_) {
        if (!of_all && t.dst.rank != 0) continue;
        const std::optional<ChunkRef> a = image(t.a, number), b = image(t.b, number),
                                      dst = image(t.dst, number);
        if (!a || !b || !dst) return false;
        // Who wrote it in an earlier step is no transfer of this one, or another one.
        const std::uint32_t writer = writers_[chunks_.number(*dst)];
        if (writer >= transfers_.size()) return false;
        const Transfer& other = transfers_[writer];
        if (other != Transfer{t.action, *a, *b, *dst} && other != Transfer{t.action, *b, *a, *dst})
          return false;
      }
      std::ranges::sort(links_);
      if (std::ranges::adjacent_find(links_) != links_.end()) return false;
    }
    return true;
  }

 private:
  // Nothing where the chunks wouldn't follow one another.
  std::optional<ChunkRef> image(const ChunkRef& ref, std::int32_t number) const {
    const auto of = [&](std::int32_t index) {
      return symmetry_.slot_chunk(schedule_.shape(), ref.slot, index, number);
    };
    const std::int32_t first = of(ref.index);
    for (std::int32_t k = 1; k < ref.count; ++k)
      if (of(ref.index + k) != first + k) return {};
    return ChunkRef{symmetry_.rank(ref.rank, number), first, ref.count, ref.slot};
  }

  const Schedule& schedule_;
  const Symmetry& symmetry_;
  WritableChunks chunks_;
  std::vector<std::uint32_t> writers_;  // by writable chunk: place of a transfer in its step
  std::vector<Transfer> transfers_;     // of a step
  std::vector<std::uint64_t> links_;    // of its messages
};

}  // namespace

bool is_symmetric(const Schedule& schedule, const Symmetry& symmetry) {
  Renumbering renumbering(schedule, symmetry);
  const std::vector<std::int32_t> numbers = symmetry.generators();
  for (const bool of_all : {false, true})
    if (!std::ranges::all_of(numbers, [&](std::int32_t number) {
          return renumbering.changes_nothing(number, of_all);
        }))
      return false;
  return true;
}

}  // namespace vranks
