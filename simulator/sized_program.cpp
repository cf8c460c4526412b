// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/sized_program.hpp"

#include <algorithm>
#include <map>
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

}  // namespace

SizedProgram::SizedProgram(const Program& program, const Layout& layout, std::int64_t element_bytes)
    : program_(program) {
  const MessageChunks chunks(program, layout);
  for (std::int32_t c = 0; c < layout.chunks(); ++c)
    windows_ = std::max(windows_, static_cast<std::int32_t>(layout.chunk(c).size()));

  SizeTable table;
  std::vector<std::int64_t> row(static_cast<std::size_t>(windows_));
  const std::int32_t nothing = table.number(row);
  std::vector<std::int32_t> chunk_sizes;  // of each chunk of the whole vector
  for (std::int32_t c = 0; c < layout.chunks(); ++c) {
    std::ranges::fill(row, 0);
    for (std::size_t w = 0; w < layout.chunk(c).size(); ++w)
      row[w] = layout.chunk(c)[w].length() * element_bytes;
    chunk_sizes.push_back(table.number(row));
  }

  size_of_.reserve(static_cast<std::size_t>(program.size()));
  first_chunk_.reserve(static_cast<std::size_t>(program.size()));
  temporary_bytes_.assign(static_cast<std::size_t>(program.shape().ranks), 0);
  std::map<std::tuple<std::int32_t, std::int32_t>, std::int32_t> consecutive;  // first and count
  const auto total = [&](std::int32_t size) {
    std::int64_t sum = 0;
    for (std::int32_t w = 0; w < windows_; ++w)
      sum += table.bytes[static_cast<std::size_t>(size) * static_cast<std::size_t>(windows_) +
                         static_cast<std::size_t>(w)];
    return sum;
  };
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
      size_of_.push_back(nothing);
      first_chunk_.push_back(-1);
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
    size_of_.push_back(size);
    first_chunk_.push_back(first);
    const auto rank =
        static_cast<std::size_t>(program.lanes()[static_cast<std::size_t>(lane)].rank);
    if (does.writes && instruction.dst.slot == Slot::scratch)
      for (std::int32_t k = 0; k < instruction.count; ++k) {
        std::int64_t& bytes =
            held[rank * scratch + static_cast<std::size_t>(instruction.dst.index + k)];
        bytes = std::max(bytes, total(chunk_sizes[static_cast<std::size_t>(chunk(k))]));
      }
    if (does.combines_message()) longest[rank] = std::max(longest[rank], total(size));
  }
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
