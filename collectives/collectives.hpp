// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives over virtual ranks: the slices of dimension 0 are what the ranks of a distributed job
// would hold.
//
//   float x[4][768], mean[768];
//   vranks::reduce_ranks(vranks::view(&x[0][0], {4, 768}), vranks::view(mean, {768}));
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "collectives/interpreters/execute_steps.hpp"
#include "collectives/plan.hpp"
#include "kernels/backend.hpp"
#include "ranks/tensor_view.hpp"

namespace vranks {

struct CollectiveOptions {
  ReduceOp op = ReduceOp::mean;  // of collectives that combine
  std::string_view algorithm = "direct";
  Parameters parameters = {};
  // Empty: as the algorithm does it; see kernels/arithmetic_rules.hpp.
  std::optional<NanPolicy> nan = {};
  std::optional<Accumulate> accumulate = {};
  std::optional<MeanMode> mean = {};
  std::int64_t root = 0;     // of reduce
  Workspace workspace = {};  // empty: the library keeps one a stream and grows it when needed
  Stream stream = nullptr;   // CUDA only
};

// Every call below
//   takes    in of shape (R, d0, ...), R >= 1, and out of the same dtype and device; slices
//            contiguous, any stride between ranks
//   promises the order of the algorithm, whatever the threads, device, run or n
//   throws   bad_argument or not_supported (shapes, strides, overlap, parameters, workspace too
//            small), not_available (no such device, no memory). Nothing is written when it throws
//            before the kernel starts.
// The first call for a problem plans it; later ones find the plan again. On CUDA plan before a
// stream is captured.

// Every slice of `out`, shape (R, d0, ...), becomes the reduction over the slices of `in`. `out`
// may be `in` (in place), but not overlap it otherwise.
Provenance all_reduce(const TensorView& in, const TensorView& out,
                      const CollectiveOptions& options = {});

// `out`, shape (d0, ...), becomes the reduction over the slices of `in`: what the root gets. May be
// exactly one slice of `in`.
Provenance reduce_ranks(const TensorView& in, const TensorView& out,
                        const CollectiveOptions& options = {});

// Slice r of `out`, shape (R, d0/R, ...), becomes block r of the reduction. In place: slice r of
// `out` may be block r of slice r of `in` (NCCL's place: the stride between ranks of `out` is that
// of `in` and a block), or the start of slice r of `in` (MPI's place).
Provenance reduce_scatter(const TensorView& in, const TensorView& out,
                          const CollectiveOptions& options = {});

// Every slice of `out`, shape (R, R, d0, ...), becomes all of `in`. In place: slice r of `in` may
// be block r of slice r of `out`.
Provenance all_gather(const TensorView& in, const TensorView& out,
                      const CollectiveOptions& options = {});

// Any of the above by name of the collective.
Provenance run(Collective collective, const TensorView& in, const TensorView& out,
               const CollectiveOptions& options = {});

// The same bits as run(), by walking the algorithm's schedule step by step: slow, allocates, and
// shows every partial result to `observer`. Returns when all is done.
Provenance run_steps(Collective collective, const TensorView& in, const TensorView& out,
                     const CollectiveOptions& options = {}, const StepObserver& observer = {});

// Shape of the output for an input of shape (R, d0, ...). Throws bad_argument.
Shape output_shape(Collective collective, const Shape& in);

// Bytes of workspace that a call on that problem needs on that device, in place or not. Throws as
// the call.
std::size_t workspace_bytes(const Problem& problem, Device device = {},
                            const CollectiveOptions& options = {});

}  // namespace vranks
