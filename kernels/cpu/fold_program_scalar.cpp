// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Fold programs whose ops have no vector form, and the choice between the two kinds.
#undef HWY_TARGET_INCLUDE
#include "kernels/cpu/targets.hpp"
//
#include <cstring>

#include "kernels/cpu/fold_program-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vranks::cpu::HWY_NAMESPACE {

void copy_piece(const ProgramTask& task) {
  const FoldPiece& piece = task.piece;
  const auto width = static_cast<std::int64_t>(size_bytes(task.program->arithmetic.dtype));
  const FoldStep& step = task.program->code[static_cast<std::size_t>(piece.code)];
  const std::byte* from = task.rows.in + step.row * task.rows.in_stride_bytes + piece.begin * width;
  std::byte* to =
      task.rows.out + piece.out_row * task.rows.out_stride_bytes + piece.out_begin * width;
  for (std::int32_t r = 0; r < piece.out_rows; ++r, to += task.rows.out_stride_bytes)
    if (to != from)
      write_rows(from, (piece.end - piece.begin) * width, to, 0, 1, task.stream_stores);
}

}  // namespace vranks::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace vranks::cpu {

using namespace HWY_NAMESPACE;

void run_scalar_task(const ProgramTask& task) {
  const Arithmetic& rules = task.program->arithmetic;
  visit(rules.dtype, [&]<class T>() {
    ar::visit_hop<T>(rules, [&]<class Op>() {
      if constexpr (!in_vectors<Op>) run_program<Op>(task);
    });
  });
}

namespace {

bool has_vector_form(const Arithmetic& rules) {
  return visit(rules.dtype, [&]<class T>() {
    return ar::visit_hop<T>(rules, []<class Op>() { return in_vectors<Op>; });
  });
}

}  // namespace

void run(const ProgramTask& task) {
  if (task.piece.length == 1)
    copy_piece(task);
  else if (has_vector_form(task.program->arithmetic))
    run_vector_task(task);
  else
    run_scalar_task(task);
}

}  // namespace vranks::cpu
