// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(FloatHop<Half, double, false>)
VR_LAUNCH_PROGRAM(FloatHop<Half, Half, true>)
VR_LAUNCH_PROGRAM(FloatHop<Half, float, true>)
VR_LAUNCH_PROGRAM(FloatHop<Half, double, true>)

}  // namespace vranks::cuda
