// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/bit_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace vranks {

AgreementBound order_bound(const Problem& problem, const Rows& in) {
  if (likeness_of_order(problem) == Likeness::bound) {
    constexpr bool is_exact_data = true;  // in one order everything is
    return agreement_bound(problem, in, is_exact_data);
  }
  AgreementBound bound;
  bound.most.assign(static_cast<std::size_t>(in.elements), 0);
  bound.rule = "equal bits (a NaN is a NaN)";
  return bound;
}

Likeness likeness_of_order(const Problem& problem) {
  return is_floating(problem.dtype) && !is_ordered(problem.op) ? Likeness::arithmetic
                                                               : Likeness::bound;
}

Deviation deviation_between(DType dtype, const std::byte* ours, const std::byte* theirs,
                            std::span<const double> most, Likeness likeness) {
  if (likeness == Likeness::bound) return deviation_between(dtype, ours, theirs, most);
  const std::size_t bytes = size_bytes(dtype);
  const std::int64_t parts = is_complex(dtype) ? 2 : 1;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Deviation found;
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (most[i] < 0) continue;
    ++found.compared;
    if (std::memcmp(ours + i * bytes, theirs + i * bytes, bytes) == 0) continue;
    const auto at = static_cast<std::int64_t>(i) * parts;
    double a = element_as_double(ours, at, dtype), b = element_as_double(theirs, at, dtype);
    if (likeness == Likeness::arithmetic && std::isnan(a) && std::isnan(b)) continue;
    if (parts == 2 && a == b) {  // then it is the imaginary part
      a = element_as_double(ours, at + 1, dtype);
      b = element_as_double(theirs, at + 1, dtype);
    }
    const double apart = std::isfinite(a - b) ? std::abs(a - b) : infinity;
    const double ulps =
        std::isfinite(apart) ? apart / ulp_at(std::max(std::abs(a), std::abs(b)), dtype) : infinity;
    ++found.different;
    ++found.over_bound;
    found.max_abs = std::max(found.max_abs, apart);
    found.max_ulp = std::max(found.max_ulp, ulps);
    found.max_bound_used = infinity;
    if (found.worst >= 0) continue;
    found.worst = static_cast<std::int64_t>(i);
    found.worst_y = a;
    found.worst_exact = b;
  }
  return found;
}

}  // namespace vranks
