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

#include "kernels/cpu/fold_program-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vranks::cpu::HWY_NAMESPACE {

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

HWY_EXPORT(run_vector_op);

void run_vector_task(const ProgramTask& task) { HWY_DYNAMIC_DISPATCH(run_vector_op)(task); }

}  // namespace vranks::cpu
#endif
