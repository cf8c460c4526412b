// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Any fold over ranks as straight-line code, and where in the tensors it applies: what the fused
// executor hands to a backend. Kernels know rows and columns, no schedules.
//
// The code of a fold is that of a stack machine. Deeper operands come first, so that the stack
// never holds more than log2(R) + 1 values; a linear order needs one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/arithmetic_rules.hpp"

namespace vranks {

enum class FoldAction : std::uint8_t {
  load,        // push x[row]
  leaf_right,  // top = op(top, x[row])
  leaf_left,   // top = op(x[row], top)
  merge,       // right = pop, left = pop, push op(left, right)
  merge_swap,  // left = pop, right = pop, push op(left, right)
};

struct FoldStep {
  std::int32_t row = 0;  // of the input; unused by merges
  FoldAction action = FoldAction::load;
  bool own = false;  // the rank that combines holds x[row]; see Fuse

  bool operator==(const FoldStep&) const = default;
};

// Columns [begin, end) of the input rows are folded by `length` steps of the code from `code` on;
// the result goes to `out_rows` rows of the output from `out_row` on, columns from `out_begin` on.
// One step, a load: the bits are copied, nothing is computed.
struct FoldPiece {
  std::int64_t begin = 0, end = 0;
  std::int64_t out_begin = 0;
  std::int64_t origin = 0;  // input column that position rules count from
  std::int32_t code = 0, length = 0;
  std::int32_t out_row = 0, out_rows = 1;
  bool operator==(const FoldPiece&) const = default;
};

struct FoldProgram {
  Arithmetic arithmetic;
  std::vector<FoldStep> code;
  std::vector<FoldPiece> pieces;  // none empty
  std::int32_t stack = 1;         // most values that the code holds at a time
};

// The tensors of one run.
struct FoldRows {
  const std::byte* in = nullptr;
  std::int64_t in_stride_bytes = 0;
  std::byte* out = nullptr;
  std::int64_t out_stride_bytes = 0;
};

}  // namespace vranks
