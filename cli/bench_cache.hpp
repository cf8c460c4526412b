// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How much a device's last-level cache may hold, and what pushes everything out of it.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/backend.hpp"

namespace vranks::cli {

// Of the CPU what the system says, all last-level caches together; 128 MiB where it says nothing,
// and for GPUs, whose L2 is smaller (126 MB are the most at this time).
std::int64_t cache_bytes_of(Device device);

// What that many bytes of cache can't keep, although they may not replace the oldest first.
inline std::int64_t beyond_cache(std::int64_t cache_bytes) { return 4 * cache_bytes; }

// Memory that is copied to replace what the cache holds.
class CacheSweep {
 public:
  // Takes memory for beyond_cache(cache_bytes). Throws not_available.
  CacheSweep(Device device, std::int64_t cache_bytes);

  void operator()() const;  // enqueues the copy on the default stream

 private:
  Device device_;
  std::int64_t half_;
  DeviceBuffer buffer_;
};

// Copies `bytes` from `from` to `to`, on one device.
void copy_plainly(const Backend& backend, Device device, const std::byte* from, std::byte* to,
                  std::int64_t bytes);

}  // namespace vranks::cli
