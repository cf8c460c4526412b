// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches the kernels of fold programs. Each .cu file compiles those of some ops, so that nvcc
// works on several files side by side.
#pragma once

#include "kernels/cuda/cuda_error.hpp"
#include "kernels/cuda/program_kernel.cuh"

namespace vranks::cuda {

template <class Op, ProgramKind kind>
void launch_kind(const Op& op, const ProgramPart& part, const FoldRows& rows, Stream stream) {
  program_kernel<Op, kind>
      <<<static_cast<unsigned>(part.tiles), block_threads, 0, stream>>>(part.program, rows, op);
  check_cuda(cudaGetLastError(), "launching a fold program");
}

template <class Op>
void launch_program(const Op& op, const ProgramPart& part, const FoldRows& rows, Stream stream) {
  if constexpr (std::is_same_v<Op, KeepBits<typename Op::Element>>) {
    launch_kind<Op, ProgramKind::copy>(op, part, rows, stream);
  } else {
    switch (part.kind) {
      case ProgramKind::few:
        return launch_kind<Op, ProgramKind::few>(op, part, rows, stream);
      case ProgramKind::linear:
        return launch_kind<Op, ProgramKind::linear>(op, part, rows, stream);
      case ProgramKind::tree:
        return launch_kind<Op, ProgramKind::tree>(op, part, rows, stream);
      case ProgramKind::deep:
        return launch_kind<Op, ProgramKind::deep>(op, part, rows, stream);
      case ProgramKind::copy:
        break;  // KeepBits
    }
  }
}

#define VR_LAUNCH_PROGRAM(...)                                                 \
  template void launch_program(const __VA_ARGS__& op, const ProgramPart& part, \
                               const FoldRows& rows, Stream stream);

}  // namespace vranks::cuda
