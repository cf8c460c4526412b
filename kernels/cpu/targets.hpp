// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The instruction sets that the CPU kernels are compiled for: the build's baseline, AVX2 and
// AVX-512 on x86-64, NEON on Arm. Sets in between double the build time and gain nothing at memory
// speed. The two entry points stand here for the dispatcher.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

#include "kernels/cpu/tree_fold.hpp"

namespace vranks::cpu {

void run_float_task(const TileTask& task);
void run_integer_task(const TileTask& task);

}  // namespace vranks::cpu
