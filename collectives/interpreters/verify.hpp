// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Proofs about schedules and programs: exact, for all sizes and data. What is wrong comes back as a
// list; nothing is thrown for a bad program.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/interpreters/finding.hpp"
#include "collectives/interpreters/interpret.hpp"
#include "collectives/interpreters/progress.hpp"
#include "collectives/program.hpp"
#include "collectives/schedule.hpp"

namespace vranks {

// Every output chunk holds what the collective says, each contribution once, and nothing is read
// before it is written.
Findings verify(const Schedule& schedule);
// With the folds of that schedule, where they are at hand.
Findings verify(const Schedule& schedule, const Folds& folds);

// The same for a program whose channels hold `depth` messages, and: each message that is sent is
// received with the same size; no lane waits for ever; what two lanes of a rank do to a chunk, one
// of them writing, has an order, which comes of lanes, waits and messages. (That a channel is full
// makes no order here: it would be gone with a larger one.) Throws bad_argument for a negative
// depth.
Findings verify(const Program& program, std::int32_t depth = default_depth);

// All of that but what the chunks hold.
Findings verify_order(const Program& program, std::int32_t depth = default_depth);

// Chunks that lanes touch in no order, among the instructions of `order`; see progress.hpp.
void check_races(const Program& program, const std::vector<std::int32_t>& sender_of,
                 const std::vector<Place>& order, Findings& findings);

// What a program computes, instruction by instruction of `order`. Precondition: all messages have
// the size that their receiver expects. `unwritten`: of a read of a chunk that nothing has written.
Folds interpret(const Program& program, const std::vector<Place>& order,
                const std::function<void(const Place&, const ChunkRef&)>& unwritten = {});

}  // namespace vranks
