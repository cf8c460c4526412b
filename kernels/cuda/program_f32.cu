// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(FloatHop<float, float, false>)
VR_LAUNCH_PROGRAM(FloatHop<float, float, true>)
VR_LAUNCH_PROGRAM(FloatHop<float, double, false>)
VR_LAUNCH_PROGRAM(FloatHop<float, double, true>)
VR_LAUNCH_PROGRAM(MinMaxHop<float>)

}  // namespace vranks::cuda
