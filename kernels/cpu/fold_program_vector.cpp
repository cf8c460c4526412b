// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Fold programs whose ops have a vector form, compiled for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/fold_program_vector.cpp"
#include "kernels/cpu/targets.hpp"
// targets.hpp chooses what foreach_target makes, so it comes first.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernels/cpu/fold_program-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vranks::cpu::HWY_NAMESPACE {

void copy_piece(const ProgramTask& task) {
  const FoldPiece& piece = task.piece;
  const auto width = static_cast<std::int64_t>(size_bytes(task.program->arithmetic.dtype));
  const FoldStep& step = task.program->code[static_cast<std::size_t>(piece.code)];
  if (step.action == FoldAction::fill) {
    for (std::int32_t r = piece.out_row; r < piece.out_row + piece.out_rows; ++r) {
      std::byte* to = task.rows.out.row(r) + piece.out_begin * width;
      for (std::int64_t i = 0; i < piece.end - piece.begin; ++i)
        std::memcpy(to + i * width, task.program->filling.data(), static_cast<std::size_t>(width));
      if (finds_rank(task.program->arithmetic.op) && task.rows.ranks.exist())
        std::fill_n(reinterpret_cast<std::int32_t*>(task.rows.ranks.row(r)) + piece.out_begin,
                    piece.end - piece.begin, FoldProgram::no_rank);
    }
    return;
  }
  const std::byte* from = task.rows.in.row(step.row) + piece.begin * width;
  for (std::int32_t r = 0; r < piece.out_rows; ++r) {
    std::byte* to = task.rows.out.row(piece.out_row + r) + piece.out_begin * width;
    if (to != from)
      write_rows(from, (piece.end - piece.begin) * width, to, 0, 1, task.stream_stores);
  }
}

void run_vector_op(const ProgramTask& task) {
  const Arithmetic& rules = task.program->arithmetic;
  visit(rules.dtype, [&]<class T>() {
    if constexpr (ar::is_float<T>)
      ar::visit_hop<T>(rules, [&]<class Op>() {
        if constexpr (in_vectors<Op>) run_program<Op>(task);
      });
  });
}

}  // namespace vranks::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vranks::cpu {

HWY_EXPORT(copy_piece);

void run_copy_task(const ProgramTask& task) { HWY_DYNAMIC_DISPATCH(copy_piece)(task); }

HWY_EXPORT(run_vector_op);

void run_vector_task(const ProgramTask& task) { HWY_DYNAMIC_DISPATCH(run_vector_op)(task); }

}  // namespace vranks::cpu
#endif
