// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include <collectives/collectives.hpp>
#include <iostream>

int main() {
  float x[2][6] = {{1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}}, mean[6];
  vranks::reduce_ranks(vranks::view(&x[0][0], {2, 6}), vranks::view(mean, {6}));
  std::cout << "mean over ranks: " << mean[5] << '\n';
}
