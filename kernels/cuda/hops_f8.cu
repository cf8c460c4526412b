// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/hops_kernel.cuh"

namespace vranks::cuda {

using namespace arithmetic;

VR_LAUNCH_HOPS(FloatHop<Float8E4M3, Float8E4M3, false>)
VR_LAUNCH_HOPS(FloatHop<Float8E4M3, Float8E4M3, true>)
VR_LAUNCH_HOPS(FloatHop<Float8E4M3, float, false>)
VR_LAUNCH_HOPS(FloatHop<Float8E4M3, float, true>)
VR_LAUNCH_HOPS(FloatHop<Float8E4M3, double, false>)
VR_LAUNCH_HOPS(FloatHop<Float8E4M3, double, true>)
VR_LAUNCH_HOPS(WeightedHop<Float8E4M3, Float8E4M3>)
VR_LAUNCH_HOPS(WeightedHop<Float8E4M3, float>)
VR_LAUNCH_HOPS(WeightedHop<Float8E4M3, double>)
VR_LAUNCH_HOPS(MinMaxHop<Float8E4M3>)
VR_LAUNCH_HOPS(LogSumExpHop<Float8E4M3>)
VR_LAUNCH_HOPS(FloatHop<Float8E5M2, Float8E5M2, false>)
VR_LAUNCH_HOPS(FloatHop<Float8E5M2, Float8E5M2, true>)
VR_LAUNCH_HOPS(FloatHop<Float8E5M2, float, false>)
VR_LAUNCH_HOPS(FloatHop<Float8E5M2, float, true>)
VR_LAUNCH_HOPS(FloatHop<Float8E5M2, double, false>)
VR_LAUNCH_HOPS(FloatHop<Float8E5M2, double, true>)
VR_LAUNCH_HOPS(WeightedHop<Float8E5M2, Float8E5M2>)
VR_LAUNCH_HOPS(WeightedHop<Float8E5M2, float>)
VR_LAUNCH_HOPS(WeightedHop<Float8E5M2, double>)
VR_LAUNCH_HOPS(MinMaxHop<Float8E5M2>)
VR_LAUNCH_HOPS(LogSumExpHop<Float8E5M2>)

}  // namespace vranks::cuda
