// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/device.hpp"

#include <charconv>

#include "ranks/error.hpp"

namespace vranks {

std::string to_string(Device device) {
  return device.kind == DeviceKind::cpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

Device parse_device(std::string_view text) {
  if (text == "cpu") return {};
  if (text == "cuda") return {DeviceKind::cuda, 0};
  // from_chars would take "-0".
  if (text.starts_with("cuda:") && !text.starts_with("cuda:-")) {
    int index = -1;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + 5, end, index);
    if (parsed.ec == std::errc{} && parsed.ptr == end) return {DeviceKind::cuda, index};
  }
  throw Error(ErrorKind::bad_argument,
              "there is no device '" + std::string(text) + "'; write cpu, cuda or cuda:N");
}

}  // namespace vranks
