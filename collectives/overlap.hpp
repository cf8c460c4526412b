// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether strided slices share memory.
#pragma once

#include "collectives/operand.hpp"

namespace vranks {

// Both throw bad_argument, naming the slices and how far apart they start, if two share a byte.
// Slices may lie between one another, as the columns of a matrix do. Strides so irregular that
// telling would take long count as sharing. `what` names the operands.

// Slices of one operand, which lie anywhere. Precondition: it isn't uniform.
void refuse_overlap_of_slices(const Operand& operand, const char* what);
// Any slice of the one with any of the other.
void refuse_overlap(const Operand& a, const char* a_what, const Operand& b, const char* b_what);

}  // namespace vranks
