// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Means of the balanced tree whose sum left the carried type, formed again from scaled inputs: what
// the tree kernels do on the fly, for results that came step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ranks/dtype.hpp"

namespace vranks {

// out[i], element `first + i` of the rows `in`, is replaced where it isn't finite. Host memory.
void rescue_means(std::span<const std::byte* const> in, DType dtype, std::int64_t first,
                  std::byte* out, std::int64_t elements);

}  // namespace vranks
