// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Custom ops on tensors of CUDA devices too: what collectives/custom_op.hpp says, compiled by nvcc.
// The kernels are those of vranks' own ops. Functions of an op must be VR_HOST_DEVICE.
#pragma once

#include "collectives/custom_op.hpp"
#include "kernels/cuda/program_launch.cuh"

namespace vranks {

namespace custom {

// A custom op as kernels see ops; see kernels/hop_arithmetic.hpp.
template <class Op>
struct Hop {
  using Element = typename Op::Element;
  using Carried = typename Op::Carried;
  using Stored = Carried;

  Op op;

  VR_HOST_DEVICE Carried lift(Element x, std::int32_t = 0) const { return op.lift(x); }
  VR_HOST_DEVICE Carried load(Stored s) const { return s; }
  VR_HOST_DEVICE Stored store(Carried c) const { return c; }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const { return op.combine(a, b); }
  VR_HOST_DEVICE Carried combine_own(Element x, std::int32_t, Carried other, bool left,
                                     bool) const {
    return left ? combine(lift(x), other) : combine(other, lift(x));
  }
  VR_HOST_DEVICE Element lower(Carried c) const { return op.lower(c); }
};

template <class Op>
class CudaOps final : public cuda::ProgramOps {
 public:
  using Copied = cuda::KeepBits<cuda::CopiedWord<typename Op::Element>>;

  explicit CudaOps(const Op& op) : op_{op} {}

  int access_columns(cuda::ProgramKind kind) const override {
    return kind == cuda::ProgramKind::copy ? cuda::access_columns<Copied>(kind)
                                           : cuda::access_columns<Hop<Op>>(kind);
  }
  int tile_columns(cuda::ProgramKind kind) const override {
    return kind == cuda::ProgramKind::copy ? cuda::tile_columns<Copied>(kind)
                                           : cuda::tile_columns<Hop<Op>>(kind);
  }
  bool is_rare() const override { return cuda::is_rare<Hop<Op>>; }
  cuda::Sides sides() const override { return cuda::Sides::kept; }
  bool folds_subtrees(cuda::ProgramKind kind) const override {
    return cuda::folds_subtrees<Hop<Op>>(kind);
  }
  void launch(const cuda::ProgramPart& part, const cuda::KernelTensors& tensors,
              Stream stream) const override {
    if (part.kind == cuda::ProgramKind::copy)
      cuda::launch_program(Copied{}, part, tensors, stream);
    else
      cuda::launch_program(op_, part, tensors, stream);
  }

 private:
  Hop<Op> op_;
};

}  // namespace custom

template <class Op>
inline constexpr bool cuda::commutes<custom::Hop<Op>> = false;

// A function and a name of its own, because files that nvcc doesn't compile may call the other one
// with the same op in the same program.
inline namespace on_any_device {

// More constrained than the run() of custom_op.hpp, so that it is chosen wherever it is known.
template <class Op>
concept CudaOp = CustomOp<Op> && std::is_trivially_copyable_v<Op>;

// As in collectives/custom_op.hpp, for tensors on any device.
template <CudaOp Op>
Provenance run(Collective collective, const TensorView& in, const TensorView& out, const Op& op,
               const CollectiveOptions& options = {}) {
  return custom::run(collective, in, out, op, options,
                     [&](FoldProgram program, const PlanKey& key) -> std::unique_ptr<PreparedFold> {
                       if (key.device.kind == DeviceKind::cpu)
                         return custom::prepare_on_cpu(std::move(program), key, op);
                       return cuda::prepare_program(program, key.device.index,
                                                    std::make_unique<custom::CudaOps<Op>>(op));
                     });
}

}  // namespace on_any_device

}  // namespace vranks
