// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/hops_kernel.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_HOPS(FloatHop<Half, Half, false>)
VR_LAUNCH_HOPS(FloatHop<Half, Half, true>)
VR_LAUNCH_HOPS(FloatHop<Half, float, false>)
VR_LAUNCH_HOPS(FloatHop<Half, float, true>)
VR_LAUNCH_HOPS(FloatHop<Half, double, false>)
VR_LAUNCH_HOPS(FloatHop<Half, double, true>)
VR_LAUNCH_HOPS(MinMaxHop<Half>)
VR_LAUNCH_HOPS(FloatHop<BFloat16, BFloat16, false>)
VR_LAUNCH_HOPS(FloatHop<BFloat16, BFloat16, true>)
VR_LAUNCH_HOPS(FloatHop<BFloat16, float, false>)
VR_LAUNCH_HOPS(FloatHop<BFloat16, float, true>)
VR_LAUNCH_HOPS(FloatHop<BFloat16, double, false>)
VR_LAUNCH_HOPS(FloatHop<BFloat16, double, true>)
VR_LAUNCH_HOPS(MinMaxHop<BFloat16>)
VR_LAUNCH_HOPS(FloatHop<float, float, false>)
VR_LAUNCH_HOPS(FloatHop<float, float, true>)
VR_LAUNCH_HOPS(FloatHop<float, double, false>)
VR_LAUNCH_HOPS(FloatHop<float, double, true>)
VR_LAUNCH_HOPS(MinMaxHop<float>)
VR_LAUNCH_HOPS(FloatHop<double, double, false>)
VR_LAUNCH_HOPS(FloatHop<double, double, true>)
VR_LAUNCH_HOPS(MinMaxHop<double>)
VR_LAUNCH_HOPS(NanKeepingHop)

}  // namespace vranks::cuda
