// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/nccl/arithmetic.hpp"

namespace vranks::nccl {

namespace {

Fuse fuse_of(DType dtype, Protocol protocol) {
  const bool ll128 = protocol == Protocol::ll128;
  switch (dtype) {
    case DType::f32:
    case DType::f64:
      return ll128 ? Fuse::ll128 : Fuse::own;
    case DType::f16:
    case DType::bf16:
      return ll128 ? Fuse::never : Fuse::own;
    default:  // 8-bit floats are scaled, rounded, then added; integers are never scaled
      return Fuse::never;
  }
}

NanBits nan_bits_of(const Arithmetic& arithmetic, Protocol protocol) {
  if (arithmetic.dtype != DType::f64) return NanBits::one_pattern;
  return arithmetic.premultiplies() || protocol == Protocol::ll128 ? NanBits::own
                                                                   : NanBits::received;
}

}  // namespace

void refine(const Problem&, const Parameters& parameters, Arithmetic& arithmetic) {
  arithmetic.fuse =
      arithmetic.premultiplies() ? fuse_of(arithmetic.dtype, parameters.protocol) : Fuse::never;
  arithmetic.nan_bits = nan_bits_of(arithmetic, parameters.protocol);
}

}  // namespace vranks::nccl
