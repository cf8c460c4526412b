// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/sized_program.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace vranks {

namespace {

// Numbers rows of sizes, one a window, so that equal ones have one number.
class SizeTable {
 public:
  explicit SizeTable(std::int32_t windows) : windows_(static_cast<std::size_t>(windows)) {}

  std::int32_t number(const std::vector<std::int64_t>& row) {
    const auto [at, is_new] = numbers_.try_emplace(row, static_cast<std::int32_t>(numbers_.size()));
    if (is_new) bytes_.insert(bytes_.end(), row.begin(), row.end());
    return at->second;
  }
  void add_to(std::vector<std::int64_t>& row, std::int32_t number) const {
    for (std::size_t w = 0; w < windows_; ++w)
      row[w] += bytes_[static_cast<std::size_t>(number) * windows_ + w];
  }
  std::vector<std::int64_t> bytes() && { return std::move(bytes_); }

 private:
  std::size_t windows_;
  std::vector<std::int64_t> bytes_;
  std::map<std::vector<std::int64_t>, std::int32_t> numbers_;
};

// Memory that ranks need beside input and output: scratch chunks, each as long as the longest that
// is ever stored in it, and the longest message that is combined.
class Temporaries {
 public:
  explicit Temporaries(const ScheduleShape& shape)
      : scratch_(static_cast<std::size_t>(shape.scratch_chunks)),
        held_(static_cast<std::size_t>(shape.ranks) * scratch_, 0),
        longest_(static_cast<std::size_t>(shape.ranks), 0) {}

  // Chunk k of an instruction, whose first is `dst`, is that long.
  void hold(const ChunkRef& dst, std::int32_t k, const Instruction& instruction,
            std::int64_t bytes) {
    if (!info(instruction.kind).writes || dst.slot != Slot::scratch) return;
    std::int64_t& held = held_[static_cast<std::size_t>(dst.rank) * scratch_ +
                               static_cast<std::size_t>(dst.index + k)];
    held = std::max(held, bytes);
  }
  void receive(std::int32_t rank, const Instruction& instruction, std::int64_t bytes) {
    if (!info(instruction.kind).combines_message()) return;
    std::int64_t& longest = longest_[static_cast<std::size_t>(rank)];
    longest = std::max(longest, bytes);
  }
  // By rank.
  std::vector<std::int64_t> bytes() && {
    for (std::size_t i = 0; i < held_.size(); ++i) longest_[i / scratch_] += held_[i];
    return std::move(longest_);
  }

 private:
  std::size_t scratch_;
  std::vector<std::int64_t> held_, longest_;
};

// Of each interval of the chunks that have most of them: into how many tiles the longest is cut.
std::vector<std::int64_t> tiles_of(const Layout& layout, std::int64_t element_bytes,
                                   std::int64_t tile_bytes) {
  std::vector<std::int64_t> tiles;
  for (std::int32_t c = 0; c < layout.chunks(); ++c)
    for (std::size_t i = 0; i < layout.chunk(c).size(); ++i) {
      if (i == tiles.size()) tiles.push_back(1);
      const std::int64_t bytes = layout.chunk(c)[i].length() * element_bytes;
      if (tile_bytes > 0) tiles[i] = std::max(tiles[i], (bytes + tile_bytes - 1) / tile_bytes);
    }
  return tiles;
}

}  // namespace

SizedProgram::SizedProgram(const Program& program, const Layout& layout, std::int64_t element_bytes,
                           std::int64_t tile_bytes, std::int64_t most_windows)
    : program_(program) {
  const std::vector<std::int64_t> tiles = tiles_of(layout, element_bytes, tile_bytes);
  all_windows_ =
      std::max<std::int64_t>(1, std::accumulate(tiles.begin(), tiles.end(), std::int64_t{0}));
  windows_ = static_cast<std::int32_t>(std::min(all_windows_, most_windows));
  const ScheduleShape& shape = program.shape();
  vector_bytes_ = layout.elements() * element_bytes;
  if (shape.is_part(Slot::input) && shape.is_part(Slot::output)) vector_bytes_ /= shape.ranks;

  SizeTable table(windows_);
  std::vector<std::int64_t> row(static_cast<std::size_t>(windows_));
  const std::int32_t nothing = table.number(row);
  std::vector<std::int32_t> chunk_sizes;  // of each chunk of the whole vector
  for (std::int32_t c = 0; c < layout.chunks(); ++c) {
    std::ranges::fill(row, 0);
    std::size_t window = 0;
    for (std::size_t i = 0; i < layout.chunk(c).size(); ++i) {
      const std::int64_t bytes = layout.chunk(c)[i].length() * element_bytes;
      for (std::int64_t t = 0; t < tiles[i] && window < row.size(); ++t, ++window)
        row[window] = tile_bytes > 0
                          ? std::clamp<std::int64_t>(bytes - t * tile_bytes, 0, tile_bytes)
                          : bytes;
    }
    chunk_sizes.push_back(table.number(row));
    window_bytes_ += row[0];
  }

  const MessageChunks chunks(program, layout);
  Temporaries temporaries(shape);
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> sums;  // first and count: size
  ops_.reserve(static_cast<std::size_t>(program.size()));
  std::int32_t lane = 0;
  for (std::int32_t i = 0; i < program.size(); ++i) {
    while (i >= program.lane_begin(lane) + program.lane_size(lane)) ++lane;
    const Instruction& instruction = program.instruction(i);
    if (instruction.kind == InstructionKind::nop) {
      add_op(i, nothing, -1);
      continue;
    }
    std::int64_t bytes = 0;
    bool is_in_row = true;  // chunks that follow one another
    const std::int32_t first = chunks.moved(instruction, i, 0);
    for (std::int32_t k = 0; k < instruction.count; ++k) {
      const std::int32_t chunk = chunks.moved(instruction, i, k);
      is_in_row = is_in_row && chunk == first + k;
      const std::int64_t length = layout.length(chunk) * element_bytes;
      bytes += length;
      temporaries.hold(program.chunk(lane, instruction.dst, 1), k, instruction, length);
    }
    temporaries.receive(program.lanes()[static_cast<std::size_t>(lane)].rank, instruction, bytes);
    const auto sum = [&] {
      std::ranges::fill(row, 0);
      for (std::int32_t k = 0; k < instruction.count; ++k)
        table.add_to(row, chunk_sizes[static_cast<std::size_t>(chunks.moved(instruction, i, k))]);
      return table.number(row);
    };
    std::int32_t size = chunk_sizes[static_cast<std::size_t>(first)];
    if (instruction.count > 1 && !is_in_row) size = sum();
    if (instruction.count > 1 && is_in_row) {
      const auto [at, is_new] = sums.try_emplace({first, instruction.count}, 0);
      if (is_new) at->second = sum();
      size = at->second;
    }
    add_op(i, size, first);
  }
  bytes_ = std::move(table).bytes();
  temporary_bytes_ = std::move(temporaries).bytes();
}

void SizedProgram::add_op(std::int32_t number, std::int32_t size, std::int32_t chunk) {
  const std::span<const Place> waits = program_.waits(number);
  ops_.push_back({.kind = static_cast<std::uint32_t>(program_.instruction(number).kind) & 0xfU,
                  .size = static_cast<std::uint32_t>(size) & 0xfffffffU,
                  .chunk = chunk,
                  .wait = waits.empty()       ? Place{no_wait, 0}
                          : waits.size() == 1 ? waits[0]
                                              : Place{many_waits, 0}});
}

}  // namespace vranks
