// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Agreement where bits have to be equal: copies, and reductions in the same order.
#pragma once

#include <cstddef>
#include <span>

#include "collectives/peers/agreement.hpp"

namespace vranks {

// How two elements are held against each other.
enum class Likeness : std::uint8_t {
  bound,       // as numbers, within a bound
  arithmetic,  // equal bits, but any NaN is like any other: hardware makes more than one
  bits,        // equal bits
};

// What elements have to keep to where Open MPI combines `in` (all ranks, CPU memory) in the order
// of ours. Its vector code (op/avx) differs from its scalar code in corners, which are left out:
//   min, max         an input is NaN; -0 and +0 are equal
//   sum of 8 and 16-bit integers  sum|x| is over the largest one: it saturates
// Throws as agreement_bound().
AgreementBound order_bound(const Problem& problem, const Rows& in);

// How elements of that reduction in one order are compared.
Likeness likeness_of_order(const Problem& problem);

// As deviation_between(), which it is for Likeness::bound. Else any two elements that are not alike
// are over their bound, and the worst is the first of them. Elements of a complex dtype count once.
Deviation deviation_between(DType dtype, const std::byte* ours, const std::byte* theirs,
                            std::span<const double> most, Likeness likeness);

}  // namespace vranks
