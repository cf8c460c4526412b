// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Judging one element of a result against what is right for it, and adding up what was found.
#pragma once

#include <cmath>
#include <cstdint>

#include "collectives/exact.hpp"
#include "collectives/exact_expected.hpp"

namespace vranks {

// Element i came out as `y`, which is off by more than nothing. `ulps`: that distance in ULPs;
// `bound_used`: as a share of `bound`.
void note_deviation(Deviation& deviation, std::int64_t i, double y, double exact, double distance,
                    double ulps, double bound, double bound_used);

// A floating element. is_narrowed: the result was rounded to the problem's dtype behind the
// combining, which may be off by half a ULP more.
void judge_element(Deviation& deviation, std::int64_t i, double y, const Expected& expected,
                   const Problem& problem, bool is_narrowed);

template <class T>
void judge_integer(Deviation& deviation, std::int64_t i, T y, T expected) {
  if (y == expected) return;
  ++deviation.different;
  const double distance =
      std::abs(static_cast<double>(static_cast<Int128>(y) - static_cast<Int128>(expected)));
  note_deviation(deviation, i, static_cast<double>(y), static_cast<double>(expected), distance,
                 distance, 0, HUGE_VAL);
}

// Adds what was found in other elements; the worst of both stays.
void add_part(Deviation& all, const Deviation& part);

}  // namespace vranks
