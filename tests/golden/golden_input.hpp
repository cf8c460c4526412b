// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The input that the golden results were made from, and the hash that they are kept as. Both are
// defined in README.md, on bits alone, and use none of the library's conversions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace vranks::golden {

enum class InputKind : std::uint8_t {
  values,   // moderate numbers
  special,  // NaN, infinities, zeros, subnormals, largest values; all bit patterns of integers
};

// Bytes of an element of that dtype; 0 if there are no golden inputs of it.
std::size_t element_bytes(std::string_view dtype);

// Elements 0 to `elements` of ranks 0 to `ranks`, one rank after the other. Precondition: `data`
// has just so many bytes.
void make_input(std::string_view dtype, InputKind kind, std::int64_t ranks, std::int64_t elements,
                std::span<std::byte> data);

// FNV-1a, 64 bit.
std::uint64_t hash(std::span<const std::byte> data);

}  // namespace vranks::golden
