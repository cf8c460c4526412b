// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a program into a schedule: the way back from lower.hpp.
#pragma once

#include "collectives/interpreters/progress.hpp"
#include "collectives/program.hpp"
#include "collectives/schedule.hpp"

namespace vranks {

// The schedule that does what the program does: all outputs have the same folds. Each transfer is
// in the earliest step that what it depends on allows. What a program holds in messages and a
// schedule can't (a reduced value that is sent and not stored, a message whose source is
// overwritten before it is received) goes to additional scratch chunks.
//
// Throws bad_argument, with the first findings, unless every message has one sender and one
// receiver, no lane waits for ever at that depth, and no two lanes race.
Schedule linearize(const Program& program, std::int32_t depth = default_depth);

}  // namespace vranks
