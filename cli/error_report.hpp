// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How `vranks run` says how far a result is from the exact one.
#pragma once

#include "cli/outcome.hpp"
#include "cli/report.hpp"

namespace vranks::cli {

void report_error(Report& report, const Outcome& outcome);

}  // namespace vranks::cli
