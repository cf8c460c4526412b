// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies between strided tensors of one shape: what packs and unpacks the slices that kernels can't
// read as they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vranks {

// Elements of `element_bytes` (any number) from one strided tensor to another of the same shape.
// Distances are in bytes, of any sign and alignment; a target's elements don't overlap.
struct StridedCopy {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::int64_t element_bytes = 1;
  std::vector<std::int64_t> extents = {}, from_strides = {}, to_strides = {};

  std::int64_t elements() const;
};

// The same copy with as few dimensions as it can be said in, the last one the closest in the
// target; where elements follow each other in both tensors they are one larger element.
StridedCopy collapsed(const StridedCopy& copy);

}  // namespace vranks
