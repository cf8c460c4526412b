// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel that runs hops, an element after the other.
#pragma once

#include "kernels/cuda/cuda_error.hpp"
#include "kernels/cuda/hops.hpp"
#include "kernels/cuda/plan.hpp"
#include "kernels/hop_arithmetic.hpp"

namespace vranks::cuda {

// An operand's element: an input, or a carried value.
template <class Op>
__device__ __forceinline__ typename Op::Carried operand(const Op& op, const std::byte* from,
                                                        bool is_leaf, std::int32_t row,
                                                        std::int64_t i) {
  return is_leaf ? op.lift(reinterpret_cast<const typename Op::Element*>(from)[i], row)
                 : op.load(reinterpret_cast<const typename Op::Stored*>(from)[i]);
}

template <class Op>
__device__ __forceinline__ void run_element(const Op& op, const Hop& hop, Fuse fuse,
                                            std::int64_t i) {
  using T = typename Op::Element;
  using S = typename Op::Stored;
  switch (hop.kind) {
    case Hop::Kind::copy:
      reinterpret_cast<S*>(hop.dst)[i] =
          hop.a_is_leaf ? op.store(op.lift(reinterpret_cast<const T*>(hop.a)[i], hop.a_row))
                        : reinterpret_cast<const S*>(hop.a)[i];
      return;
    case Hop::Kind::combine: {
      const bool fused =
          fuse == Fuse::own || (fuse == Fuse::ll128 && fuses_at(hop.position + i, sizeof(T)));
      typename Op::Carried result;
      if (hop.own == 1 && hop.a_is_leaf)
        result = op.combine_own(reinterpret_cast<const T*>(hop.a)[i], hop.a_row,
                                operand(op, hop.b, hop.b_is_leaf, hop.b_row, i), true, fused);
      else if (hop.own == 2 && hop.b_is_leaf)
        result = op.combine_own(reinterpret_cast<const T*>(hop.b)[i], hop.b_row,
                                operand(op, hop.a, hop.a_is_leaf, hop.a_row, i), false, fused);
      else
        result = op.combine(operand(op, hop.a, hop.a_is_leaf, hop.a_row, i),
                            operand(op, hop.b, hop.b_is_leaf, hop.b_row, i));
      reinterpret_cast<S*>(hop.dst)[i] = op.store(result);
      return;
    }
    case Hop::Kind::lower:
      reinterpret_cast<T*>(hop.dst)[i] =
          hop.a_is_leaf ? reinterpret_cast<const T*>(hop.a)[i]
                        : op.lower(op.load(reinterpret_cast<const S*>(hop.a)[i]));
      if constexpr (arithmetic::tells_rank<Op>)
        if (hop.ranks != nullptr)
          reinterpret_cast<std::int32_t*>(hop.ranks)[i] =
              op.lower_rank(op.load(reinterpret_cast<const S*>(hop.a)[i]), 0);
      return;
  }
}

template <class Op>
__global__ void __launch_bounds__(block_threads)
    hops_kernel(const __grid_constant__ DeviceHops hops, const __grid_constant__ Op op) {
  const std::int64_t tile = blockIdx.x;
  std::int64_t hop_index = 0;  // the last hop that starts at this tile or before
  for (std::int64_t end = hops.count; end - hop_index > 1;) {
    const std::int64_t middle = hop_index + (end - hop_index) / 2;
    if (hops.first_tile[middle] <= tile)
      hop_index = middle;
    else
      end = middle;
  }
  const Hop hop = hops.hops[hop_index];
  const std::int64_t first = (tile - hops.first_tile[hop_index]) * hop_tile_elements;
  const std::int64_t end = min(first + hop_tile_elements, hop.elements);
#pragma unroll 1
  for (std::int64_t i = first + threadIdx.x; i < end; i += block_threads)
    run_element(op, hop, hops.fuse, i);
}

template <class Op>
void launch_hops(const Op& op, const DeviceHops& hops, std::int64_t tiles) {
  hops_kernel<<<static_cast<unsigned>(tiles), block_threads>>>(hops, op);
  check_cuda(cudaGetLastError(), "launching hops");
}

#define VR_LAUNCH_HOPS(...) \
  template void launch_hops(const __VA_ARGS__& op, const DeviceHops& hops, std::int64_t tiles);

}  // namespace vranks::cuda
