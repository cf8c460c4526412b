// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(FloatHop<Float8E4M3, Float8E4M3, false>)
VR_LAUNCH_PROGRAM(FloatHop<Float8E4M3, Float8E4M3, true>)
VR_LAUNCH_PROGRAM(FloatHop<Float8E4M3, float, false>)
VR_LAUNCH_PROGRAM(FloatHop<Float8E4M3, float, true>)
VR_LAUNCH_PROGRAM(FloatHop<Float8E4M3, double, false>)
VR_LAUNCH_PROGRAM(FloatHop<Float8E4M3, double, true>)
VR_LAUNCH_PROGRAM(WeightedHop<Float8E4M3, Float8E4M3>)
VR_LAUNCH_PROGRAM(WeightedHop<Float8E4M3, float>)
VR_LAUNCH_PROGRAM(WeightedHop<Float8E4M3, double>)
VR_LAUNCH_PROGRAM(MinMaxHop<Float8E4M3>)
VR_LAUNCH_PROGRAM(LogSumExpHop<Float8E4M3>)

}  // namespace vranks::cuda
