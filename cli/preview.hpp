// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The elements of a tensor in CPU memory, for people and for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/report.hpp"
#include "ranks/dtype.hpp"
#include "ranks/shape.hpp"

namespace vranks::cli {

// The first and last rows and columns of a tensor of `shape`, each row behind its index:
// "[0, :]  0.5  -1.25  ...  3". What is left out shows as "..."; more is left out where lines would
// be longer than `width`. With `opaque_bytes` the last dimension counts the bytes of elements,
// which are shown in hexadecimal.
std::string preview(const std::byte* data, DType dtype, const Shape& shape,
                    std::size_t width = page_columns, std::int64_t opaque_bytes = 0);

// Elements first ... last - 1 of `data`, exact: integers as integers, floats as doubles, complex
// numbers as lists of two, truth values as such, opaque ones as hexadecimal digits.
List elements_of(const std::byte* data, DType dtype, std::int64_t first, std::int64_t last,
                 std::int64_t opaque_bytes = 0);

}  // namespace vranks::cli
