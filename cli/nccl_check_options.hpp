// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What `vranks check --against nccl` is asked to compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "collectives/parameters.hpp"
#include "collectives/problem.hpp"
#include "ranks/device.hpp"

namespace vranks::cli {

// What a comparison with NCCL runs on.
enum class NcclData : std::uint8_t { random, special };
std::string_view name(NcclData data);

struct NcclCheckOptions {
  Collective collective = Collective::all_reduce;
  std::vector<ReduceOp> ops;        // empty: all that NCCL has
  std::vector<DType> dtypes;        // empty: all that NCCL has
  std::vector<NcclData> data;       // empty: all that can be compared
  std::vector<std::int64_t> ranks;  // empty: not said
  std::vector<std::int64_t> elements = {1, 1000, 65553, 1048579};  // NCCL's count
  std::int64_t root = 0;
  std::uint64_t seed = 0;
  std::string algorithm;             // "nccl_ring", "nccl_tree"; empty: NCCL chooses
  std::optional<Protocol> protocol;  // nothing: NCCL chooses
  std::int32_t channels = 2;
  std::optional<Device> device;
  std::string library = "libnccl.so.2";
  std::string nccl_version;  // whose rules are compared; empty: the library's
  int timeout = 60;          // seconds
  Format format = Format::table;

  // Whether bits are demanded; otherwise `direct` is compared within a bound.
  bool is_pinned() const { return !algorithm.empty(); }
  // NCCL's name of the algorithm: "ring".
  std::string nccl_algorithm() const { return is_pinned() ? algorithm.substr(5) : ""; }
};

// More ranks than that don't fit into the lines in which NCCL logs its rings.
inline constexpr std::int64_t most_nccl_ranks = 32;

// Returns false if help was asked for, which has been printed. Throws Error.
bool read_nccl_check_options(NcclCheckOptions& options, const std::vector<std::string>& arguments);

}  // namespace vranks::cli
