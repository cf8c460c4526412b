// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a schedule on real data, step by step: the reference, slow and with every partial result in
// memory. Any schedule can be run, also one that computes something else than its collective.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/schedule.hpp"
#include "kernels/arithmetic_rules.hpp"
#include "kernels/fold_program.hpp"
#include "ranks/device.hpp"

namespace vranks {

// What one rank's slot holds, as elements of the tensor's dtype (partial means are sums still).
// Chunks that nothing has written yet have no bytes.
struct SlotState {
  std::int32_t rank = 0;
  Slot slot = Slot::output;
  std::int32_t index = 0;           // of the chunk
  std::vector<std::byte> elements;  // of the chunk, in order
};

// Told of the state after each step; step 0 is the first. `changed` holds the chunks that the step
// wrote.
using StepObserver = std::function<void(std::size_t step, const std::vector<SlotState>& changed)>;

// rows     R rows of the input; R rows of the output, or one where only the root has any
// filling  the element that fills outputs which no message brings (see ScheduleShape::fills_output)
// Memory lies on `device`. Returns when all is done; allocates, so that it is no call for a stream
// that is captured. Throws bad_argument if an operand is unwritten or chunks of different lengths
// are combined, naming step and transfer; not_available if the memory can't be had.
void execute_steps(const Schedule& schedule, const Layout& layout, const Arithmetic& rules,
                   const FoldRows& rows, std::span<const std::byte> filling, Device device,
                   const StepObserver& observer = {});

// Bytes that execute_steps allocates for partial results.
std::int64_t steps_memory_bytes(const Schedule& schedule, const Layout& layout,
                                const Arithmetic& rules);

}  // namespace vranks
