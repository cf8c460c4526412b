// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How `vranks check` shows what it compared: a line an op and dtype for people, a record a
// comparison for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "cli/peer_check.hpp"
#include "ranks/shape.hpp"

namespace vranks::cli {

// What a comparison runs on.
enum class Data : std::uint8_t { whole, random, file };
std::string_view name(Data data);

struct Comparison {
  PeerCase what;
  Data data;
  PeerFinding found;
};

// What all comparisons of a run share.
struct CheckRun {
  std::string library;
  int processes = 1;
  Shape shape;
  std::uint64_t seed = 0;
  std::string input;  // the file, if the data is one
};

// Prints `all`, of which there is one at least.
void print_check(const CheckRun& run, const std::vector<Comparison>& all, Format format);

}  // namespace vranks::cli
