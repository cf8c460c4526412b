// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns the folds of a schedule into one pass over memory: the code of each different fold, and
// where in the tensors it applies.
#pragma once

#include "collectives/interpreters/interpret.hpp"
#include "collectives/layout.hpp"
#include "kernels/fold_program.hpp"

namespace vranks {

struct FusedProgram {
  FoldProgram program;
  // Whether some columns are read by pieces other than the one that writes them, because ranks
  // differ in what they compute: in place, the input has to be copied first.
  bool rereads = false;
};

// Columns of the program are elements of the input rows and of the output rows. Throws
// not_supported if an output is unwritten or made of another chunk than its own: such a schedule
// can only be run step by step (verify() says what is wrong with it).
FusedProgram make_fold_program(const Folds& all, const ScheduleShape& shape, const Layout& layout,
                               const Arithmetic& rules);

// Adds what one group does to a program of several: its input rows are those from `first_row` on,
// its output rows those from `first_out_row` on. Throws not_supported if the code gets too long.
void append_group(FoldProgram& to, const FoldProgram& group, std::int32_t first_row,
                  std::int32_t first_out_row);

}  // namespace vranks
