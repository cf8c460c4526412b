// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(IntegerHop<std::int16_t, std::int16_t>)
VR_LAUNCH_PROGRAM(IntegerHop<std::int16_t, ExactSum<std::int16_t>>)
VR_LAUNCH_PROGRAM(IntegerHop<std::uint16_t, std::uint16_t>)
VR_LAUNCH_PROGRAM(IntegerHop<std::uint16_t, ExactSum<std::uint16_t>>)

}  // namespace vranks::cuda
