// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that lie across a tensor of shape (R, B, N), each problem by one call: columns that change
// places in every row (column j is rank j), ranks side by side as (B, R N), and row 0 sent to the
// other rows in masked columns only (every row is a rank). Strides say where ranks lie. Checked
// against plain loops, over 3 and 4 times B rows and shapes that vary.
#include <collectives/collectives.hpp>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

using vranks::Collective, vranks::DType, vranks::TensorView;

void print_row(const char* problem, const vranks::Shape& shape, bool agrees) {
  std::printf("%-17s %-12s %s\n", problem, vranks::to_string(shape).c_str(), agrees ? "yes" : "NO");
}

int main() {
  std::mt19937 random(2);
  std::printf("%-17s %-12s %s\n", "problem", "shape", "agrees");
  for (int R : {3, 4, 3, 4}) {
    const int B = 11 + 2 * static_cast<int>(random() % 6),
              N = 29 + 2 * static_cast<int>(random() % 23), rows = R * B;
    std::vector<float> x(rows * N), y(rows * N);
    for (float& value : x) value = static_cast<float>(random());

    // Column `to` becomes column `from`.
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;  // (from, to)
    for (int j = 0; j < N; ++j) pairs.emplace_back(j, j);
    for (int j = N - 1; j > 0; --j) std::swap(pairs[j].first, pairs[random() % (j + 1)].first);
    const auto columns = [&](std::vector<float>& of) {
      return TensorView{of.data(), DType::f32, {N, rows}, {1, N}};
    };

    vranks::permute(columns(x), columns(y), {.permutation = pairs});

    bool agrees = true;
    for (int row = 0; row < rows; ++row)
      for (const auto& [from, to] : pairs) agrees &= y[row * N + to] == x[row * N + from];
    print_row("permuted columns", {rows, N}, agrees);

    // Rank r's (B, N) becomes columns r N to r N + N of (B, R N).
    const TensorView side_by_side = {y.data(), DType::f32, {R, B, N}, {N, R * N, 1}};

    vranks::gather(vranks::view(x.data(), {R, B, N}), side_by_side);

    agrees = true;
    for (int r = 0; r < R; ++r)
      for (int b = 0; b < B; ++b)
        for (int j = 0; j < N; ++j) agrees &= y[b * R * N + r * N + j] == x[(r * B + b) * N + j];
    print_row("gather", {R, B, N}, agrees);

    // Masked columns next to each other are one tensor of the call, of shape (rows, columns).
    std::vector<char> mask(N);
    for (char& masked : mask) masked = random() % 2 == 0;
    std::vector<TensorView> runs;
    y = x;
    for (int j = 0, end = 0; j < N; j = end + 1) {
      for (end = j; end < N && mask[end];) ++end;
      if (end > j) runs.push_back({&y[j], DType::f32, {rows, end - j}, {N, 1}});
    }

    vranks::run_coalesced(Collective::broadcast, runs, runs);  // in place, from rank 0

    agrees = true;
    for (int row = 0; row < rows; ++row)
      for (int j = 0; j < N; ++j) agrees &= y[row * N + j] == (mask[j] ? x[j] : x[row * N + j]);
    print_row("masked broadcast", {rows, N}, agrees);
  }
}

// Prints:
// problem           shape        agrees
// permuted columns  (33, 65)     yes
// gather            (3, 11, 65)  yes
// masked broadcast  (33, 65)     yes
// permuted columns  (68, 69)     yes
// gather            (4, 17, 69)  yes
// masked broadcast  (68, 69)     yes
// permuted columns  (57, 65)     yes
// gather            (3, 19, 65)  yes
// masked broadcast  (57, 65)     yes
// permuted columns  (68, 45)     yes
// gather            (4, 17, 45)  yes
// masked broadcast  (68, 45)     yes
