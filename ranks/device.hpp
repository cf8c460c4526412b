// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Where elements live: `cpu`, or `cuda:N`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vranks {

enum class DeviceKind : std::uint8_t { cpu, cuda };

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;

  bool operator==(const Device&) const = default;
};

std::string to_string(Device device);

// "cpu", "cuda" (device 0) or "cuda:N". Throws bad_argument otherwise. Says nothing about whether
// this machine has such a device.
Device parse_device(std::string_view text);

}  // namespace vranks
