// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ops of one's own, under any algorithm: every rank's GELU is added, and the bits that any rank
// sets are counted, each by one call. The same structs serve CUDA tensors where this file is
// compiled by nvcc and includes collectives/custom_op.cuh. Checked against plain loops, over 3 and
// 4 ranks and shapes that vary.
#include <bit>
#include <cmath>
#include <collectives/custom_op.hpp>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

// x times the share of a normal distribution below x. The sum of GELUs is no GELU of a sum, so each
// element goes through it before any two meet: that is lift().
struct SumOfGelu {
  using Element = float;
  using Carried = double;

  VR_HOST_DEVICE double lift(float x) const {
    return 0.5 * x * (1 + std::erf(x * 0.70710678118654752));
  }
  VR_HOST_DEVICE double combine(double a, double b) const { return a + b; }
  VR_HOST_DEVICE float lower(double sum) const { return static_cast<float>(sum); }
};

// The number of bits of an OR is known when all ranks are in it: that is lower().
struct CountOfOr {
  using Element = std::uint32_t;
  using Carried = std::uint32_t;

  VR_HOST_DEVICE std::uint32_t lift(std::uint32_t x) const { return x; }
  VR_HOST_DEVICE std::uint32_t combine(std::uint32_t a, std::uint32_t b) const { return a | b; }
  VR_HOST_DEVICE std::uint32_t lower(std::uint32_t bits) const {
    std::uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1) ++count;  // each round clears the lowest bit
    return count;
  }
};

void print_row(const std::string& problem, const vranks::Shape& shape, bool agrees) {
  std::printf("%-22s %-12s %s\n", problem.c_str(), vranks::to_string(shape).c_str(),
              agrees ? "yes" : "NO");
}

int main() {
  std::mt19937 random(6);
  std::printf("%-22s %-12s %s\n", "problem", "shape", "agrees");
  for (int R : {3, 4, 3, 4}) {
    const int B = 11 + 2 * static_cast<int>(random() % 6),
              D = 33 + 2 * static_cast<int>(random() % 8), n = B * D;
    std::vector<float> x(R * n);
    std::vector<std::uint32_t> bits(R * n);
    for (float& value : x) value = static_cast<float>(random()) * 0x1p-29f - 4;  // from -4 to 4
    for (std::uint32_t& word : bits) word = static_cast<std::uint32_t>(random() & random());
    const auto all = [&](auto& of) { return vranks::view(of.data(), {R, B, D}); };

    for (const std::string algorithm : {"direct", "ring"}) {
      std::vector<float> sum(R * n);
      std::vector<std::uint32_t> count(R * n);
      vranks::run(vranks::Collective::all_reduce, all(x), all(sum), SumOfGelu{},
                  {.algorithm = algorithm});
      vranks::run(vranks::Collective::all_reduce, all(bits), all(count), CountOfOr{},
                  {.algorithm = algorithm});

      bool sums = true, counts = true;
      for (int i = 0; i < n; ++i) {
        double expected = 0;
        std::uint32_t any = 0;
        for (int r = 0; r < R; ++r) {
          const double value = x[r * n + i];
          expected += value * std::erfc(-value / std::sqrt(2.0)) / 2;
          any |= bits[r * n + i];
        }
        for (int r = 0; r < R; ++r) {  // every rank has the result
          sums &= std::abs(sum[r * n + i] - expected) <= std::abs(expected) * 0x1p-23;
          counts &= count[r * n + i] == static_cast<std::uint32_t>(std::popcount(any));
        }
      }
      print_row("sum of GELU, " + algorithm, {R, B, D}, sums);
      print_row("bits of OR, " + algorithm, {R, B, D}, counts);
    }
  }
}

// Prints:
// problem                shape        agrees
// sum of GELU, direct    (3, 15, 35)  yes
// bits of OR, direct     (3, 15, 35)  yes
// sum of GELU, ring      (3, 15, 35)  yes
// bits of OR, ring       (3, 15, 35)  yes
// sum of GELU, direct    (4, 15, 47)  yes
// bits of OR, direct     (4, 15, 47)  yes
// sum of GELU, ring      (4, 15, 47)  yes
// bits of OR, ring       (4, 15, 47)  yes
// sum of GELU, direct    (3, 13, 41)  yes
// bits of OR, direct     (3, 13, 41)  yes
// sum of GELU, ring      (3, 13, 41)  yes
// bits of OR, ring       (3, 13, 41)  yes
// sum of GELU, direct    (4, 17, 43)  yes
// bits of OR, direct     (4, 17, 43)  yes
// sum of GELU, ring      (4, 17, 43)  yes
// bits of OR, ring       (4, 17, 43)  yes
