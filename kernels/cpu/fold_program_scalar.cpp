// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Fold programs whose ops have no vector form, and the choice between the two kinds.
#undef HWY_TARGET_INCLUDE
#include "kernels/cpu/targets.hpp"
//
#include <cstring>

#include "kernels/cpu/fold_program-inl.hpp"

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
  const FoldStep& first = task.program->code[static_cast<std::size_t>(task.piece.code)];
  if (task.piece.length == 1 &&
      (first.action == FoldAction::fill || !task.program->arithmetic.computes_alone))
    run_copy_task(task);
  else if (has_vector_form(task.program->arithmetic))
    run_vector_task(task);
  else
    run_scalar_task(task);
}

}  // namespace vranks::cpu
