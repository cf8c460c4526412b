// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The sizes that `vranks bench` goes through, and what nccl-tests (doc/PERFORMANCE.md there) call
// size, count and bus bandwidth of each collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/problem.hpp"

namespace vranks::cli {

// Bytes from `begin` to `end`, both included. Without a step: each twice the one before.
struct SizeRange {
  std::int64_t begin = std::int64_t{32} << 20;
  std::optional<std::int64_t> end = {};  // none: `begin` alone
  std::optional<std::int64_t> step_factor = {}, step_bytes = {};
};

// "8", "4K", "32M", "1G": bytes, K = 1024. `what` names the option. Throws bad_argument.
std::int64_t parse_size(std::string_view what, const std::string& text);

// "8:1G", or one size. Throws bad_argument.
SizeRange parse_size_range(const std::string& text);

// Throws bad_argument if the range is empty, says two steps or has too many sizes.
std::vector<std::int64_t> sizes_of(const SizeRange& range);

// One row's size as nccl-tests count it.
struct BenchSize {
  std::int64_t bytes = 0;     // of a rank's input or output, whichever is larger
  std::int64_t count = 0;     // elements in the call's argument: of a block where data has blocks
  std::int64_t elements = 0;  // of a rank's input
};

// What becomes of `bytes` in a group of that many ranks: blocks of equal lengths, rounded down to
// 16 bytes, or to an element where they are smaller. Nothing where no element is left.
std::optional<BenchSize> bench_size(Collective collective, std::int64_t ranks, std::int64_t bytes,
                                    std::int64_t element_bytes);

// Bus bandwidth is that much of bytes / time. nccl-tests have no scan and exscan: 1, for the whole
// vector passes every link of a chain.
double bus_factor(Collective collective, std::int64_t ranks);

}  // namespace vranks::cli
