// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The tree fold of the float types. Two files, so that they compile side by side.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tree_fold_float.cpp"
#include "kernels/cpu/targets.hpp"
// targets.hpp chooses what foreach_target makes, so it comes first.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/tree_fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vranks::cpu::HWY_NAMESPACE {

template <class T>
void run_op(const TileTask& task) {
  switch (task.fold.op) {
    case ReduceOp::sum:
    case ReduceOp::mean:
      return run_task<ar::FloatSum<T>>(task);
    case ReduceOp::prod:
      return run_task<ar::FloatProduct<T>>(task);
    case ReduceOp::min:
    case ReduceOp::max:
      return run_task<ar::MinMax<T>>(task);
    default:
      return;
  }
}

void run_float(const TileTask& task) {
  visit(task.fold.dtype, [&]<class T>() {
    if constexpr (ar::is_float<T> && sizeof(T) > 1) run_op<T>(task);
  });
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace vranks::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vranks::cpu {

HWY_EXPORT(run_float);

void run_float_task(const TileTask& task) { HWY_DYNAMIC_DISPATCH(run_float)(task); }

HWY_EXPORT(target_name);

const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace vranks::cpu
#endif
