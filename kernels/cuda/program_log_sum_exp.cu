// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(LogSumExpHop<double>)
VR_LAUNCH_PROGRAM(LogSumExpHop<float>)
VR_LAUNCH_PROGRAM(LogSumExpHop<Half>)
VR_LAUNCH_PROGRAM(LogSumExpHop<BFloat16>)

}  // namespace vranks::cuda
