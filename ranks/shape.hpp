// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes and strides: lists of 64-bit numbers, in elements. A shape (R, d0, d1, ...) holds R ranks
// with slices of shape (d0, d1, ...).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vranks {

using Shape = std::vector<std::int64_t>;
using Strides = std::vector<std::int64_t>;

// "(4, 16, 48)"; "(4,)" for one dimension, as numpy prints it.
std::string to_string(const Shape& shape);

// Reads "4,16,48". Throws bad_argument for anything but non-negative decimal numbers separated by
// commas, with at least one of them.
Shape parse_shape(std::string_view text);

// Product of the dimensions; 0 if one is 0. Throws bad_argument for a negative dimension, or when
// the product times `element_bytes` does not fit in 63 bits.
std::int64_t element_count(const Shape& shape, std::size_t element_bytes = 1);
// The same of some dimensions of a shape.
std::int64_t element_count(std::span<const std::int64_t> dimensions, std::size_t element_bytes);

// Strides of a C-contiguous tensor of that shape.
Strides contiguous_strides(const Shape& shape);

}  // namespace vranks
