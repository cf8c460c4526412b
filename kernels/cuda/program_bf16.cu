// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(FloatHop<BFloat16, BFloat16, false>)
VR_LAUNCH_PROGRAM(FloatHop<BFloat16, float, false>)
VR_LAUNCH_PROGRAM(MinMaxHop<BFloat16>)

}  // namespace vranks::cuda
