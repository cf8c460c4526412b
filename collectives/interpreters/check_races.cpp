// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Two accesses to a chunk are in order if a way of lanes, waits and messages leads from one to the
// other. Most are a wait apart. The rest is looked up in vector clocks, which say for every
// instruction how far each of some lanes had got when it began. Both are exact.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "collectives/interpreters/access_log.hpp"
#include "collectives/interpreters/verify.hpp"

namespace vranks {

namespace {

struct Pair {
  Place earlier, later;
  std::size_t chunk;  // number of it
  bool earlier_writes, later_writes;
  bool in_order = false;
};

// The pairs that are not in order by a wait of the later one itself.
std::vector<Pair> open_pairs(const Program& program, const std::vector<Place>& order) {
  std::vector<Pair> pairs;
  AccessLog log(program.shape());
  for (const Place& place : order) {
    const std::int32_t number = program.number(place);
    const Instruction& i = program.instruction(number);
    const InstructionInfo& does = info(i.kind);
    const auto check = [&](bool later_writes) {
      return [&, later_writes](const Place& earlier, std::size_t chunk, bool wrote) {
        for (const Place& wait : program.waits(number))
          if (wait.lane == earlier.lane && wait.index >= earlier.index) return;
        pairs.push_back({earlier, place, chunk, wrote, later_writes});
      };
    };
    if (does.reads_a) log.read(program.chunk(place.lane, i.a, i.count), place, check(false));
    if (does.reads_b) log.read(program.chunk(place.lane, i.b, i.count), place, check(false));
    if (does.writes) log.write(program.chunk(place.lane, i.dst, i.count), place, check(true));
  }
  return pairs;
}

// Marks those of `pairs`, sorted by the earlier one's lane, that are in order.
void look_up(const Program& program, const std::vector<std::int32_t>& sender_of,
             const std::vector<Place>& order, std::span<Pair* const> pairs) {
  const auto size = static_cast<std::size_t>(program.size());
  // Clocks of as many lanes at a time as fit into 256 MB.
  const std::size_t most = std::max<std::size_t>(1, (std::size_t{1} << 26) / size);
  std::vector<std::int32_t> column_of(program.lanes().size());
  std::vector<std::int32_t> clocks;
  while (!pairs.empty()) {
    std::ranges::fill(column_of, -1);
    std::size_t width = 0, count = 0;
    for (; count < pairs.size(); ++count) {
      std::int32_t& column = column_of[static_cast<std::size_t>(pairs[count]->earlier.lane)];
      if (column >= 0) continue;
      if (width == most) break;
      column = static_cast<std::int32_t>(width++);
    }
    clocks.assign(size * width, -1);
    const auto clock = [&](std::int32_t number) {
      return std::span(clocks).subspan(static_cast<std::size_t>(number) * width, width);
    };
    for (const Place& place : order) {
      const std::int32_t number = program.number(place);
      const auto own = clock(number);
      const auto join = [&](std::int32_t before) {
        const auto other = clock(before);
        for (std::size_t c = 0; c < width; ++c) own[c] = std::max(own[c], other[c]);
      };
      if (place.index > 0) join(number - 1);
      for (const Place& wait : program.waits(number)) join(program.number(wait));
      const std::int32_t sender = sender_of[static_cast<std::size_t>(number)];
      if (sender >= 0) join(sender);
      const std::int32_t column = column_of[static_cast<std::size_t>(place.lane)];
      if (column >= 0) own[static_cast<std::size_t>(column)] = place.index;
    }
    for (Pair* pair : pairs.first(count)) {
      const std::int32_t column = column_of[static_cast<std::size_t>(pair->earlier.lane)];
      pair->in_order = clock(program.number(pair->later))[static_cast<std::size_t>(column)] >=
                       pair->earlier.index;
    }
    pairs = pairs.subspan(count);
  }
}

}  // namespace

void check_races(const Program& program, const std::vector<std::int32_t>& sender_of,
                 const std::vector<Place>& order, Findings& findings) {
  std::vector<Pair> pairs = open_pairs(program, order);
  if (pairs.empty()) return;
  std::vector<Pair*> by_lane(pairs.size());
  std::iota(by_lane.begin(), by_lane.end(), pairs.data());
  std::ranges::stable_sort(by_lane, {}, [](const Pair* pair) { return pair->earlier.lane; });
  look_up(program, sender_of, order, by_lane);

  const WritableChunks chunks(program.shape());
  for (const Pair& pair : pairs) {
    if (pair.in_order) continue;
    findings.add([&] {
      const Lane& lane = program.lanes()[static_cast<std::size_t>(pair.later.lane)];
      return Finding{
          .kind = pair.earlier_writes && pair.later_writes ? FindingKind::write_write_race
                                                           : FindingKind::write_read_race,
          .rank = lane.rank,
          .lane = lane.id,
          .step = pair.later.index,
          .chunk = chunks.chunk(pair.chunk),
          .expected = fmt::format("a wait or messages that order it and {}",
                                  program.describe(pair.earlier)),
          .found = fmt::format(
              "it {} the chunk, and {} {} it, in no order", pair.later_writes ? "writes" : "reads",
              program.describe(pair.earlier), pair.earlier_writes ? "writes" : "reads")};
    });
  }
}

}  // namespace vranks
