// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Transfers one by one, on the device: the reference for fused folds, so plain rather than fast.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/backend.hpp"

namespace vranks::cuda {

// Hops as the kernel reads them. A block of threads runs one tile: some elements of one hop.
struct DeviceHops {
  const Hop* hops;
  const std::int64_t* first_tile;  // of each hop; one more entry: all tiles
  std::int64_t count;
  Fuse fuse;
};

inline constexpr std::int64_t hop_tile_elements = 1024;

// Launches the kernel. Compiled for every op that visit_hop knows.
template <class Op>
void launch_hops(const Op& op, const DeviceHops& hops, std::int64_t tiles);

// Runs the hops on the current device and waits for them. memory(bytes): device memory to keep the
// hops in.
void run_hops(std::span<const Hop> hops, const Arithmetic& rules,
              const std::function<void*(std::size_t)>& memory);

}  // namespace vranks::cuda
