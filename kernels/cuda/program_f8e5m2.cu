// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(FloatHop<Float8E5M2, Float8E5M2, false>)
VR_LAUNCH_PROGRAM(FloatHop<Float8E5M2, Float8E5M2, true>)
VR_LAUNCH_PROGRAM(FloatHop<Float8E5M2, float, false>)
VR_LAUNCH_PROGRAM(FloatHop<Float8E5M2, float, true>)
VR_LAUNCH_PROGRAM(FloatHop<Float8E5M2, double, false>)
VR_LAUNCH_PROGRAM(FloatHop<Float8E5M2, double, true>)
VR_LAUNCH_PROGRAM(WeightedHop<Float8E5M2, Float8E5M2>)
VR_LAUNCH_PROGRAM(WeightedHop<Float8E5M2, float>)
VR_LAUNCH_PROGRAM(WeightedHop<Float8E5M2, double>)
VR_LAUNCH_PROGRAM(MinMaxHop<Float8E5M2>)
VR_LAUNCH_PROGRAM(LogSumExpHop<Float8E5M2>)

}  // namespace vranks::cuda
