// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Where two results that should be equal are not, bit for bit: NaNs are equal if their bits are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ranks/dtype.hpp"

namespace vranks {

struct BitDifferences {
  std::int64_t compared = 0;   // elements, of all rows
  std::int64_t different = 0;  // of them
  // The first, by row and then by element in the row; -1: there is none.
  std::int64_t row = -1, element = -1;
  std::uint64_t ours = 0, theirs = 0;  // its bits
  double our_value = 0, their_value = 0;
};

// Compares `rows` rows of `elements` elements each, one row behind the other, in CPU memory. Finds
// the same on any number of threads. Precondition: elements of up to 8 bytes.
BitDifferences bit_differences(DType dtype, std::int64_t rows, std::int64_t elements,
                               const std::byte* ours, const std::byte* theirs);

// "rank 3, element 17: ours 1.5 (3fc00000), theirs 1.25 (3fa00000)"; "" if there is none.
// `first_rank` is that of row 0.
std::string first_difference_text(DType dtype, const BitDifferences& found,
                                  std::int64_t first_rank = 0);

}  // namespace vranks
