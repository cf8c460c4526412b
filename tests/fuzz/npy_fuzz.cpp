// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .npy file: the header parser accepts what fits or throws Error, nothing else.
// Built with clang -fsanitize=fuzzer, or with replay.cpp as its main().
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>

#include "ranks/error.hpp"
#include "ranks/npy_header.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto file_bytes = static_cast<std::int64_t>(size);
  try {
    const vranks::NpyHeader header = vranks::parse_npy_header(file, file_bytes, "fuzz.npy");
    const bool fits = !header.shape.empty() && header.data_offset + header.bytes() == file_bytes;
    if (!fits) std::abort();
  } catch (const vranks::Error&) {
  }
  // As the beginning of the largest file there is, so that claimed sizes come to be multiplied.
  try {
    vranks::parse_npy_header(file, std::numeric_limits<std::int64_t>::max(), "fuzz.npy");
  } catch (const vranks::Error&) {
  }
  return 0;
}
