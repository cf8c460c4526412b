// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(RankHop<std::uint8_t>)
VR_LAUNCH_PROGRAM(RankHop<std::uint16_t>)
VR_LAUNCH_PROGRAM(RankHop<std::uint32_t>)
VR_LAUNCH_PROGRAM(RankHop<std::uint64_t>)
VR_LAUNCH_PROGRAM(ComplexProductHop<float>)
VR_LAUNCH_PROGRAM(ComplexProductHop<double>)

}  // namespace vranks::cuda
