// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies of strided tensors, and pointers on their way to the device.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/backend.hpp"

namespace vranks::cuda {

// Enqueues the copy on `stream`, on the current device. Throws not_supported for more dimensions
// than kernels count through.
void copy_strided(const StridedCopy& copy, Stream stream);

// Writes the pointers to device memory. They travel in kernel parameters, so that nothing is read
// from the host later, and streams can be captured.
void write_pointers(std::span<std::byte* const> pointers, std::byte** to, Stream stream);

}  // namespace vranks::cuda
