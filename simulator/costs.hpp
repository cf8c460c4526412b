// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What a message and the work on it cost beside the links it passes: the numbers of a machine's
// software. A topology file gives them, `vranks simulate --set name=value` changes them, and
// scripts/fit_machine fits them to measured times; all three know them by the rows below.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vranks {

// What a number counts. Files write it with a unit ("1.5 us", "12 GB/s", "512 KiB", "0.7", "8");
// here it is in seconds, bytes a second, bytes, or plain.
enum class Quantity : std::uint8_t { time, bandwidth, bytes, ratio, count };

// name, quantity, value where a file says nothing (0 of a bandwidth or limit: there is none), what
// it is
#define VR_COSTS(X)                                                                               \
  X(launch, time, 0, "once a call, before any rank starts")                                       \
  X(floor, time, 0,                                                                               \
    "of the host, to start one rank of a node after the other: no call takes less")               \
  X(message_latency, time, 0, "delay of a message, on top of that of its links")                  \
  X(message_overhead, time, 0, "of a rank's core, for each message that it sends")                \
  X(eager_limit, bytes, 0, "messages up to it need no rendezvous")                                \
  X(eager_bandwidth, bandwidth, 0, "at which those are copied instead of passing the links")      \
  X(rendezvous, time, 0, "before the first byte of a longer message")                             \
  X(exchange_limit, bytes, 0, "longer messages share bandwidth with one that comes back")         \
  X(channels, count, 0, "of NCCL's communicator, where the call doesn't say")                     \
  X(lane_bandwidth, bandwidth, 0, "most that one lane (a thread block) sends")                    \
  X(link_efficiency, ratio, 1, "share of a link's bandwidth that is left for data")               \
  X(tile_bytes, bytes, 0, "of a chunk, for which lanes do all of their program before the next")  \
  X(piece_bytes, bytes, 0, "a tile moves in pieces of that size")                                 \
  X(slots, count, 0, "most pieces under way from one rank to another on one channel")             \
  X(reduce_bandwidth, bandwidth, 0, "results that a rank's core combines")                        \
  X(copy_bandwidth, bandwidth, 0, "copies inside a rank")                                         \
  X(cache_bytes, bytes, 0, "vectors that fit are combined and copied at no cost")                 \
  X(input_copy_bandwidth, bandwidth, 0, "of the input into the output, where a reduction starts") \
  X(alloc_bandwidth, bandwidth, 0, "of the first touch of temporary memory")                      \
  X(alloc_limit, bytes, 0, "temporary memory up to it is there already")

struct MessageCosts {
#define X(name, quantity, value, meaning) double name = value;
  VR_COSTS(X)
#undef X

  bool operator==(const MessageCosts&) const = default;
};

struct CostInfo {
  std::string_view name;
  Quantity quantity;
  double value;  // by default
  std::string_view meaning;
  double MessageCosts::*member;
};

// Every row, in the order of the table.
std::span<const CostInfo> cost_infos();
// "launch floor ...".
std::string cost_names();
// The row called `name`. Throws bad_argument with what there is.
const CostInfo& find_cost(std::string_view name);
// The value of a cost that `text` is, as parse_quantity(); ratios are above 0 and at most 1.
double parse_cost(const CostInfo& cost, std::string_view text, std::string_view what);

}  // namespace vranks
