// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/rescue.hpp"

#include <vector>

#include "kernels/arithmetic.hpp"

namespace vranks {

void rescue_means(std::span<const std::byte* const> in, DType dtype, std::int64_t first,
                  std::byte* out, std::int64_t elements) {
  using namespace arithmetic;
  visit(dtype, [&]<class T>() {
    // The sum of 8-bit floats never leaves the range of what it is carried in.
    if constexpr (is_float<T> && sizeof(T) > 1) {
      TreeFold fold;
      fold.op = ReduceOp::mean;
      fold.ranks = static_cast<std::int64_t>(in.size());
      const auto op = FloatSum<T>::of(fold);
      auto* result = reinterpret_cast<T*>(out);
      std::vector<T> column(in.size());
      for (std::int64_t i = 0; i < elements; ++i) {
        if (is_finite(widen(result[i]))) continue;
        for (std::size_t r = 0; r < in.size(); ++r)
          column[r] = reinterpret_cast<const T*>(in[r])[first + i];
        result[i] = mean_of_scaled(op, column.data(), 1, fold.ranks);
      }
    }
  });
}

}  // namespace vranks
