// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What R ranks of shape (B, D) have together, each by one call: their mean, log-sum-exp, the bits
// that any of them sets (OR), and the largest element with the lowest rank that holds it. Checked
// against plain loops, over 3 and 4 ranks and shapes that vary.
#include <cmath>
#include <collectives/collectives.hpp>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

using vranks::ReduceOp, vranks::reduce_ranks;

void print_row(const char* problem, const vranks::Shape& shape, bool agrees) {
  std::printf("%-13s %-12s %s\n", problem, vranks::to_string(shape).c_str(), agrees ? "yes" : "NO");
}

int main() {
  std::mt19937 random(1);
  std::printf("%-13s %-12s %s\n", "problem", "shape", "agrees");
  for (int R : {3, 4, 3, 4}) {
    const int B = 9 + 2 * static_cast<int>(random() % 6),
              D = 29 + 2 * static_cast<int>(random() % 10), n = B * D;
    std::vector<float> x(R * n), mean(n), log_sum(n), largest(n);
    std::vector<std::uint32_t> bits(R * n), any(n);
    std::vector<std::int32_t> winner(n);
    // Many are equal, sums are exact, and exp(500) is more than a float holds.
    for (float& value : x) value = 50 * (static_cast<float>(random() % 21) - 10);
    for (std::uint32_t& word : bits) word = static_cast<std::uint32_t>(random() & random());
    const auto all = [&](auto& of) { return vranks::view(of.data(), {R, B, D}); };
    const auto one = [&](auto& of) { return vranks::view(of.data(), {B, D}); };

    reduce_ranks(all(x), one(mean), {.op = ReduceOp::mean});
    reduce_ranks(all(x), one(log_sum), {.op = ReduceOp::log_sum_exp});
    reduce_ranks(all(bits), one(any), {.op = ReduceOp::bor});
    reduce_ranks(all(x), one(largest), {.op = ReduceOp::max_loc, .ranks = one(winner)});

    bool means = true, log_sums = true, ors = true, winners = true;
    for (int i = 0; i < n; ++i) {
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
      means &= mean[i] == static_cast<float>(sum / R);
      log_sums &= std::abs(log_sum[i] - log_of) <= (28 + std::abs(log_of)) * 0x1p-24;
      ors &= any[i] == set;
      winners &= largest[i] == x[best * n + i] && winner[i] == best;
    }
    print_row("mean", {R, B, D}, means);
    print_row("log-sum-exp", {R, B, D}, log_sums);
    print_row("OR", {R, B, D}, ors);
    print_row("arg-max", {R, B, D}, winners);
  }
}

// Prints:
// problem       shape        agrees
// mean          (3, 11, 47)  yes
// log-sum-exp   (3, 11, 47)  yes
// OR            (3, 11, 47)  yes
// arg-max       (3, 11, 47)  yes
// mean          (4, 19, 33)  yes
// log-sum-exp   (4, 19, 33)  yes
// OR            (4, 19, 33)  yes
// arg-max       (4, 19, 33)  yes
// mean          (3, 17, 31)  yes
// log-sum-exp   (3, 17, 31)  yes
// OR            (3, 17, 31)  yes
// arg-max       (3, 17, 31)  yes
// mean          (4, 11, 37)  yes
// log-sum-exp   (4, 11, 37)  yes
// OR            (4, 11, 37)  yes
// arg-max       (4, 11, 37)  yes
