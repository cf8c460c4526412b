// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How `vranks run` says what it found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/options.hpp"
#include "cli/outcome.hpp"

namespace vranks::cli {

// What was asked for. Names of files are empty where there are none.
struct RunRequest {
  std::string_view algorithm;
  std::string_view input;
  std::uint64_t seed = 0;
  std::string_view in_place;
  std::string_view output;
  std::string_view output_ranks;
  std::string_view steps;
  int processes = 0;    // that shared the ranks; 0: one, without any engine
  std::string library;  // that passed their messages
  const CollectiveOptions& call;
};

// `result` and `ranks`: the output as it is saved (see packed()).
void print_run(const Outcome& outcome, const Tensor& result, const Tensor& ranks,
               const RunRequest& request, Format format);

}  // namespace vranks::cli
