// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum over ranks of what a mask leaves of them: ranks of unequal length, padded to one. A mask
// for each element is data, so it travels with it: an element is a pair (value, mask), stored as a
// complex number, and the op sums the products. Weights that aren't 0 or 1 work as well.
#include <collectives/custom_op.hpp>
#include <cstdio>
#include <random>
#include <vector>

using Pair = vranks::Complex<float>;  // re: the value, im: its mask

struct MaskedSum {
  using Element = Pair;
  using Carried = float;

  // Not a product: padding may hold anything, NaN too.
  VR_HOST_DEVICE float lift(Pair x) const { return x.im == 0 ? 0 : x.re * x.im; }
  VR_HOST_DEVICE float combine(float a, float b) const { return a + b; }
  VR_HOST_DEVICE Pair lower(float sum) const { return {sum, 1}; }
};

int main() {
  std::mt19937 random(3);
  int elements = 0, wrong = 0;
  for (int trial = 0; trial < 16; ++trial) {
    const int R = 3 + trial % 2, S = 17 + static_cast<int>(random() % 30);
    std::vector<Pair> x(R * S, {__builtin_nanf(""), 0}), sum(S);
    for (int r = 0; r < R; ++r)
      for (int j = 0, length = static_cast<int>(random() % (S + 1)); j < length; ++j)
        x[r * S + j] = {static_cast<float>(random() % 1000), 1};

    vranks::run(vranks::Collective::reduce, vranks::view(x.data(), {R, S}),
                vranks::view(sum.data(), {S}), MaskedSum{});

    elements += S;
    for (int j = 0; j < S; ++j) {
      float expected = 0;
      for (int r = 0; r < R; ++r)
        if (x[r * S + j].im != 0) expected += x[r * S + j].re;
      wrong += sum[j].re != expected;
    }
  }
  std::printf("masked sum: %d of %d wrong\n", wrong, elements);
}

// Prints:
// masked sum: 0 of 514 wrong
