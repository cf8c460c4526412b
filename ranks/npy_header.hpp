// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The header of a .npy file: 6 bytes of magic, 2 of version, the length, and a Python dictionary
// such as {'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), } padded with spaces.
// Format: numpy/lib/format.py, versions 1.0, 2.0 and 3.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ranks/dtype.hpp"
#include "ranks/shape.hpp"

namespace vranks {

struct NpyHeader {
  DType dtype = DType::f32;  // u16 for '<u2': the file does not say whether it holds bf16
  Shape shape;               // one dimension or more
  // Of elements of any other kind ('|V16', numpy's void): their bytes, which the last dimension
  // counts, as dtype u8. 0: elements of a dtype.
  std::int64_t opaque_bytes = 0;
  std::int64_t data_offset = 0;  // bytes from the start of the file to the first element

  std::int64_t bytes() const {
    return element_count(shape, size_bytes(dtype)) * static_cast<std::int64_t>(size_bytes(dtype));
  }
};

// No file needs more of its beginning than this to tell where its header ends.
inline constexpr std::int64_t npy_prefix_bytes = 12;

// Where the header ends, from the first npy_prefix_bytes of a file of `file_bytes` (all of a
// shorter file). `name` names the file in messages. Throws bad_input or not_supported.
std::int64_t npy_header_end(std::span<const std::byte> file_start, std::int64_t file_bytes,
                            const std::string& name);

// Reads the header of a file of `file_bytes`, of which `file_start` holds the beginning, at least
// up to the header's end. Promises that the elements fill the rest of the file exactly. Any bytes
// may be passed: what is no such header throws bad_input, what is one but holds something else
// than C-ordered little-endian elements of a dtype with a rank dimension throws not_supported.
NpyHeader parse_npy_header(std::span<const std::byte> file_start, std::int64_t file_bytes,
                           const std::string& name);

// The header of a C-ordered array, padded so that the elements begin at a multiple of 64 bytes:
// version 1.0, or 2.0 where the shape needs it. An empty shape is allowed. `opaque_bytes` as in
// NpyHeader; throws bad_argument where dtype and shape aren't as there.
std::string make_npy_header(DType dtype, const Shape& shape, std::int64_t opaque_bytes = 0);

}  // namespace vranks
