// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(IntegerHop<std::int32_t, std::int32_t>)
VR_LAUNCH_PROGRAM(IntegerHop<std::int32_t, ExactSum<std::int32_t>>)
VR_LAUNCH_PROGRAM(IntegerHop<std::uint32_t, std::uint32_t>)
VR_LAUNCH_PROGRAM(IntegerHop<std::uint32_t, ExactSum<std::uint32_t>>)

}  // namespace vranks::cuda
