// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/exact_judge.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/float_grid.hpp"

namespace vranks {

void note_deviation(Deviation& deviation, std::int64_t i, double y, double exact, double distance,
                    double ulps, double bound, double bound_used) {
  if (bound_used > 1) ++deviation.over_bound;
  deviation.max_abs = std::max(deviation.max_abs, distance);
  deviation.max_ulp = std::max(deviation.max_ulp, ulps);
  if (deviation.worst >= 0 && bound_used <= deviation.max_bound_used) return;
  deviation.max_bound_used = bound_used;
  deviation.worst = i;
  deviation.worst_y = y;
  deviation.worst_exact = exact;
  deviation.worst_bound = bound;
}

void judge_element(Deviation& deviation, std::int64_t i, double y, const Expected& expected,
                   const Problem& problem, bool is_narrowed) {
  const FloatGrid& grid = grid_of(problem.dtype);
  const double exact = expected.value.hi;
  double reference = nearest(expected.value, expected.shift, grid);
  if (std::isinf(reference) && !grid.has_infinity) reference = NAN;
  const bool is_reference = std::isnan(y)
                                ? std::isnan(reference)
                                : y == reference && std::signbit(y) == std::signbit(reference);
  if (!is_reference) ++deviation.different;

  if (!std::isfinite(exact) || !std::isfinite(y)) {
    // To the other side where the tolerance reaches as far.
    const bool has_sign = std::signbit(y) == std::signbit(exact) ||
                          expected.tolerance - std::abs(exact) >= expected.scaled(grid.largest);
    const bool is_overflow = (expected.may_overflow || std::isinf(exact)) &&
                             (grid.has_infinity ? std::isinf(y) && has_sign : std::isnan(y));
    const bool is_right = is_overflow || y == exact || (std::isnan(y) && std::isnan(exact));
    if (is_right) return;
    if (expected.may_become(expected.scaled(y)))
      ++deviation.unjudged;
    else
      note_deviation(deviation, i, y, expected.unscaled(exact), HUGE_VAL, HUGE_VAL, 0, HUGE_VAL);
    return;
  }
  const double distance = std::abs(expected.scaled(y) - exact - expected.value.lo);
  double bound = expected.tolerance;
  if (is_narrowed) bound += expected.scaled(ulp_at(y, problem.dtype)) / 2;
  if (distance > bound && expected.saturates && expected.may_become(expected.scaled(y))) {
    ++deviation.unjudged;
    return;
  }
  const int spacing = grid.spacing(exact == 0 ? grid.lowest : std::ilogb(exact) + expected.shift);
  // Below the smallest double nothing can be told, nor does it matter.
  if (expected.unscaled(distance) != 0)
    note_deviation(deviation, i, y, expected.unscaled(exact), expected.unscaled(distance),
                   std::ldexp(distance, expected.shift - spacing), expected.unscaled(bound),
                   bound > 0 ? distance / bound : HUGE_VAL);
  else if (!is_reference && is_ordered(problem.op))
    ++deviation.over_bound;  // -0 < +0 is a rule there
}

void add_part(Deviation& all, const Deviation& part) {
  const Deviation before = all;
  const bool is_worse =
      part.worst >= 0 && (all.worst < 0 || part.max_bound_used > all.max_bound_used);
  if (is_worse) all = part;
  all.compared = before.compared + part.compared;
  all.different = before.different + part.different;
  all.over_bound = before.over_bound + part.over_bound;
  all.unjudged = before.unjudged + part.unjudged;
  all.max_abs = std::max(before.max_abs, part.max_abs);
  all.max_ulp = std::max(before.max_ulp, part.max_ulp);
}

}  // namespace vranks
