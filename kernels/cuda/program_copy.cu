// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program_launch.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_PROGRAM(KeepBits<std::uint8_t>)
VR_LAUNCH_PROGRAM(KeepBits<std::uint16_t>)
VR_LAUNCH_PROGRAM(KeepBits<std::uint32_t>)
VR_LAUNCH_PROGRAM(KeepBits<std::uint64_t>)
VR_LAUNCH_PROGRAM(KeepBits<Complex<float>>)
VR_LAUNCH_PROGRAM(KeepBits<Complex<double>>)

}  // namespace vranks::cuda
