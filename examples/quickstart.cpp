// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include <collectives/collectives.hpp>
#include <iostream>

int main() {
  // Four ranks hold three numbers each, as they would in four processes of a training job.
  float x[4][3] = {{1, 10, 0.1f}, {2, 20, 0.2f}, {3, 30, 0.3f}, {6, 60, 0.6f}};

  auto ranks = vranks::view(&x[0][0], {4, 3});
  auto how = vranks::all_reduce(ranks, ranks, {.op = vranks::ReduceOp::mean});  // in place

  for (auto& rank : x) std::cout << rank[0] << ' ' << rank[1] << ' ' << rank[2] << '\n';
  std::cout << how.algorithm << " on " << how.device << ", carried in " << how.accumulate << '\n';
}

// Prints:
// 3 30 0.3
// 3 30 0.3
// 3 30 0.3
// 3 30 0.3
// direct on cpu, carried in f32
