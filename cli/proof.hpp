// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What `vranks verify` does with one schedule or program, and how it says what it found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "collectives/interpreters/finding.hpp"
#include "collectives/program.hpp"

namespace vranks::cli {

struct Proof {
  std::string input = {};      // the file; empty: an algorithm's
  std::string algorithm = {};  // that was asked for; empty: a file's
  std::string runs = {};       // what that is for the size; empty: a file's
  Collective collective = Collective::all_reduce;
  std::int64_t ranks = 1;
  std::int64_t steps = 0, transfers = 0, messages = 0;  // of the schedule
  std::int64_t instructions = 0;                        // of the program
  Findings findings = {};
  std::string not_there = {};  // why there is no such schedule; empty: there is
  double seconds = 0;

  bool is_wrong() const { return !findings.none(); }
};

// Proves the schedule, then the program that it is lowered to, at that depth of channels, and that
// this gives a schedule again that does the same. Fills `proof` from `steps` to `findings`; what
// comes behind a finding is not looked at. Throws not_available if there is no memory.
void prove(const Schedule& schedule, std::int32_t depth, Proof& proof);
// Proves the program, then the schedule that it gives.
void prove(const Program& program, std::int32_t depth, Proof& proof);

void print_proofs(const std::vector<Proof>& proofs, std::int32_t depth, Format format);

}  // namespace vranks::cli
