// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches the kernels of fold programs. Each .cu file compiles those of some ops, so that nvcc
// works on several files side by side.
#pragma once

#include "kernels/cuda/overlapping.cuh"
#include "kernels/cuda/program_kernel.cuh"

namespace vranks::cuda {

template <class Op, ProgramKind kind>
void launch_kind(const Op& op, const ProgramPart& part, const KernelTensors& tensors,
                 Stream stream) {
  const auto runs = on_device(op);
  using Runs = std::remove_const_t<decltype(runs)>;
  static_assert(tile_columns<Runs>(kind) == tile_columns<Op>(kind));
  launch_overlapping("launching a fold program", program_kernel<Runs, kind>, part.tiles, stream,
                     part.program, tensors, runs);
}

template <class Op>
void launch_program(const Op& op, const ProgramPart& part, const KernelTensors& tensors,
                    Stream stream) {
  if constexpr (std::is_same_v<Op, KeepBits<typename Op::Element>>) {
    launch_kind<Op, ProgramKind::copy>(op, part, tensors, stream);
  } else {
    switch (part.kind) {
      case ProgramKind::few:
        if constexpr (!is_rare<Op>) launch_kind<Op, ProgramKind::few>(op, part, tensors, stream);
        return;
      case ProgramKind::linear:
        if constexpr (!is_rare<Op>) launch_kind<Op, ProgramKind::linear>(op, part, tensors, stream);
        return;
      case ProgramKind::tree:
        return launch_kind<Op, ProgramKind::tree>(op, part, tensors, stream);
      case ProgramKind::deep:
        return launch_kind<Op, ProgramKind::deep>(op, part, tensors, stream);
      case ProgramKind::running:
        return launch_kind<Op, ProgramKind::running>(op, part, tensors, stream);
      case ProgramKind::copy:
        break;  // KeepBits
    }
  }
}

#define VR_LAUNCH_PROGRAM(...)                                                 \
  template void launch_program(const __VA_ARGS__& op, const ProgramPart& part, \
                               const KernelTensors& tensors, Stream stream);

}  // namespace vranks::cuda
