// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Published timings of collectives as a table in CSV: one run a row. Columns, in any order; others
// are passed over:
//
//   collective  all_reduce, ... or an alias
//   machine     what it ran on, in words, or the name of a topology
//   nranks      ranks
//   nnodes      nodes that they are spread over evenly (may be left out or empty)
//   algo        algorithm, in the words of the source, or a name or alias of the registry
//   proto       NCCL's protocol (may be left out or empty)
//   size_bytes  of a rank's input or output, whichever is larger
//   time_us     microseconds (empty: nobody published them)
//   source      where it comes from, with what else is known, separated by "; " (may be left out)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vranks {

struct MeasuredRow {
  std::int64_t line = 0;  // of the file, from 1
  std::string collective, machine, algorithm, protocol, source;
  std::int32_t ranks = 1;
  std::int32_t nodes = 0;  // 0: not said
  std::int64_t bytes = 0;
  std::optional<double> seconds = {};
};

// The rows of `text`, which messages call `name`. Fields may be quoted ("" is a quote), lines may
// end in CR LF. Throws bad_input, naming line, column and rule.
std::vector<MeasuredRow> parse_measured(std::string_view text, std::string_view name);

// The rows of a file. Throws io if it can't be read, else as above.
std::vector<MeasuredRow> read_measured(const std::string& path);

// Sizes that are judged together: below 64 KiB, up to 64 MiB, above.
enum class SizeBand : std::uint8_t { small, mid, large };
SizeBand size_band(std::int64_t bytes);
std::string_view name(SizeBand band);

}  // namespace vranks
