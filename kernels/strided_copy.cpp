// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided_copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace vranks {

std::int64_t StridedCopy::elements() const {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

StridedCopy collapsed(const StridedCopy& copy) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < copy.extents.size(); ++d)
    if (copy.extents[d] != 1) order.push_back(d);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t d) { return std::abs(copy.to_strides[d]); });
  StridedCopy result{.from = copy.from, .to = copy.to, .element_bytes = copy.element_bytes};
  for (const std::size_t d : order) {
    const std::int64_t extent = copy.extents[d];
    const std::int64_t from = copy.from_strides[d], to = copy.to_strides[d];
    // One step of the dimension before is all of this one.
    if (!result.extents.empty() && result.from_strides.back() == from * extent &&
        result.to_strides.back() == to * extent) {
      result.extents.back() *= extent;
      result.from_strides.back() = from;
      result.to_strides.back() = to;
      continue;
    }
    result.extents.push_back(extent);
    result.from_strides.push_back(from);
    result.to_strides.push_back(to);
  }
  if (!result.extents.empty() && result.from_strides.back() == result.element_bytes &&
      result.to_strides.back() == result.element_bytes) {
    result.element_bytes *= result.extents.back();
    result.extents.pop_back();
    result.from_strides.pop_back();
    result.to_strides.pop_back();
  }
  return result;
}

}  // namespace vranks
