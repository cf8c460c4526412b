// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over virtual ranks: the slices of dimension 0 are what the ranks of a distributed job
// would hold.
//
//   float x[4][768], mean[768];
//   vranks::reduce_ranks(vranks::view(&x[0][0], {4, 768}), vranks::view(mean, {768}));
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "collectives/problem.hpp"
#include "kernels/backend.hpp"
#include "ranks/tensor_view.hpp"

namespace vranks {

struct ReduceOptions {
  ReduceOp op = ReduceOp::mean;
  NanPolicy nan = NanPolicy::propagate;
  std::string_view algorithm = "direct";
  Workspace workspace = {};  // empty: the library keeps one a stream and grows it when needed
  Stream stream = nullptr;   // CUDA only
};

// What produced a result.
struct Provenance {
  std::string algorithm;   // that really ran
  std::string device;      // "cpu", "cuda:0"
  std::string accumulate;  // dtype that partial results are carried in
  std::string mean;        // "divide" for op mean, else empty
  std::string nan;         // "propagate" or "ignore" for min and max, else empty
};

// Every slice of `out` becomes the reduction over the slices of `in`.
//   in, out   shape (R, d0, ...), R >= 1, same shape, dtype and device; slices contiguous, any
//             stride between ranks; `out` may be `in` (in place), but not overlap it otherwise
//   order     fixed by the algorithm; never depends on threads, device, run or n
// Throws bad_argument or not_supported (shapes, strides, overlap, workspace too small),
// not_available (no such device). Nothing is written when it throws before the kernel starts.
Provenance all_reduce(const TensorView& in, const TensorView& out,
                      const ReduceOptions& options = {});

// `out` becomes the reduction over the slices of `in`: what a user wants from "mean over ranks".
//   in   shape (R, d0, ...)      out   shape (d0, ...); may be exactly one slice of `in`
// Otherwise as all_reduce.
Provenance reduce_ranks(const TensorView& in, const TensorView& out,
                        const ReduceOptions& options = {});

// Bytes of workspace that a call on that problem needs on that device. Throws not_available.
std::size_t workspace_bytes(const Problem& problem, Device device = {});

}  // namespace vranks
