// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The data that `vranks run` works on: random, or from a file.
#pragma once

#include <cstdint>
#include <string>

#include "cli/options.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

struct RunInput {
  Tensor tensor;
  // Of elements of no dtype: their bytes, which the last dimension counts as u8.
  std::int64_t opaque_bytes = 0;
};

// Whose fault a refused tensor is: "input", or the file's name.
std::string input_name(const ProblemOptions& options);

// Throws as load_npy, and bad_argument for a dtype that isn't the file's. `ranks`: of random data
// without a shape; 0: not said. A barrier's input has no elements.
RunInput make_input(const ProblemOptions& options, std::int64_t ranks);

}  // namespace vranks::cli
