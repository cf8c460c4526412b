// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns the steps of a schedule into the lanes of a program.
#pragma once

#include <optional>

#include "collectives/program.hpp"
#include "collectives/schedule.hpp"

namespace vranks {

// Each rank gets a lane for what it does alone (if there is anything), and for every other rank
// that it deals with one that sends to it and one that receives from it; all on channel 0. A lane
// keeps the order of the steps. An instruction waits for those of other lanes that have to touch
// its chunks before it: the write that it reads, the reads and writes that it must not overtake. If
// ranks take turns, what one does in a step waits for all that it did in the last step before in
// which it had anything to do.
//
// A step reads before it writes. Where waiting can't give that order (two chunks of a rank that
// change places), an operand is first copied to an additional scratch chunk and read from there.
//
// At depth 1 or more the program never blocks. At depth 0 it does where ranks overwrite, in one
// step, what they send to one another: a receive waits for its rank's own send, and no send ends
// before it is received.
//
// With a symmetry, which has to be one of the schedule, the program has its leaders only.
Program lower(const Schedule& schedule, bool takes_turns = false,
              const std::optional<Symmetry>& symmetry = {});

}  // namespace vranks
