// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "ranks/error.hpp"

namespace vranks::cuda {

// Throws device with CUDA's own text if `status` is a failure, and clears the error, so that a
// caller who catches it can go on.
inline void check_cuda(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw Error(ErrorKind::device, std::string("CUDA failed while ") + doing + ": " +
                                     cudaGetErrorName(status) + ", " + cudaGetErrorString(status));
}

// A grid's x dimension ends at 2^31 - 1 blocks.
inline void check_grid(std::int64_t blocks) {
  if (blocks > 0x7fffffff)
    throw Error(ErrorKind::not_supported, "the fold needs " + std::to_string(blocks) +
                                              " thread blocks; CUDA allows 2^31 - 1");
}

}  // namespace vranks::cuda
