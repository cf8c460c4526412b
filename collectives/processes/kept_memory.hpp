// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory that calls leave to the next one: a fresh page costs more than what is copied to it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>

#include "kernels/backend.hpp"

namespace vranks {

class KeptMemory {
 public:
  // At least `bytes` bytes on that device, the same ones for the same name while they suffice.
  // Throws not_available if they can't be had.
  std::byte* of(int name, std::size_t bytes, Device device) {
    Block& block = blocks_[{name, device.kind, device.index}];
    if (block.bytes < bytes) {
      block = {};  // if the next line throws, there is nothing
      block.buffer = std::make_unique<DeviceBuffer>(bytes, device);
      block.bytes = bytes;
    }
    return block.buffer ? static_cast<std::byte*>(block.buffer->data()) : nullptr;
  }

 private:
  struct Block {
    std::unique_ptr<DeviceBuffer> buffer;
    std::size_t bytes = 0;
  };
  std::map<std::tuple<int, DeviceKind, int>, Block> blocks_;
};

}  // namespace vranks
