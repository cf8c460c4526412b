// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/nccl/partition.hpp"

#include <algorithm>

namespace vranks::nccl {

namespace {

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }
std::int64_t round_up(std::int64_t a, std::int64_t unit) { return quotient_up(a, unit) * unit; }

bool has_blocks(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::all_gather;
}

// Bytes that a rank moves for each byte of the cut.
std::int64_t traffic_per_byte(const Cut& cut) {
  if (has_blocks(cut.collective)) return cut.ranks;
  return cut.collective == Collective::all_reduce ? 2 : 1;
}

std::int64_t least_channel_bytes(const Constants& constants, const Cut& cut) {
  switch (cut.protocol) {
    case Protocol::simple:
      return constants.simple_channel_bytes;
    case Protocol::ll:
      return cut.tree ? constants.ll_tree_channel_bytes
                      : constants.ll_ring_channel_bytes * cut.ranks;
    case Protocol::ll128:
      return constants.ll128_channel_bytes;
  }
  __builtin_unreachable();
}

// Channels among which the traffic is divided.
std::int64_t used_channels(const Constants& constants, const Cut& cut, std::int64_t bytes) {
  const std::int64_t all_bytes = has_blocks(cut.collective) ? cut.ranks * bytes : bytes;
  std::int64_t channels = cut.channels;
  while (channels >= 2 && all_bytes < channels * least_channel_bytes(constants, cut)) --channels;
  return channels;
}

}  // namespace

std::vector<std::int64_t> part_lengths(const Constants& constants, const Cut& cut) {
  std::vector<std::int64_t> parts(static_cast<std::size_t>(cut.channels), 0);
  if (cut.elements == 0) return parts;
  const std::int64_t unit = constants.traffic_unit_bytes;
  const std::int64_t bytes = cut.elements * cut.element_bytes;
  // NCCL weighs a byte of LL as four.
  const std::int64_t traffic = traffic_per_byte(cut) * (cut.protocol == Protocol::ll ? 4 : 1);
  const std::int64_t cell = round_up(quotient_up(unit, traffic), 16);
  const std::int64_t cell_elements = cell / cut.element_bytes;
  const std::int64_t cells = quotient_up(bytes, cell);
  const std::int64_t per_channel =
      round_up(std::max(unit, bytes * traffic) / used_channels(constants, cut, bytes), 16);

  // All in cells: the first channel gets `low`, the next `middles` get `middle`, the last `high`.
  std::int64_t middle = std::min(cells, quotient_up(per_channel, cell * traffic));
  const std::int64_t low = cut.channels == 1 ? cells : middle;
  std::int64_t middles = (cells - low) / middle;
  std::int64_t high = (cells - low) % middle;
  if (cut.channels < 1 + middles + (high > 0)) {
    middles = cut.channels - 2;
    middle = (cells - low) / (middles + 1);
    high = middle + (cells - low) % (middles + 1);
  }
  if (high == 0 && middles > 0) {
    high = middle;
    --middles;
  }
  auto part = parts.begin();
  *part++ = low * cell_elements;
  part = std::fill_n(part, middles, middle * cell_elements);
  if (high > 0) *part++ = high * cell_elements;
  // Only the last part ends with a piece of a cell.
  *std::prev(part) -= cells * cell_elements - cut.elements;
  return parts;
}

void add_windows(const Constants& constants, Protocol protocol, std::int64_t element_bytes,
                 std::int64_t begin, std::int64_t elements,
                 std::span<std::vector<Interval>> chunks) {
  const auto ranks = static_cast<std::int64_t>(chunks.size());
  const std::int64_t most =
      constants.chunk_bytes[static_cast<std::size_t>(protocol)] / element_bytes;
  const std::int64_t end = begin + elements;
  for (std::int64_t window = begin; window < end; window += ranks * most) {
    const std::int64_t rest = end - window;
    // The last window is cut evenly, into whole words of 16 bytes.
    const std::int64_t length =
        rest / ranks >= most ? most : round_up(quotient_up(rest, ranks), 16 / element_bytes);
    for (std::int64_t c = 0; c < ranks; ++c) {
      const std::int64_t first = window + std::min(c * length, rest);
      const std::int64_t last = window + std::min((c + 1) * length, rest);
      if (first < last) chunks[static_cast<std::size_t>(c)].push_back({first, last, first});
    }
  }
}

}  // namespace vranks::nccl
