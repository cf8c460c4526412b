// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How far our result and a real library's may be apart, and how far they are. Both combine the same
// numbers, in different orders, and the library rounds to the dtype at every step.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "collectives/exact.hpp"

namespace vranks {

// What every element of the result has to keep to. Bounds are for any order of R - 1 combines: a
// sum is off by (R - 1) * u * sum|x| at most (Jeannerod and Rump, "Improved error bounds for inner
// products in floating-point arithmetic", 2013), a product by the factor (1 + u)^(R - 1).
struct AgreementBound {
  // |ours - theirs| may be that much; 0: they are equal (-0 and +0 are). Negative: not compared,
  // for the library's answer depends on its order beyond rounding, as `left_out` says.
  std::vector<double> most;
  std::string rule;      // of the elements that are compared, in words
  std::string left_out;  // why elements are not compared; empty if none can be
};

// The bound for `in`, which holds all ranks (CPU memory). Throws not_supported for complex dtypes
// and for floats with another op than sum, mean, prod, min and max. `is_exact_data`: any order is
// exact on it (fill_whole_numbers), so that floats have to be equal too.
AgreementBound agreement_bound(const Problem& problem, const Rows& in, bool is_exact_data);

// Compares elements of `dtype`; `most` has their number. `compared` leaves out those with a
// negative bound; ULPs are those of the larger of both numbers; `worst_y` is ours, `worst_exact`
// theirs.
Deviation deviation_between(DType dtype, const std::byte* ours, const std::byte* theirs,
                            std::span<const double> most);

// What two processes found, together.
Deviation merged(const Deviation& a, const Deviation& b);

// Whether what was found is agreement: something was compared, or nothing is there.
inline bool is_agreement(const Deviation& found, std::int64_t elements) {
  return found.over_bound == 0 && (found.compared > 0 || elements == 0);
}

}  // namespace vranks
