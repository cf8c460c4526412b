// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend.hpp"

#include <array>

#include "kernels/cpu/cpu_backend.hpp"
#include "ranks/error.hpp"
#if VRANKS_HAVE_CUDA
#include "kernels/cuda/cuda_backend.hpp"
#endif

namespace vranks {

std::span<const Backend* const> backends() {
  static const std::array all {
    &cpu_backend(),
#if VRANKS_HAVE_CUDA
        &cuda_backend(),
#endif
  };
  return all;
}

const Backend& backend_for(Device device) {
  for (const Backend* backend : backends()) {
    if (backend->kind() != device.kind) continue;
    const int count = backend->device_count();
    if (count == 0)
      throw Error(ErrorKind::not_available,
                  "device " + to_string(device) + " can't be used: " + backend->missing());
    if (device.index < 0 || device.index >= count)
      throw Error(ErrorKind::not_available, "there is no device " + to_string(device) +
                                                "; this machine has " + std::to_string(count) +
                                                " of that kind, counted from 0");
    return *backend;
  }
  throw Error(ErrorKind::not_available,
              "device " + to_string(device) +
                  " can't be used: this build has no CUDA; install the CUDA Toolkit 12 or newer "
                  "and build again");
}

DeviceBuffer::DeviceBuffer(std::size_t bytes, Device device) : device_(device) {
  const Backend& backend = backend_for(device);
  data_ = {backend.allocate(bytes, device.index),
           [&backend, device](void* memory) { backend.release(memory, device.index); }};
}

void DeviceBuffer::copy_from_host(const void* from, std::size_t bytes) const {
  backend_for(device_).copy_from_host(data_.get(), from, bytes, device_.index);
}

void DeviceBuffer::copy_to_host(void* to, std::size_t bytes) const {
  backend_for(device_).copy_to_host(to, data_.get(), bytes, device_.index);
}

}  // namespace vranks
