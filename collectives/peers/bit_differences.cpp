// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/bit_differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "collectives/exact.hpp"

namespace vranks {

namespace {

// Elements in which two stretches differ, and the first of them.
struct Found {
  std::int64_t different = 0;
  std::int64_t first = -1;
};

template <class Word>
Found find(std::int64_t elements, const std::byte* ours, const std::byte* theirs) {
  const auto at = [](const std::byte* data, std::int64_t i) {
    Word word;
    std::memcpy(&word, data + i * static_cast<std::int64_t>(sizeof(Word)), sizeof(Word));
    return word;
  };
  std::int64_t different = 0, first = elements;
#pragma omp parallel for schedule(static) reduction(+ : different) reduction(min : first)
  for (std::int64_t i = 0; i < elements; ++i)
    if (at(ours, i) != at(theirs, i)) {
      ++different;
      first = std::min(first, i);
    }
  return {different, different > 0 ? first : -1};
}

Found find(std::size_t bytes, std::int64_t elements, const std::byte* ours,
           const std::byte* theirs) {
  switch (bytes) {
    case 1:
      return find<std::uint8_t>(elements, ours, theirs);
    case 2:
      return find<std::uint16_t>(elements, ours, theirs);
    case 4:
      return find<std::uint32_t>(elements, ours, theirs);
    default:
      return find<std::uint64_t>(elements, ours, theirs);
  }
}

std::uint64_t bits_of(const std::byte* element, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, bytes);  // little endian, as all that has CUDA
  return bits;
}

}  // namespace

BitDifferences bit_differences(DType dtype, std::int64_t rows, std::int64_t elements,
                               const std::byte* ours, const std::byte* theirs) {
  const std::size_t bytes = size_bytes(dtype);
  const Found all = find(bytes, rows * elements, ours, theirs);
  BitDifferences found{.compared = rows * elements, .different = all.different};
  if (all.first < 0) return found;
  const std::size_t place = static_cast<std::size_t>(all.first) * bytes;
  found.row = all.first / elements;
  found.element = all.first % elements;
  found.ours = bits_of(ours + place, bytes);
  found.theirs = bits_of(theirs + place, bytes);
  found.our_value = element_as_double(ours, all.first, dtype);
  found.their_value = element_as_double(theirs, all.first, dtype);
  return found;
}

std::string first_difference_text(DType dtype, const BitDifferences& found,
                                  std::int64_t first_rank) {
  if (found.row < 0) return {};
  const auto digits = 2 * size_bytes(dtype);
  return fmt::format("rank {}, element {}: ours {:.9g} ({:0{}x}), theirs {:.9g} ({:0{}x})",
                     first_rank + found.row, found.element, found.our_value, found.ours, digits,
                     found.their_value, found.theirs, digits);
}

}  // namespace vranks
