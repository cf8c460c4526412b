// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose blocks come to the multiprocessors while the last ones of the kernel in front still
// run (CUDA Programming Guide, programmatic dependent launch; from compute capability 9.0 on).
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/backend.hpp"
#include "kernels/cuda/cuda_error.hpp"
#include "kernels/cuda/plan.hpp"

namespace vranks::cuda {

// What such a kernel does before it touches memory: waits until the kernel in front has ended and
// its results are there. From then on the next kernel's blocks may come.
__device__ __forceinline__ void await_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Whether every device here can do it.
inline bool launches_overlap() {
  static const bool overlap = [] {
    int devices = 0;
    check_cuda(cudaGetDeviceCount(&devices), "counting devices");
    for (int device = 0; device < devices; ++device) {
      int major = 0;
      check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                 "asking for a device's compute capability");
      if (major < 9) return false;
    }
    return true;
  }();
  return overlap;
}

// Launches blocks of block_threads threads of a kernel in which every thread that touches memory
// calls await_previous_kernel() before.
template <class... Parameters, class... Arguments>
void launch_overlapping(const char* what, void (*kernel)(Parameters...), std::int64_t blocks,
                        Stream stream, Arguments&&... arguments) {
  check_grid(blocks);
  cudaLaunchAttribute overlaps{};
  overlaps.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlaps.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = block_threads;
  config.stream = stream;
  config.attrs = &overlaps;
  config.numAttrs = launches_overlap() ? 1 : 0;
  check_cuda(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), what);
}

}  // namespace vranks::cuda
