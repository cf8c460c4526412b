// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Six ranks as a mesh of 2 data-parallel replicas, each of 3 tensor-parallel ranks. Partial
// activations are added inside a replica (along tp), gradients are averaged across replicas (along
// dp), and groups may be listed too: of unequal size, in any order, with a root of their own.
#include <collectives/collectives.hpp>
#include <cstdio>
#include <vector>

void print(const char* what, const std::vector<float>& values) {
  std::printf("%s:", what);
  for (const float value : values) std::printf(" %g", value);
  std::printf("\n");
}

int main() {
  constexpr int ranks = 6;
  const auto mesh = vranks::parse_mesh("dp=2,tp=3");  // rank = 3 dp + tp
  const std::vector<float> x = {1, 2, 3, 40, 50, 60};
  std::vector<float> y(ranks);
  const auto in = vranks::view(x.data(), {ranks, 1}), out = vranks::view(y.data(), {ranks, 1});

  vranks::all_reduce(in, out,
                     {.op = vranks::ReduceOp::sum, .groups = vranks::mesh_groups(mesh, "tp")});
  print("sum along tp", y);
  vranks::all_reduce(in, out,
                     {.op = vranks::ReduceOp::mean, .groups = vranks::mesh_groups(mesh, "dp")});
  print("mean along dp", y);

  // Every rank of a group gets the group's slices, in the order of its list.
  std::vector<float> gathered(ranks * 2);
  vranks::all_gather(in, vranks::view(gathered.data(), {ranks, 2, 1}),
                     {.groups = {{5, 0}, {1, 4}, {3, 2}}});
  print("gathered in pairs", gathered);

  // Root 1 is the second rank of each group: ranks 2 and 3.
  vranks::broadcast(in, out, {.root = 1, .groups = {{0, 2, 4, 5}, {1, 3}}});
  print("from each group's root", y);

  try {
    vranks::all_reduce(in, out, {.groups = {{0, 1, 2}, {2, 3, 4}}});
  } catch (const vranks::Error& error) {
    std::printf("%s\n", error.what());
  }
}

// Prints:
// sum along tp: 6 6 6 150 150 150
// mean along dp: 20.5 26 31.5 20.5 26 31.5
// gathered in pairs: 60 1 2 50 40 3 40 3 2 50 60 1
// from each group's root: 3 40 3 40 3 3
// the groups must hold each of 6 ranks once: rank 2 is in groups 0 and 1; rank 5 is in no group
