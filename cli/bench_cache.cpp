// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_cache.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace vranks::cli {

namespace {

constexpr std::int64_t unknown_cache_bytes = std::int64_t{128} << 20;

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Linux: cpu0/cache/index3/ has the files level, size ("32768K") and shared_cpu_list ("0-7").
std::int64_t cpu_cache_bytes() {
  namespace fs = std::filesystem;
  int highest = 0;
  std::int64_t bytes = 0;
  std::set<std::string> seen;  // who shares a cache: each counts once
  std::error_code error;
  for (int cpu = 0;; ++cpu) {
    const fs::path folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache";
    if (!fs::is_directory(folder, error)) return bytes;
    for (const fs::directory_entry& index : fs::directory_iterator(folder, error)) {
      const std::string level = first_line(index.path() / "level");
      const std::string size = first_line(index.path() / "size");
      if (level.empty() || size.empty() || size.back() != 'K') continue;
      if (const int number = level[0] - '0'; number != highest) {
        if (number < highest) continue;
        highest = number;
        bytes = 0;
        seen.clear();
      }
      if (seen.insert(first_line(index.path() / "shared_cpu_list")).second)
        bytes += std::int64_t{std::strtoll(size.c_str(), nullptr, 10)} * 1024;
    }
  }
}

}  // namespace

std::int64_t cache_bytes_of(Device device) {
  if (device.kind != DeviceKind::cpu) return unknown_cache_bytes;
  const std::int64_t bytes = cpu_cache_bytes();
  return bytes > 0 ? bytes : unknown_cache_bytes;
}

CacheSweep::CacheSweep(Device device, std::int64_t cache_bytes)
    : device_(device),
      half_(beyond_cache(cache_bytes) / 2),
      buffer_(static_cast<std::size_t>(2 * half_), device) {
  // Memory that nothing was written to may be one page of zeros, many times.
  const std::vector<std::byte> piece(std::size_t{1} << 20, std::byte{1});
  auto* const data = static_cast<std::byte*>(buffer_.data());
  const auto all = static_cast<std::size_t>(2 * half_);
  for (std::size_t at = 0; at < all; at += piece.size())
    backend_for(device_).copy_from_host(data + at, piece.data(), std::min(piece.size(), all - at),
                                        device_.index);
}

void CacheSweep::operator()() const {
  auto* const data = static_cast<std::byte*>(buffer_.data());
  copy_plainly(backend_for(device_), device_, data, data + half_, half_);
}

void copy_plainly(const Backend& backend, Device device, const std::byte* from, std::byte* to,
                  std::int64_t bytes) {
  backend.copy({.from = from, .to = to, .element_bytes = bytes}, device.index, nullptr);
}

}  // namespace vranks::cli
