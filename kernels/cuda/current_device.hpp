// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/cuda_error.hpp"

namespace vranks::cuda {

// Makes `device` current for a scope, and whatever was current before afterwards.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    check_cuda(cudaGetDevice(&before_), "asking for the current device");
    if (device != before_) check_cuda(cudaSetDevice(device), "choosing a device");
    changed_ = device != before_;
  }
  ~CurrentDevice() {
    if (changed_) cudaSetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace vranks::cuda
