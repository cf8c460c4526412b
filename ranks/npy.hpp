// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors in .npy files. A file that is loaded holds exactly one array of shape (R, ...); nothing
// is converted, guessed or left out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ranks/npy_header.hpp"
#include "ranks/output_file.hpp"
#include "ranks/tensor.hpp"

namespace vranks {

// Slices [first, first + count) of dimension 0: the ranks that one process holds.
struct RankRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// Told the bytes of elements that are done, of how many in all: every few MiB and at the end.
using Progress = std::function<void(std::int64_t done_bytes, std::int64_t total_bytes)>;

// The header of the file, checked against the file's size. Throws io if the file can't be opened,
// bad_input or not_supported if it is not what load_npy takes.
NpyHeader read_npy_header(const std::string& path);

// Loads all slices, or those of `ranks` alone. `dtype` says what raw bits are: bf16 for a file of
// uint16, f8e4m3 for one of uint8; any other disagreement with the file throws bad_argument, as
// does a range outside of [0, R]. Elements of another kind are loaded as NpyHeader describes them.
// No memory is taken before the file's size is known to fit its header. Throws as read_npy_header
// besides.
Tensor load_npy(const std::string& path, std::optional<DType> dtype = {},
                std::optional<RankRange> ranks = {}, const Progress& progress = {});

// Saves a contiguous CPU tensor, bf16 as uint16 bits and fp8 as uint8; with `opaque_bytes` u8 as
// elements of so many bytes, see NpyHeader. The file is replaced as a whole or, after an
// error, not at all (see OutputFile). Throws io if the system refuses, bad_argument or
// not_supported for another tensor. A tensor of shape () can be saved, but not loaded again.
void save_npy(const std::string& path, const TensorView& tensor, const Progress& progress = {},
              std::int64_t opaque_bytes = 0);

}  // namespace vranks
