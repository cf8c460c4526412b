// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/memory_limit.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace vranks::cli {

namespace {

// "VmData:   292 kB" in one of Linux's files about memory; nothing if it isn't there.
std::optional<rlim_t> read_bytes(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word)
    if (rlim_t kilobytes = 0; word == key + ":" && file >> kilobytes) return kilobytes * 1024;
  return {};
}

// The one number of a file; nothing if it holds a word, such as "max".
std::optional<rlim_t> read_number(const char* path) {
  std::ifstream file(path);
  rlim_t number = 0;
  if (!(file >> number)) return {};
  return number;
}

}  // namespace

void limit_memory() {
  std::optional<rlim_t> free = read_bytes("/proc/meminfo", "MemAvailable");
  const std::optional<rlim_t> used = read_bytes("/proc/self/status", "VmData");
  if (!free || !used) return;
  // A container may have less.
  const auto most = read_number("/sys/fs/cgroup/memory.max");
  const auto taken = read_number("/sys/fs/cgroup/memory.current");
  if (most && taken) free = std::min(*free, *most - std::min(*most, *taken));
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, *used + *free);
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace vranks::cli
