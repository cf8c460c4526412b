// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/timing.hpp"

#include <algorithm>

#include "cli/progress.hpp"

namespace vranks::cli {

std::vector<double> time_calls(const Backend& backend, int device,
                               const std::function<void()>& call) {
  ProgressLine progress("timing");
  std::vector<double> seconds = backend.time(3, device, call);
  const double once = std::max(*std::ranges::min_element(seconds), 1e-7);
  // As many as half a second holds, if that is more.
  const int repeats = static_cast<int>(std::clamp(0.5 / once, 3.0, 1000.0));
  if (repeats > 3) seconds = backend.time(repeats, device, call);
  std::ranges::sort(seconds);
  return seconds;
}

}  // namespace vranks::cli
