// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor of the host where a device can use it.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/backend.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

// A tensor's copy on a device; on the CPU the tensor itself, which must outlive this.
class DeviceCopy {
 public:
  DeviceCopy(const TensorView& host, Device device) : host_(host), view_(host) {
    view_.device = device;
    if (device.kind == DeviceKind::cpu) return;
    buffer_.emplace(bytes(), device);
    view_.data = buffer_->data();
  }

  const TensorView& view() const { return view_; }
  void send() const {
    if (buffer_) buffer_->copy_from_host(host_.data, bytes());
  }
  void fetch() const {
    if (buffer_) buffer_->copy_to_host(host_.data, bytes());
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(host_.bytes()); }

  TensorView host_, view_;
  std::optional<DeviceBuffer> buffer_;
};

}  // namespace vranks::cli
