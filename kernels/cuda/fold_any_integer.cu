// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/any_integer.hpp"
#include "kernels/cuda/fold.hpp"
#include "kernels/cuda/launch.cuh"

namespace vranks::cuda {

namespace {

// The carried type of width `bytes` with T's sign.
template <class T, int bytes>
using Carrier = std::conditional_t<
    bytes == 16, std::conditional_t<std::is_signed_v<T>, arithmetic::Int128, arithmetic::UInt128>,
    std::conditional_t<bytes == 8,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>>;

template <class T, int carried_bytes>
void run(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream) {
  launch_fold<AnyInteger<T, Carrier<T, carried_bytes>>, false>(fold, plan, workspace, stream);
}

}  // namespace

void fold_any_integer(const TreeFold& fold, const Plan& plan, Workspace workspace, Stream stream) {
  visit(fold.dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      if constexpr (sizeof(T) <= 2) {
        // 2^15 ranks of 16 bits sum to less than 2^31.
        if (fold.op != ReduceOp::mean || fold.ranks <= 1 << 15)
          return run<T, 4>(fold, plan, workspace, stream);
        return run<T, 8>(fold, plan, workspace, stream);
      } else {
        return run<T, 2 * sizeof(T)>(fold, plan, workspace, stream);
      }
    }
  });
}

}  // namespace vranks::cuda
