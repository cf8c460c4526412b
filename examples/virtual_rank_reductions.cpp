// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What R ranks of shape (B, D) have together, each by one call: their mean, log-sum-exp, the number
// of bits that any of them sets, and the largest element with the lowest rank that holds it.
// Checked against plain loops, over 3 and 4 ranks and shapes that vary.
#include <bit>
#include <cmath>
#include <collectives/collectives.hpp>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

using vranks::ReduceOp, vranks::reduce_ranks;

int main() {
  std::mt19937 random(1);
  int elements = 0, wrong_mean = 0, wrong_log = 0, wrong_bits = 0, wrong_max = 0;
  for (int trial = 0; trial < 16; ++trial) {
    const int R = 3 + trial % 2, B = 8 + static_cast<int>(random() % 11),
              D = 28 + static_cast<int>(random() % 21), n = B * D;
    std::vector<float> x(R * n), mean(n), log_sum(n), largest(n);
    std::vector<std::uint32_t> bits(R * n), any(n);
    std::vector<std::int32_t> winner(n);
    for (float& value : x) value = 50 * (static_cast<float>(random() % 21) - 10);  // many are equal
    for (std::uint32_t& word : bits) word = static_cast<std::uint32_t>(random() & random());
    const auto all = [&](auto& of) { return vranks::view(of.data(), {R, B, D}); };
    const auto one = [&](auto& of) { return vranks::view(of.data(), {B, D}); };

    reduce_ranks(all(x), one(mean), {.op = ReduceOp::mean});
    reduce_ranks(all(x), one(log_sum), {.op = ReduceOp::log_sum_exp});
    reduce_ranks(all(bits), one(any), {.op = ReduceOp::bor});
    reduce_ranks(all(x), one(largest), {.op = ReduceOp::max_loc, .ranks = one(winner)});

    for (int i = 0; i < n; ++i, ++elements) {
      double sum = 0, exponentials = 0;
      std::uint32_t set = 0;
      int best = 0;
      for (int r = 0; r < R; ++r) {
        sum += x[r * n + i];
        set |= bits[r * n + i];
        if (x[r * n + i] > x[best * n + i]) best = r;
      }
      const double most = x[best * n + i];
      for (int r = 0; r < R; ++r) exponentials += std::exp(x[r * n + i] - most);
      const double log_of = most + std::log(exponentials);
      wrong_mean += mean[i] != static_cast<float>(sum / R);
      wrong_log += !(std::abs(log_sum[i] - log_of) <= (28 + std::abs(log_of)) * 0x1p-24);
      wrong_bits += std::popcount(any[i]) != std::popcount(set);
      wrong_max += largest[i] != x[best * n + i] || winner[i] != best;
    }
  }
  std::cout << elements << " elements; wrong: " << wrong_mean << " means, " << wrong_log
            << " log-sum-exps, " << wrong_bits << " bit counts, " << wrong_max << " maxima\n";
}

// Prints:
// 6967 elements; wrong: 0 means, 0 log-sum-exps, 0 bit counts, 0 maxima
