// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One call, checked: its operands, slices in the order of the groups, and what is to be planned.
#pragma once

#include <span>

#include "collectives/aliasing.hpp"
#include "collectives/collectives.hpp"
#include "collectives/operand.hpp"

namespace vranks {

struct Call {
  Operand in, out;
  Operand ranks;  // where min_loc and max_loc tell ranks; may be nothing
  PlanKey key;
  Aliasing aliasing = Aliasing::apart;

  // Whether there is nothing to do.
  bool is_empty() const { return key.problem.elements == 0; }
};

// Throws as the calls of collectives.hpp.
Call make_call(Collective collective, const TensorView& in, const TensorView& out,
               const CollectiveOptions& options);
Call make_call(Collective collective, std::span<const TensorView> in,
               std::span<const TensorView> out, const CollectiveOptions& options);

// Runs it. With `prepare` the op is the caller's own; its plans are kept in `cache`, if there is
// one.
Provenance run_call(const Call& call, const CollectiveOptions& options, PlanCache* cache = nullptr,
                    const Prepare& prepare = {});

// The key of a problem over all ranks, whose rows come at equal distances.
PlanKey make_key(Problem problem, Device device, const CollectiveOptions& options);

}  // namespace vranks
