// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum over ranks of what a mask leaves of them, as of ranks of unequal length padded to one. It
// is one call, but a call takes no mask: what doesn't count is marked in the data before it. Either
// by 0, as numpy.where(mask, x, 0) does, and the sum is any sum; or by NaN, which an op of one's
// own passes over (a NaN that went wrong elsewhere, too). Data padded that way from the start needs
// nothing before the call. Checked against plain loops, over 3 and 4 ranks and lengths that vary.
#include <cmath>
#include <collectives/custom_op.hpp>
#include <cstdio>
#include <random>
#include <vector>

// An element is its own mask: NaN is left out. Of a column without numbers the sum is 0.
struct SumOfNumbers {
  using Element = float;
  using Carried = float;

  VR_HOST_DEVICE float lift(float x) const { return std::isnan(x) ? 0 : x; }
  VR_HOST_DEVICE float combine(float a, float b) const { return a + b; }
  VR_HOST_DEVICE float lower(float sum) const { return sum; }
};

void print_row(const char* problem, const vranks::Shape& shape, bool agrees) {
  std::printf("%-25s %-8s %s\n", problem, vranks::to_string(shape).c_str(), agrees ? "yes" : "NO");
}

int main() {
  std::mt19937 random(3);
  std::printf("%-25s %-8s %s\n", "problem", "shape", "agrees");
  for (int R : {3, 4, 3, 4}) {
    const int S = 17 + 2 * static_cast<int>(random() % 15);
    std::vector<float> x(R * S), zeros(R * S), nans(R * S);
    std::vector<float> sum(S), sum_of_numbers(S);
    std::vector<char> mask(R * S);
    for (float& value : x) value = static_cast<float>(random() % 1000);  // padding too
    for (int r = 0; r < R; ++r)
      for (int j = 0, length = static_cast<int>(random() % (S + 1)); j < length; ++j)
        mask[r * S + j] = true;

    std::vector<float> expected(S);  // whole numbers, so exact in any order
    for (int j = 0; j < S; ++j)
      for (int r = 0; r < R; ++r)
        if (mask[r * S + j]) expected[j] += x[r * S + j];

    for (int k = 0; k < R * S; ++k) {  // not x * mask: padding may hold anything
      zeros[k] = mask[k] ? x[k] : 0;
      nans[k] = mask[k] ? x[k] : NAN;
    }

    vranks::reduce_ranks(vranks::view(zeros.data(), {R, S}), vranks::view(sum.data(), {S}),
                         {.op = vranks::ReduceOp::sum});
    vranks::run(vranks::Collective::reduce, vranks::view(nans.data(), {R, S}),
                vranks::view(sum_of_numbers.data(), {S}), SumOfNumbers{});

    print_row("masked sum, 0 elsewhere", {R, S}, sum == expected);
    print_row("masked sum, NaN elsewhere", {R, S}, sum_of_numbers == expected);
  }
}

// Prints:
// problem                   shape    agrees
// masked sum, 0 elsewhere   (3, 19)  yes
// masked sum, NaN elsewhere (3, 19)  yes
// masked sum, 0 elsewhere   (4, 33)  yes
// masked sum, NaN elsewhere (4, 33)  yes
// masked sum, 0 elsewhere   (3, 25)  yes
// masked sum, NaN elsewhere (3, 25)  yes
// masked sum, 0 elsewhere   (4, 35)  yes
// masked sum, NaN elsewhere (4, 35)  yes
