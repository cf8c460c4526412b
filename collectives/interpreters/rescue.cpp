// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/rescue.hpp"

#include "kernels/arithmetic.hpp"

namespace vranks {

void rescue_means(const Rows& in, DType dtype, std::int64_t first, std::byte* out,
                  std::int64_t elements) {
  using namespace arithmetic;
  visit(dtype, [&]<class T>() {
    if constexpr (is_float<T>) {
      TreeFold fold;
      fold.op = ReduceOp::mean;
      fold.ranks = in.ranks;
      const auto op = FloatSum<T>::of(fold);
      const auto* column = reinterpret_cast<const T*>(in.data) + first;
      auto* result = reinterpret_cast<T*>(out);
      const std::int64_t stride = in.stride_bytes / static_cast<std::int64_t>(sizeof(T));
      for (std::int64_t i = 0; i < elements; ++i)
        if (!is_finite(widen(result[i])))
          result[i] = mean_of_scaled(op, column + i, stride, in.ranks);
    }
  });
}

}  // namespace vranks
