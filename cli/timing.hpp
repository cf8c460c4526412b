// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a call takes.
#pragma once

#include <functional>
#include <vector>

#include "kernels/backend.hpp"

namespace vranks::cli {

// Seconds of each of several calls, sorted: at least three, and as many as half a second holds.
std::vector<double> time_calls(const Backend& backend, int device,
                               const std::function<void()>& call);

}  // namespace vranks::cli
