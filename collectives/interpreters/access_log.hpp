// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Who touched each chunk last: what a read (the last write) and a write (the reads since, or the
// last write) have to come after. lower() makes waits of it, the prover checks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/program.hpp"

namespace vranks {

// Numbers the chunks that can be written, those of all ranks' outputs and scratch.
class WritableChunks {
 public:
  explicit WritableChunks(const ScheduleShape& shape)
      : outputs_(static_cast<std::size_t>(shape.slot_chunks(Slot::output))),
        a_rank_(outputs_ + static_cast<std::size_t>(shape.scratch_chunks)),
        size_(a_rank_ * static_cast<std::size_t>(shape.ranks)) {}

  std::size_t size() const { return size_; }
  std::size_t number(const ChunkRef& ref) const {
    return static_cast<std::size_t>(ref.rank) * a_rank_ + static_cast<std::size_t>(ref.index) +
           (ref.slot == Slot::scratch ? outputs_ : 0);
  }
  // The one chunk of that number.
  ChunkRef chunk(std::size_t number) const {
    const auto rank = static_cast<std::int64_t>(number / a_rank_);
    const std::size_t index = number % a_rank_;
    return index < outputs_ ? output(rank, static_cast<std::int64_t>(index))
                            : scratch(rank, static_cast<std::int64_t>(index - outputs_));
  }

 private:
  std::size_t outputs_, a_rank_, size_;
};

class AccessLog {
 public:
  explicit AccessLog(const ScheduleShape& shape) : chunks_(shape), entries_(chunks_.size()) {}

  // Calls after(place, chunk, wrote) for each earlier access that this one has to come after. An
  // input is never written, so nothing comes before it. A lane's own accesses are left out.
  template <class F>
  void read(const ChunkRef& ref, const Place& who, F&& after) {
    if (ref.slot == Slot::input) return;
    const std::size_t first = chunks_.number(ref);
    for (std::size_t c = first; c < first + static_cast<std::size_t>(ref.count); ++c) {
      Entry& entry = entries_[c];
      if (entry.writer.lane >= 0 && entry.writer.lane != who.lane) after(entry.writer, c, true);
      // The newest read of a lane stands for all of them.
      if (entry.reader != none && readers_[entry.reader].place.lane == who.lane) {
        readers_[entry.reader].place = who;
        continue;
      }
      const std::uint32_t node = new_reader();
      readers_[node] = {who, entry.reader};
      entry.reader = node;
    }
  }

  template <class F>
  void write(const ChunkRef& ref, const Place& who, F&& after) {
    const std::size_t first = chunks_.number(ref);
    for (std::size_t c = first; c < first + static_cast<std::size_t>(ref.count); ++c) {
      Entry& entry = entries_[c];
      if (entry.reader == none && entry.writer.lane >= 0 && entry.writer.lane != who.lane)
        after(entry.writer, c, true);
      while (entry.reader != none) {
        Reader& reader = readers_[entry.reader];
        if (reader.place.lane != who.lane) after(reader.place, c, false);
        const std::uint32_t node = entry.reader;
        entry.reader = reader.next;
        reader.next = free_;
        free_ = node;
      }
      entry.writer = who;
    }
  }

  const WritableChunks& chunks() const { return chunks_; }
  // Who wrote the chunk of that number last; lane -1 if nobody did.
  const Place& writer(std::size_t number) const { return entries_[number].writer; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Entry {
    Place writer;
    std::uint32_t reader = none;  // the latest since the last write; each knows the one before
  };
  struct Reader {
    Place place;
    std::uint32_t next;
  };

  std::uint32_t new_reader() {
    if (free_ == none) {
      readers_.emplace_back();
      return static_cast<std::uint32_t>(readers_.size() - 1);
    }
    const std::uint32_t node = free_;
    free_ = readers_[node].next;
    return node;
  }

  WritableChunks chunks_;
  std::vector<Entry> entries_;
  std::vector<Reader> readers_;
  std::uint32_t free_ = none;
};

}  // namespace vranks
