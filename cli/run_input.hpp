// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The data that `vranks run` works on: random, or from a file.
#pragma once

#include <cstdint>
#include <string>

#include "cli/options.hpp"
#include "ranks/npy.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

struct RunInput {
  Tensor tensor;
  // Of elements of no dtype: their bytes, which the last dimension counts as u8.
  std::int64_t opaque_bytes = 0;
};

// Whose fault a refused tensor is: "input", or the file's name.
std::string input_name(const ProblemOptions& options);

// What the input of all ranks is, before any of it is made or read. Throws as make_input.
struct InputKind {
  Shape shape;
  DType dtype = DType::f32;
  std::int64_t opaque_bytes = 0;
};
InputKind input_kind(const ProblemOptions& options, std::int64_t ranks);
// Those ranks of it.
Tensor make_input_of(const ProblemOptions& options, const InputKind& kind, RankRange ranks);

// Throws as load_npy, and bad_argument for a dtype that isn't the file's. `ranks`: of random data
// without a shape; 0: not said. A barrier's input has no elements.
RunInput make_input(const ProblemOptions& options, std::int64_t ranks);

}  // namespace vranks::cli
