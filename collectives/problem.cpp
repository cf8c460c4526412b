// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/problem.hpp"

#include "ranks/names.hpp"

namespace vranks {

namespace {
constexpr CollectiveInfo table[] = {
#define X(name, aliases, meaning) {Collective::name, #name, aliases, meaning},
    VR_COLLECTIVES(X)
#undef X
};
}  // namespace

std::span<const CollectiveInfo> collectives() { return table; }
std::string_view name(Collective collective) {
  return table[static_cast<std::size_t>(collective)].name;
}
Collective parse_collective(std::string_view text) {
  return find_by_name(collectives(), text, "collective").collective;
}

}  // namespace vranks
