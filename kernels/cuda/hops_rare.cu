// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/hops_kernel.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_HOPS(RankHop<std::uint8_t>)
VR_LAUNCH_HOPS(RankHop<std::uint16_t>)
VR_LAUNCH_HOPS(RankHop<std::uint32_t>)
VR_LAUNCH_HOPS(RankHop<std::uint64_t>)
VR_LAUNCH_HOPS(ComplexProductHop<float>)
VR_LAUNCH_HOPS(ComplexProductHop<double>)
VR_LAUNCH_HOPS(WeightedHop<double, double>)
VR_LAUNCH_HOPS(WeightedHop<float, float>)
VR_LAUNCH_HOPS(WeightedHop<float, double>)
VR_LAUNCH_HOPS(WeightedHop<Half, Half>)
VR_LAUNCH_HOPS(WeightedHop<Half, float>)
VR_LAUNCH_HOPS(WeightedHop<Half, double>)
VR_LAUNCH_HOPS(WeightedHop<BFloat16, BFloat16>)
VR_LAUNCH_HOPS(WeightedHop<BFloat16, float>)
VR_LAUNCH_HOPS(WeightedHop<BFloat16, double>)
VR_LAUNCH_HOPS(LogSumExpHop<double>)
VR_LAUNCH_HOPS(LogSumExpHop<float>)
VR_LAUNCH_HOPS(LogSumExpHop<Half>)
VR_LAUNCH_HOPS(LogSumExpHop<BFloat16>)

}  // namespace vranks::cuda
