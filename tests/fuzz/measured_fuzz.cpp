// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a table of published timings: rows within their limits, each of which matches
// something complete or says why not, or bad_input, nothing else.
// Built with clang -fsanitize=fuzzer, or with replay.cpp as its main().
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ranks/error.hpp"
#include "simulator/measured.hpp"
#include "simulator/measured_match.hpp"

namespace {

using namespace vranks;

void require(bool condition) {
  if (!condition) std::abort();
}

const std::vector<std::string> topologies{"a6000", "fugaku", "leonardo", "mi300x", "nvswitch_a100"};

void use(const MeasuredRow& row) {
  require(row.line > 1 && row.ranks >= 1 && row.nodes >= 0 && row.bytes >= 0);
  require(!row.seconds || *row.seconds > 0);
  const Match found = match(row, topologies);
  require(found.reason.empty() == !found.candidates.empty());
  for (const Candidate& candidate : found.candidates) {
    require(supports(*candidate.algorithm, found.problem.collective));
    require(candidate.instances >= 1 && candidate.channels >= 0);
  }
  if (found.reason.empty()) require(found.problem.elements >= 0 && !found.topology.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const MeasuredRow& row : parse_measured(text, "fuzz.csv")) use(row);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::bad_input);
  }
  return 0;
}
