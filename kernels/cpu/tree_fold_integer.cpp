// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The tree fold of the integer types. Two files, so that they compile side by side.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tree_fold_integer.cpp"
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
      return run_task<ar::IntegerSum<T>>(task);
    case ReduceOp::mean:
      return run_task<ar::IntegerMean<T>>(task);
    case ReduceOp::prod:
      return run_task<ar::IntegerProduct<T>>(task);
    case ReduceOp::min:
    case ReduceOp::max:
      return run_task<ar::MinMax<T>>(task);
    default:
      return;
  }
}

void run_integer(const TileTask& task) {
  visit(task.fold.dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) run_op<T>(task);
  });
}

}  // namespace vranks::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vranks::cpu {

HWY_EXPORT(run_integer);

void run_integer_task(const TileTask& task) { HWY_DYNAMIC_DISPATCH(run_integer)(task); }

}  // namespace vranks::cpu
#endif
