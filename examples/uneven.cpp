// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that hold different amounts. Counts are along the first dimension of slices; nothing is
// padded, zero counts are fine, and a rank's tensor is as long as what it sends or receives.
#include <collectives/collectives.hpp>
#include <cstdio>
#include <vector>

using vranks::Collective, vranks::TensorView;

void print(const char* what, const std::vector<float>& values) {
  std::printf("%s:", what);
  for (const float value : values) std::printf(" %g", value);
  std::printf("\n");
}

int main() {
  // Three ranks with 2, 0 and 3 numbers: each gets all five.
  std::vector<float> a = {1, 2}, b = {}, c = {30, 31, 32}, all(3 * 5);
  std::vector<TensorView> in, out;
  for (std::vector<float>* rank : {&a, &b, &c})
    in.push_back(vranks::view(rank->data(), {static_cast<std::int64_t>(rank->size())}));
  for (int r = 0; r < 3; ++r) out.push_back(vranks::view(&all[r * 5], {5}));
  vranks::run(Collective::all_gather_v, in, out, {.counts = {2, 0, 3}});
  print("all_gather_v, rank 2", {all.begin() + 10, all.end()});

  // Two experts, as tokens are sent to them: rank 0 sends 1 to itself and 3 to rank 1; rank 1 sends
  // 2 to rank 0 and keeps none. So rank 0 receives 3, and rank 1 as many.
  float tokens0[] = {10, 11, 12, 13}, tokens1[] = {20, 21};
  std::vector<float> expert0(3), expert1(3);
  const TensorView sent[] = {vranks::view(tokens0, {4}), vranks::view(tokens1, {2})};
  const TensorView received[] = {vranks::view(expert0.data(), {3}),
                                 vranks::view(expert1.data(), {3})};
  vranks::run(Collective::all_to_all_v, sent, received, {.counts = {1, 3, 2, 0}});
  print("all_to_all_v, rank 0", expert0);
  print("all_to_all_v, rank 1", expert1);

  // What receivers expect is checked before anything is written.
  try {
    vranks::run(Collective::all_to_all_v, sent, received,
                {.counts = {1, 3, 2, 0}, .receive_counts = {1, 1, 3, 0}});
  } catch (const vranks::Error& error) {
    std::printf("%s\n", error.what());
  }
}

// Prints:
// all_gather_v, rank 2: 1 2 30 31 32
// all_to_all_v, rank 0: 10 20 21
// all_to_all_v, rank 1: 11 12 13
// pair 1->0: rank 1 sends 2 of dimension 1 but rank 0 expects 1
