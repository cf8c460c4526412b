// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/hops_kernel.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_HOPS(IntegerHop<std::int8_t, std::int8_t>)
VR_LAUNCH_HOPS(IntegerHop<std::int8_t, ExactSum<std::int8_t>>)
VR_LAUNCH_HOPS(IntegerHop<std::uint8_t, std::uint8_t>)
VR_LAUNCH_HOPS(IntegerHop<std::uint8_t, ExactSum<std::uint8_t>>)
VR_LAUNCH_HOPS(IntegerHop<std::int16_t, std::int16_t>)
VR_LAUNCH_HOPS(IntegerHop<std::int16_t, ExactSum<std::int16_t>>)
VR_LAUNCH_HOPS(IntegerHop<std::uint16_t, std::uint16_t>)
VR_LAUNCH_HOPS(IntegerHop<std::uint16_t, ExactSum<std::uint16_t>>)
VR_LAUNCH_HOPS(IntegerHop<std::int32_t, std::int32_t>)
VR_LAUNCH_HOPS(IntegerHop<std::int32_t, ExactSum<std::int32_t>>)
VR_LAUNCH_HOPS(IntegerHop<std::uint32_t, std::uint32_t>)
VR_LAUNCH_HOPS(IntegerHop<std::uint32_t, ExactSum<std::uint32_t>>)
VR_LAUNCH_HOPS(IntegerHop<std::int64_t, std::int64_t>)
VR_LAUNCH_HOPS(IntegerHop<std::int64_t, ExactSum<std::int64_t>>)
VR_LAUNCH_HOPS(IntegerHop<std::uint64_t, std::uint64_t>)
VR_LAUNCH_HOPS(IntegerHop<std::uint64_t, ExactSum<std::uint64_t>>)

}  // namespace vranks::cuda
