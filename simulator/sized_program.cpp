// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/sized_program.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace vranks {

namespace {

// Numbers rows of sizes so that equal ones have one number.
class SizeTable {
 public:
  std::int32_t number(const std::vector<std::int64_t>& row) {
    const auto [at, is_new] = numbers_.try_emplace(row, static_cast<std::int32_t>(numbers_.size()));
    if (is_new) bytes.insert(bytes.end(), row.begin(), row.end());
    return at->second;
  }

  std::vector<std::int64_t> bytes;

 private:
  std::map<std::vector<std::int64_t>, std::int32_t> numbers_;
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
  const MessageChunks chunks(program, layout);
  const std::vector<std::int64_t> tiles = tiles_of(layout, element_bytes, tile_bytes);
  all_windows_ =
      std::max<std::int64_t>(1, std::accumulate(tiles.begin(), tiles.end(), std::int64_t{0}));
  windows_ = static_cast<std::int32_t>(std::min(all_windows_, most_windows));

  SizeTable table;
  std::vector<std::int64_t> row(static_cast<std::size_t>(windows_));
  const std::int32_t nothing = table.number(row);
  std::vector<std::int32_t> chunk_sizes;  // of each chunk of the whole vector
  for (std::int32_t c = 0; c < layout.chunks(); ++c) {
    std::ranges::fill(row, 0);
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
  }

  ops_.reserve(static_cast<std::size_t>(program.size()));
  const auto add = [&](std::int32_t number, std::int32_t size, std::int32_t chunk) {
    const std::span<const Place> waits = program.waits(number);
    ops_.push_back({.kind = static_cast<std::uint32_t>(program.instruction(number).kind) & 0xfU,
                    .size = static_cast<std::uint32_t>(size) & 0xfffffffU,
                    .chunk = chunk,
                    .wait = waits.empty()       ? Place{no_wait, 0}
                            : waits.size() == 1 ? waits[0]
                                                : Place{many_waits, 0}});
  };
  temporary_bytes_.assign(static_cast<std::size_t>(program.shape().ranks), 0);
  std::map<std::tuple<std::int32_t, std::int32_t>, std::int32_t> consecutive;  // first and count
  // Of chunks of the whole vector, over all windows.
  const auto chunk_bytes = [&](std::int32_t c) { return layout.length(c) * element_bytes; };
  const auto scratch = static_cast<std::size_t>(program.shape().scratch_chunks);
  std::vector<std::int64_t> held(temporary_bytes_.size() * scratch, 0);
  std::vector<std::int64_t> longest(temporary_bytes_.size(), 0);
  std::int32_t lane = 0;
  for (std::int32_t i = 0; i < program.size(); ++i) {
    while (i >= program.lane_begin(lane) + program.lane_size(lane)) ++lane;
    const Instruction& instruction = program.instruction(i);
    const InstructionInfo& does = info(instruction.kind);
    const auto chunk = [&](std::int32_t k) {
      const MessageChunks::Chunks& of = chunks.of(i, k);
      return does.writes || does.combines_message() ? of.result : does.receives ? of.message : of.a;
    };
    if (instruction.kind == InstructionKind::nop) {
      add(i, nothing, -1);
      continue;
    }
    const std::int32_t first = chunk(0);
    std::int32_t size = chunk_sizes[static_cast<std::size_t>(first)];
    if (instruction.count > 1) {
      bool is_consecutive = true;
      for (std::int32_t k = 1; k < instruction.count && is_consecutive; ++k)
        is_consecutive = chunk(k) == first + k;
      const auto sum = [&] {
        std::ranges::fill(row, 0);
        for (std::int32_t k = 0; k < instruction.count; ++k)
          for (std::int32_t w = 0; w < windows_; ++w)
            row[static_cast<std::size_t>(w)] +=
                table.bytes[static_cast<std::size_t>(
                                chunk_sizes[static_cast<std::size_t>(chunk(k))]) *
                                static_cast<std::size_t>(windows_) +
                            static_cast<std::size_t>(w)];
        return table.number(row);
      };
      if (is_consecutive) {
        const auto [at, is_new] = consecutive.try_emplace({first, instruction.count}, 0);
        if (is_new) at->second = sum();
        size = at->second;
      } else {
        size = sum();
      }
    }
    add(i, size, first);
    const auto rank =
        static_cast<std::size_t>(program.lanes()[static_cast<std::size_t>(lane)].rank);
    if (does.writes && instruction.dst.slot == Slot::scratch)
      for (std::int32_t k = 0; k < instruction.count; ++k) {
        std::int64_t& bytes =
            held[rank * scratch + static_cast<std::size_t>(instruction.dst.index + k)];
        bytes = std::max(bytes, chunk_bytes(chunk(k)));
      }
    if (does.combines_message()) {
      std::int64_t bytes = 0;
      for (std::int32_t k = 0; k < instruction.count; ++k) bytes += chunk_bytes(chunk(k));
      longest[rank] = std::max(longest[rank], bytes);
    }
  }
  for (const std::int32_t size : chunk_sizes)
    window_bytes_ +=
        table.bytes[static_cast<std::size_t>(size) * static_cast<std::size_t>(windows_)];
  bytes_ = std::move(table.bytes);
  for (std::size_t r = 0; r < longest.size(); ++r) {
    temporary_bytes_[r] = longest[r];
    for (std::size_t k = 0; k < scratch; ++k) temporary_bytes_[r] += held[r * scratch + k];
  }
  const ScheduleShape& shape = program.shape();
  vector_bytes_ = layout.elements() * element_bytes;
  if (shape.is_part(Slot::input) && shape.is_part(Slot::output)) vector_bytes_ /= shape.ranks;
}

}  // namespace vranks
