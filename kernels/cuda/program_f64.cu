// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(FloatHop<double, double, false>)
VR_LAUNCH_PROGRAM(FloatHop<double, double, true>)
VR_LAUNCH_PROGRAM(MinMaxHop<double>)
VR_LAUNCH_PROGRAM(NanKeepingHop)

}  // namespace vranks::cuda
