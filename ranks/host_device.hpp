// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// VR_HOST_DEVICE marks a function that runs on the CPU and, when nvcc compiles it, on the GPU too.
#pragma once

#ifdef __CUDACC__
#define VR_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define VR_HOST_DEVICE inline
#endif
