// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What algorithms can be told beside the problem. Who combines what with whom may depend on all of
// it; each algorithm's row names those it reads, and the others are refused for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vranks {

// How NCCL's kernels pass data: whole buffers, words of 4 + 4 bytes, lines of 120 + 8 bytes.
enum class Protocol : std::uint8_t { simple, ll, ll128 };

struct ProtocolInfo {
  Protocol protocol;
  std::string_view name;
  std::string_view aliases;
};
std::span<const ProtocolInfo> protocols();
std::string_view name(Protocol protocol);
Protocol parse_protocol(std::string_view text);

// A rank's children of a tree, in order.
using Children = std::vector<std::int32_t>;

struct Parameters {
  Protocol protocol = Protocol::simple;
  std::int32_t channels = 1;  // of the communicator
  std::vector<std::vector<std::int32_t>> rings =
      {};                                         // one a channel, in ring order; empty: 0 1 2 ...
  std::vector<std::vector<Children>> trees = {};  // one a channel: each rank's children
  std::string nccl_version = "2.30.7";
  std::int32_t ranks_per_node = 0;             // 0: all ranks on one node
  std::int64_t segment_bytes = 0;              // 0: not segmented
  std::int32_t chunks = 0;                     // pieces of a pipeline; 0: the algorithm's
  std::int32_t fanout = 0;                     // of a chain; 0: the library's
  std::string inner = "ring", outer = "ring";  // of two_level
  std::string reduce_algorithm = {};           // of ompi_nonoverlapping; empty: by its rules
  std::vector<std::int64_t> counts = {};       // of the layout `counts`

  bool operator==(const Parameters&) const = default;
};

// name of the command line option (without dashes), what it says
struct ParameterInfo {
  std::string_view name;
  std::string_view aliases;
  std::string_view meaning;
  bool (*is_set)(const Parameters&);  // whether it differs from the default
};
std::span<const ParameterInfo> parameter_infos();

}  // namespace vranks
