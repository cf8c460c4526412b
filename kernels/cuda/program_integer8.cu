// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(IntegerHop<std::int8_t, std::int8_t>)
VR_LAUNCH_PROGRAM(IntegerHop<std::int8_t, ExactSum<std::int8_t>>)
VR_LAUNCH_PROGRAM(IntegerHop<std::uint8_t, std::uint8_t>)
VR_LAUNCH_PROGRAM(IntegerHop<std::uint8_t, ExactSum<std::uint8_t>>)

}  // namespace vranks::cuda
