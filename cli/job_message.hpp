// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What processes tell each other when they meet, and what a user reads where they differ.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/job.hpp"

namespace vranks::cli {

// Words as one text, each behind its length and a colon, so that they may hold anything.
std::string pack(std::span<const std::string> words);

// How the packed `texts`, one a process, differ from process 0's: "process 3 has '--op sum' where
// process 0 has '--op mean'; ..."; empty if they don't.
std::string differences(const std::vector<std::string>& texts);

// The error for `problems`, one a process, each behind the digit of its kind; empty where there is
// none.
JobError error_of(const std::vector<std::string>& problems);

}  // namespace vranks::cli
