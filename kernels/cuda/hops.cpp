// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/hops.hpp"

#include <vector>

#include "kernels/cuda/cuda_error.hpp"
#include "kernels/hop_arithmetic.hpp"

namespace vranks::cuda {

void run_hops(std::span<const Hop> hops, const Arithmetic& rules,
              const std::function<void*(std::size_t)>& memory) {
  std::vector<std::int64_t> first_tile{0};
  for (const Hop& hop : hops)
    first_tile.push_back(first_tile.back() +
                         (hop.elements + hop_tile_elements - 1) / hop_tile_elements);
  const std::int64_t tiles = first_tile.back();
  if (tiles == 0) return;
  check_grid(tiles);

  const std::size_t tiles_bytes = first_tile.size() * sizeof(std::int64_t);
  const std::size_t weights_bytes = rules.weights.size() * sizeof(double);
  auto* const first =
      static_cast<std::byte*>(memory(tiles_bytes + hops.size_bytes() + weights_bytes));
  std::byte* const second = first + tiles_bytes;
  check_cuda(cudaMemcpy(first, first_tile.data(), tiles_bytes, cudaMemcpyHostToDevice),
             "copying tiles of hops to the device");
  check_cuda(cudaMemcpy(second, hops.data(), hops.size_bytes(), cudaMemcpyHostToDevice),
             "copying hops to the device");
  std::byte* const weights = second + hops.size_bytes();
  check_cuda(cudaMemcpy(weights, rules.weights.data(), weights_bytes, cudaMemcpyHostToDevice),
             "copying weights to the device");
  const DeviceHops on_device{
      reinterpret_cast<const Hop*>(second), reinterpret_cast<const std::int64_t*>(first),
      static_cast<std::int64_t>(hops.size()), rules.premultiplies() ? rules.fuse : Fuse::never};
  visit(rules.dtype, [&]<class T>() {
    arithmetic::visit_hop<T>(rules, [&]<class Op>() {
      Op op = Op::of(rules);
      if constexpr (requires { op.weights; }) op.weights = reinterpret_cast<const double*>(weights);
      launch_hops(op, on_device, tiles);
    });
  });
  check_cuda(cudaStreamSynchronize(nullptr), "running hops");
}

}  // namespace vranks::cuda
