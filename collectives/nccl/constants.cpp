// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/nccl/constants.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "ranks/error.hpp"

namespace vranks::nccl {

namespace {

constexpr Constants release_table[] = {
    {.release = "2.23", .last_patch = any_patch, .traffic_unit_bytes = 16384},
    {.release = "2.24", .last_patch = any_patch, .traffic_unit_bytes = 16384},
    {.release = "2.25", .last_patch = any_patch, .traffic_unit_bytes = 16384},
    {.release = "2.26", .last_patch = any_patch, .traffic_unit_bytes = 16384},
    {.release = "2.27", .last_patch = any_patch, .traffic_unit_bytes = 16384},
    {.release = "2.28", .last_patch = any_patch, .traffic_unit_bytes = 16384},
    {.release = "2.29", .last_patch = any_patch, .traffic_unit_bytes = 32768},
    {.release = "2.30", .last_patch = 7, .traffic_unit_bytes = 32768},
};

// Whether `version` is the row's release, or a known patch of it.
bool covers(const Constants& row, std::string_view version) {
  if (!version.starts_with(row.release)) return false;
  version.remove_prefix(row.release.size());
  if (version.empty()) return true;
  if (version.front() != '.') return false;
  version.remove_prefix(1);
  std::uint16_t patch = 0;
  const auto [end, error] = std::from_chars(version.begin(), version.end(), patch);
  return error == std::errc{} && end == version.end() &&
         (row.last_patch == any_patch || patch <= row.last_patch);
}

}  // namespace

std::span<const Constants> known_releases() { return release_table; }

const Constants& constants_of(std::string_view version) {
  std::string known;
  for (const Constants& row : release_table) {
    if (covers(row, version)) return row;
    if (!known.empty()) known += ", ";
    known += row.release;
    if (row.last_patch != any_patch)
      known += fmt::format(" up to {}.{}", row.release, row.last_patch);
  }
  throw Error(
      ErrorKind::not_supported,
      fmt::format("how NCCL '{}' cuts a vector isn't known; known are: {}", version, known));
}

}  // namespace vranks::nccl
