// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One comparison of `vranks check --against nccl`: the same data through real NCCL ranks and
// through ours, on one device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/nccl_check_options.hpp"
#include "collectives/collectives.hpp"
#include "collectives/exact.hpp"
#include "collectives/peers/bit_differences.hpp"
#include "collectives/peers/nccl_log.hpp"
#include "collectives/peers/nccl_ranks.hpp"

namespace vranks::cli {

struct NcclCase {
  Collective collective = Collective::all_reduce;
  ReduceOp op = ReduceOp::sum;  // unless the collective only copies
  DType dtype = DType::f32;
  std::int64_t ranks = 2;
  std::int64_t elements = 0;  // NCCL's count
  std::int64_t root = 0;
  NcclData data = NcclData::random;

  // "all_reduce mean of f32, 4 ranks with 1000 elements, random"
  std::string text() const;
};

struct NcclComparison {
  NcclCase what;
  Provenance ours;
  std::optional<NcclChoice> theirs;  // what NCCL logged that it ran
  BitDifferences bits;
  // Where a bound is kept to: how far both are apart; `rule` is the bound, "equal" for bits.
  Deviation deviation;
  std::string rule = "equal";
  // Elements that the order of `direct`, with the same rounding, gives other bits; -1: not known,
  // or nothing is combined. Where it is 0, equal bits say nothing about the order.
  std::int64_t told_apart = -1;
  std::string mismatch;  // how what NCCL ran isn't what it was told to; else empty
  std::string first;     // difference in bits or the worst element, in words; else empty
  bool is_agreement = false;
};

// NCCL's ranks, and what is known of them.
struct NcclSide {
  NcclRunner& ranks;
  std::function<std::string()> new_log;  // what all ranks have logged since the last call
  NcclLists lists;                       // of the communicators; empty where none is pinned
  std::string version;                   // whose rules our side follows: "2.30.7"
};

// Throws NcclError if NCCL fails or hangs, otherwise what our side throws.
NcclComparison compare_with_nccl(const NcclCase& what, const NcclCheckOptions& options,
                                 const NcclSide& side, Device device);

}  // namespace vranks::cli
