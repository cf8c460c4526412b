// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks check --against nccl`: the same collectives here and by real NCCL ranks on one device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace vranks::cli {

// Whether the arguments of `vranks check` ask for NCCL: it takes options of its own.
bool is_nccl_check(const std::vector<std::string>& arguments);

std::unique_ptr<Command> make_nccl_check();

}  // namespace vranks::cli
