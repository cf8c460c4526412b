// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(IntegerHop<std::int64_t, std::int64_t>)
VR_LAUNCH_PROGRAM(IntegerHop<std::int64_t, ExactSum<std::int64_t>>)
VR_LAUNCH_PROGRAM(IntegerHop<std::uint64_t, std::uint64_t>)
VR_LAUNCH_PROGRAM(IntegerHop<std::uint64_t, ExactSum<std::uint64_t>>)

}  // namespace vranks::cuda
