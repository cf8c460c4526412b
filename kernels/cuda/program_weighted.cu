// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(WeightedHop<double, double>)
VR_LAUNCH_PROGRAM(WeightedHop<float, float>)
VR_LAUNCH_PROGRAM(WeightedHop<float, double>)
VR_LAUNCH_PROGRAM(WeightedHop<Half, Half>)
VR_LAUNCH_PROGRAM(WeightedHop<Half, float>)
VR_LAUNCH_PROGRAM(WeightedHop<Half, double>)
VR_LAUNCH_PROGRAM(WeightedHop<BFloat16, BFloat16>)
VR_LAUNCH_PROGRAM(WeightedHop<BFloat16, float>)
VR_LAUNCH_PROGRAM(WeightedHop<BFloat16, double>)

}  // namespace vranks::cuda
