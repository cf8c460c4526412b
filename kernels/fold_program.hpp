// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Any fold over ranks as straight-line code, and where in the tensors it applies: what the fused
// executor hands to a backend. Kernels know rows and columns, no schedules.
//
// The code of a fold is that of a stack machine. Deeper operands come first, so that the stack
// never holds more than log2(R) + 1 values; a linear order needs one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/arithmetic_rules.hpp"

namespace vranks {

enum class FoldAction : std::uint8_t {
  load,        // push x[row]
  leaf_right,  // top = op(top, x[row])
  leaf_left,   // top = op(x[row], top)
  merge,       // right = pop, left = pop, push op(left, right)
  merge_swap,  // left = pop, right = pop, push op(left, right)
  fill,        // the only step of a piece that reads nothing: its output is FoldProgram::filling
  store,       // out[row] = top, which stays: the results on the way of a running fold
};

struct FoldStep {
  std::int32_t row = 0;  // of the input, with `store` of the output; unused by merges and fill
  FoldAction action = FoldAction::load;
  bool own = false;  // the rank that combines holds x[row]; see Fuse

  bool operator==(const FoldStep&) const = default;
};

// Columns [begin, end) of the input rows are folded by `length` steps of the code from `code` on;
// the result goes to `out_rows` rows of the output from `out_row` on, columns from `out_begin` on.
// One step, a load: the bits are copied, nothing is computed, unless Arithmetic::computes_alone.
// Code with `store` steps has out_rows 0: it is load, leaf_right and store steps only.
struct FoldPiece {
  std::int64_t begin = 0, end = 0;
  std::int64_t out_begin = 0;
  std::int64_t origin = 0;  // input column that position rules count from
  std::int32_t code = 0, length = 0;
  std::int32_t out_row = 0, out_rows = 1;
  std::int32_t first_row = 0;  // the input row that min_loc and max_loc call rank 0

  bool operator==(const FoldPiece&) const = default;
};

struct FoldProgram {
  Arithmetic arithmetic;
  std::vector<FoldStep> code;
  std::vector<FoldPiece> pieces;  // none empty
  std::int32_t stack = 1;         // most values that the code holds at a time
  // The element (its first size_bytes(dtype) bytes) that `fill` writes; and with min_loc and
  // max_loc the rank that no rank is.
  std::array<std::byte, 16> filling = {};
  static constexpr std::int32_t no_rank = -1;
};

// Where the rows of a tensor lie: at equal distances, or each for itself.
struct RowAddresses {
  std::byte* data = nullptr;
  std::int64_t stride_bytes = 0;
  std::span<std::byte* const> table = {};  // one pointer a row, in host memory; empty: see above

  bool exist() const { return data != nullptr || !table.empty(); }
  std::byte* row(std::int64_t r) const {
    return table.empty() ? data + r * stride_bytes : table[static_cast<std::size_t>(r)];
  }
};

// The tensors of one run.
struct FoldRows {
  RowAddresses in;  // only read
  RowAddresses out;
  RowAddresses ranks =
      {};  // of min_loc and max_loc: i32, the row that holds the result, counted from first_row
};

}  // namespace vranks
