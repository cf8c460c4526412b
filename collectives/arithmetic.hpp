// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// From what a caller asks for to the rules of one call's arithmetic.
#pragma once

#include <optional>

#include "collectives/algorithm.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks {

// What callers may choose; empty: as the algorithm does it.
struct Policies {
  std::optional<Accumulate> accumulate = {};
  std::optional<MeanMode> mean = {};
  std::optional<NanPolicy> nan = {};

  bool operator==(const Policies&) const = default;
};

// The rules that `selection` follows for that problem. Throws bad_argument for a policy that makes
// no sense with its op and dtype (f32 for f64 tensors, a mean policy without a mean, ...).
Arithmetic resolve(const Problem& problem, const Selection& selection, const Policies& policies);

// Whether the kernels' TreeFold, which is faster and recomputes means that overflow, does what
// these rules say.
bool is_tree_fold(const Algorithm& algorithm, const Arithmetic& rules);

}  // namespace vranks
