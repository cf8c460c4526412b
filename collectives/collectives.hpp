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
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/interpreters/execute_steps.hpp"
#include "collectives/plan.hpp"
#include "kernels/backend.hpp"
#include "ranks/error.hpp"
#include "ranks/group.hpp"
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
  std::optional<Fp8Mode> fp8 = {};
  std::int64_t root = 0;             // of rooted collectives: a rank of the group
  double factor = 1;                 // of op premul_sum; finite
  std::vector<double> weights = {};  // of op weighted_mean: one for each of all ranks
  // A partition of the ranks; each group does the collective for itself, in the order of its list,
  // and R, ranks, roots, counts and permutation below are those of a group. Empty: one group.
  Groups groups = {};
  // Of permute: (source, destination); ranks that are no destination get zeros.
  std::vector<std::pair<std::int64_t, std::int64_t>> permutation = {};
  // Of the _v forms, counted along the first dimension of slices: for each rank r of its block, for
  // all_to_all_v at [s * R + d] of what rank s sends to rank d. `receive_counts`, if given, are
  // what rank d expects from rank s at [d * R + s], and must be the same numbers.
  Counts counts = {}, receive_counts = {};
  // Where blocks start in rows that hold several; empty: one behind the other. [s * R + d] of what
  // rank s sends to d in an all_to_all_v, [d * R + s] of what d receives from s.
  Counts send_displacements = {}, receive_displacements = {};
  // Of all_to_all_v: rows of the input may be longer than what they send. Refused elsewhere.
  bool ragged = false;
  // Of min_loc and max_loc: i32, of the output's shape; gets the rank in the group whose element
  // the result is. Must lie apart from input and output. Without data: ranks are not told.
  TensorView ranks = {};
  Workspace workspace = {};  // empty: the library keeps one a stream and grows it when needed
  Stream stream = nullptr;   // CUDA only
};

// Every call below
//   takes    in of shape (R, d0, ...), R >= 1, and out of the same dtype and device. Slices may
//            have any strides; contiguous ones are faster, others are copied. Of rooted
//            collectives that start at the root only its slice is read.
//   promises the order of the algorithm, whatever the threads, device, run or n
//   throws   bad_argument or not_supported (shapes, strides, overlap, groups, counts, parameters,
//            workspace too small), not_available (no such device, no memory). Nothing is written
//            when it throws before the kernel starts.
// With several groups the output of a rooted collective has one slice a group, in their order.
// In place means the very memory: of equal shapes the input itself; of a reduce_scatter or scatter
// block r of slice r of the input (NCCL's place) or its start (MPI's place); of an all_gather or
// gather the input's slice r is block r of the output's. Other overlaps are refused.
// The first call for a problem plans it; later ones find the plan again. On CUDA plan before a
// stream is captured.

// Every slice of `out`, shape (R, d0, ...), becomes the reduction over the slices of `in`.
Provenance all_reduce(const TensorView& in, const TensorView& out,
                      const CollectiveOptions& options = {});
// `out`, shape (d0, ...), becomes the reduction over the slices of `in`: what the root gets.
Provenance reduce_ranks(const TensorView& in, const TensorView& out,
                        const CollectiveOptions& options = {});
// Slice r of `out`, shape (R, d0/R, ...), becomes block r of the reduction.
Provenance reduce_scatter(const TensorView& in, const TensorView& out,
                          const CollectiveOptions& options = {});
// Every slice of `out`, shape (R, R, d0, ...), becomes all of `in`.
Provenance all_gather(const TensorView& in, const TensorView& out,
                      const CollectiveOptions& options = {});
// Every slice of `out`, shape (R, d0, ...), becomes the root's slice of `in`.
Provenance broadcast(const TensorView& in, const TensorView& out,
                     const CollectiveOptions& options = {});
// `out`, shape (R, d0, ...), becomes all of `in`: what the root gets.
Provenance gather(const TensorView& in, const TensorView& out,
                  const CollectiveOptions& options = {});
// Slice r of `out`, shape (R, d0/R, ...), becomes block r of the root's slice of `in`.
Provenance scatter(const TensorView& in, const TensorView& out,
                   const CollectiveOptions& options = {});
// Block s of slice d of `out` becomes block d of slice s of `in`; both (R, d0, ...).
Provenance all_to_all(const TensorView& in, const TensorView& out,
                      const CollectiveOptions& options = {});
// Slice d of `out` becomes slice s of `in` for every pair (s, d) of options.permutation; both
// (R, d0, ...).
Provenance permute(const TensorView& in, const TensorView& out,
                   const CollectiveOptions& options = {});
// Slice r of `out`, shape (R, d0, ...), becomes the reduction over slices 0 to r of `in`; of an
// exscan over slices 0 to r - 1, and slice 0 the identity of the op. There is no mean of that kind.
Provenance scan(const TensorView& in, const TensorView& out,
                const CollectiveOptions& options = {.op = ReduceOp::sum});
Provenance exscan(const TensorView& in, const TensorView& out,
                  const CollectiveOptions& options = {.op = ReduceOp::sum});

// Any collective, the _v forms too, by name.
Provenance run(Collective collective, const TensorView& in, const TensorView& out,
               const CollectiveOptions& options = {});

// The same with a tensor of its own for every rank, of shape (d0, ...), anywhere on one device; of
// a _v form each may have a d0 of its own. Where only the root has an output, `out` has one tensor
// (a group). Bits as for one tensor of all ranks. options.ranks is a tensor of shape (R, d0, ...).
Provenance run(Collective collective, std::span<const TensorView> in,
               std::span<const TensorView> out, const CollectiveOptions& options = {});

// One call for several tensors of shape (R, ...), as the averaging of many gradients needs it; bits
// as for separate calls. All are checked before the first is written. Throws bad_argument if there
// are not as many outputs as inputs.
std::vector<Provenance> run_coalesced(Collective collective, std::span<const TensorView> in,
                                      std::span<const TensorView> out,
                                      const CollectiveOptions& options = {});

// The same bits as run(), by walking the algorithm's schedule step by step, group after group:
// slow, allocates, and shows every partial result to `observer` (ranks are those of the group).
// Returns when all is done.
Provenance run_steps(Collective collective, const TensorView& in, const TensorView& out,
                     const CollectiveOptions& options = {}, const StepObserver& observer = {});
Provenance run_steps(Collective collective, std::span<const TensorView> in,
                     std::span<const TensorView> out, const CollectiveOptions& options = {},
                     const StepObserver& observer = {});

// Shape of the output for an input of shape (R, d0, ...). Throws bad_argument.
Shape output_shape(Collective collective, const Shape& in, const CollectiveOptions& options = {});

// What a call with an input of that shape and dtype plans: the problem over all ranks; of several
// groups with all their ranks, and the counts and permutation of each. Throws as the call.
Problem problem_of(Collective collective, const Shape& in, DType dtype,
                   const CollectiveOptions& options = {});

// Bytes of workspace that the call needs. Throws as the call.
std::size_t workspace_bytes(Collective collective, const TensorView& in, const TensorView& out,
                            const CollectiveOptions& options = {});
// The most that a call with an input of that shape and dtype needs, in place or not, with
// contiguous slices of one tensor. Throws as the call.
std::size_t workspace_bytes(Collective collective, const Shape& in, DType dtype, Device device = {},
                            const CollectiveOptions& options = {});
// The same for a problem over all ranks, whose rows are as long as it needs; bad_argument for
// ragged ones, whose length it doesn't say.
std::size_t workspace_bytes(const Problem& problem, Device device = {},
                            const CollectiveOptions& options = {});

}  // namespace vranks
