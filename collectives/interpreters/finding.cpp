// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/finding.hpp"

#include <fmt/format.h>

namespace vranks {

std::string_view name(FindingKind kind) {
  constexpr std::string_view names[] = {
#define X(name, meaning) #name,
      VR_FINDINGS(X)
#undef X
  };
  return names[static_cast<std::size_t>(kind)];
}

std::string to_string(const Finding& finding) {
  std::string where = fmt::format("rank {}", finding.rank);
  if (finding.lane >= 0) where += fmt::format(" lane {}", finding.lane);
  if (finding.step >= 0) where += fmt::format(" step {}", finding.step);
  if (finding.chunk) where += ", " + to_string(*finding.chunk);
  return fmt::format("{}: {}: expected {}; found {}", name(finding.kind), where, finding.expected,
                     finding.found);
}

}  // namespace vranks
