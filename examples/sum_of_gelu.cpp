// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// An op of one's own: every rank's GELU is added, under any algorithm. The same struct serves CUDA
// tensors where this file is compiled by nvcc and includes collectives/custom_op.cuh.
#include <cmath>
#include <cstdio>

#include "collectives/custom_op.hpp"

// x times the share of a normal distribution below x. The sum of GELUs is no GELU of a sum.
struct SumOfGelu {
  using Element = float;
  using Carried = double;

  VR_HOST_DEVICE double lift(float x) const {
    return 0.5 * x * (1 + std::erf(x * 0.70710678118654752));
  }
  VR_HOST_DEVICE double combine(double a, double b) const { return a + b; }
  VR_HOST_DEVICE float lower(double sum) const { return static_cast<float>(sum); }
};

int main() {
  constexpr int ranks = 3, columns = 4;
  float x[ranks][columns], sum[ranks][columns];
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < columns; ++i) x[r][i] = static_cast<float>(r - i);

  for (const char* algorithm : {"direct", "ring"}) {
    const auto ran = vranks::run(
        vranks::Collective::all_reduce, vranks::view(&x[0][0], {ranks, columns}),
        vranks::view(&sum[0][0], {ranks, columns}), SumOfGelu{}, {.algorithm = algorithm});
    std::printf("%s:", ran.algorithm.c_str());
    for (const float value : sum[2]) std::printf(" %.5f", value);
    std::printf("\n");
  }
}

// Prints:
// direct: 2.79584 0.68269 -0.20416 -0.20821
// ring: 2.79584 0.68269 -0.20416 -0.20821
