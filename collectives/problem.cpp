// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/problem.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "ranks/names.hpp"

namespace vranks {

namespace {
constexpr CollectiveInfo table[] = {
#define X(name, aliases, meaning) {Collective::name, #name, aliases, meaning},
    VR_COLLECTIVES(X)
#undef X
};

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
}  // namespace

bool Problem::operator==(const Problem& other) const {
  // All fields by name: with one more this no longer compiles.
  const auto others = [](const Problem& problem) {
    const auto& [collective_, ranks_, elements_, dtype_, op_, nan_, root_, counts_, send_, receive_,
                 sources_, factor_, weights_] = problem;
    return std::tie(collective_, ranks_, elements_, dtype_, op_, nan_, root_, counts_, send_,
                    receive_, sources_);
  };
  return others(*this) == others(other) && bits_of(factor) == bits_of(other.factor) &&
         std::ranges::equal(weights, other.weights, {}, bits_of, bits_of);
}

std::span<const CollectiveInfo> collectives() { return table; }
std::string_view name(Collective collective) {
  return table[static_cast<std::size_t>(collective)].name;
}
Collective parse_collective(std::string_view text) {
  return find_by_name(collectives(), text, "collective").collective;
}

}  // namespace vranks
