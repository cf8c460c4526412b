// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How `vranks check` shows what it compared. People see a line an op and dtype, or of several
// collectives a line each; programs get a record a comparison.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "cli/peer_cases.hpp"
#include "cli/peer_check.hpp"
#include "cli/report.hpp"
#include "ranks/shape.hpp"

namespace vranks::cli {

struct Comparison {
  PeerCase what;
  Shape shape;  // of the input
  Data data;
  PeerFinding found;
};

// A collective that was not compared although all were asked for.
struct LeftOut {
  Collective collective;
  std::string reason;
};

// What all comparisons of a run share.
struct CheckRun {
  std::string library;
  int processes = 1;
  std::uint64_t seed = 0;
  std::string input;  // the file, if the data is one
  std::vector<LeftOut> left_out = {};
};

inline std::string_view verdict_of(bool is_agreement) { return is_agreement ? "PASS" : "FAIL"; }

// What programs get: a row a comparison.
Table check_records(const CheckRun& run, const std::vector<Comparison>& all);

// Prints `all`, of which there is one at least.
void print_check(const CheckRun& run, const std::vector<Comparison>& all, Format format);

}  // namespace vranks::cli
