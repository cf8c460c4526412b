// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The numbers by which NCCL cuts a vector into parts of channels and chunks: one row a release.
// They hold for the default NCCL_BUFFSIZE, NCCL_NTHREADS and relatives.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/parameters.hpp"

namespace vranks::nccl {

struct Constants {
  std::string_view release;     // "2.27": major and minor number
  std::int32_t last_patch = 0;  // the last patch that is known; any_patch: all
  // A channel gets whole cells, and moves at least so many bytes.
  std::int64_t traffic_unit_bytes = 0;

  // As long as a channel would get fewer bytes, fewer channels are used.
  std::int64_t simple_channel_bytes = 32768;
  std::int64_t ll_ring_channel_bytes = 4096;  // times the number of ranks
  std::int64_t ll_tree_channel_bytes = 4096;
  std::int64_t ll128_channel_bytes = 5120;

  // Bytes of a ring's chunk; by Protocol. Simple: half a buffer of 4 MiB. LL: an eighth of 512 KiB,
  // half of it data. LL128: an eighth of 4800 KiB, 15 of 16 words data.
  std::array<std::int64_t, 3> chunk_bytes = {2097152, 32768, 576000};

  bool operator==(const Constants&) const = default;
};

inline constexpr std::int32_t any_patch = -1;

std::span<const Constants> known_releases();

// The row of "2.27" or "2.27.3". Throws not_supported, with what there is, for another one.
const Constants& constants_of(std::string_view version);

}  // namespace vranks::nccl
