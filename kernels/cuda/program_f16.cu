// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(FloatHop<Half, Half, false>)
VR_LAUNCH_PROGRAM(FloatHop<Half, float, false>)
VR_LAUNCH_PROGRAM(MinMaxHop<Half>)

}  // namespace vranks::cuda
