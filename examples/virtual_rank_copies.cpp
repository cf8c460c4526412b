// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that lie across a tensor, each problem by one call: columns of a (B, N) tensor that change
// places (column j is rank j), ranks of shape (B, H) side by side as (B, R H), and row 0 sent to
// the other rows in masked columns only. Strides say where ranks lie; checked against plain loops.
#include <collectives/collectives.hpp>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

using vranks::Collective, vranks::DType, vranks::TensorView;

int main() {
  std::mt19937 random(2);
  int wrong_columns = 0, wrong_gather = 0, wrong_rows = 0;
  for (int trial = 0; trial < 16; ++trial) {
    const int R = 3 + trial % 2, B = 10 + static_cast<int>(random() % 11),
              N = 28 + static_cast<int>(random() % 45);
    std::vector<float> x(R * B * N), y(R * B * N);
    for (float& value : x) value = static_cast<float>(random());
    const auto columns = [&](float* data) { return TensorView{data, DType::f32, {N, B}, {1, N}}; };

    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;  // (from, to)
    for (int j = 0; j < N; ++j) pairs.emplace_back(j, j);
    for (int j = N - 1; j > 0; --j) std::swap(pairs[j].first, pairs[random() % (j + 1)].first);
    vranks::permute(columns(x.data()), columns(y.data()), {.permutation = pairs});
    for (int b = 0; b < B; ++b)
      for (const auto& [from, to] : pairs) wrong_columns += y[b * N + to] != x[b * N + from];

    vranks::gather(vranks::view(x.data(), {R, B, N}),
                   TensorView{y.data(), DType::f32, {R, B, N}, {N, R * N, 1}});
    for (int i = 0; i < R * B * N; ++i)
      wrong_gather += y[i / N % B * R * N + i / N / B * N + i % N] != x[i];

    std::vector<char> mask(N + 1);
    std::vector<TensorView> runs;  // of masked columns: shape (rows, columns)
    for (int j = 0; j < N; ++j) mask[j] = random() % 2 == 0;
    for (int j = 0, end = 0; j < N; j = end + 1) {
      for (end = j; mask[end];) ++end;
      if (end > j) runs.push_back({&y[j], DType::f32, {R * B, end - j}, {N, 1}});
    }
    y = x;
    vranks::run_coalesced(Collective::broadcast, runs, runs);  // in place, from rank 0
    for (int i = 0; i < R * B * N; ++i) wrong_rows += y[i] != x[mask[i % N] ? i % N : i];
  }
  std::printf("columns that change places: %d wrong\n", wrong_columns);
  std::printf("ranks side by side: %d wrong\n", wrong_gather);
  std::printf("row 0 in masked columns: %d wrong\n", wrong_rows);
}

// Prints:
// columns that change places: 0 wrong
// ranks side by side: 0 wrong
// row 0 in masked columns: 0 wrong
