// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What every collective must give, written down a second time as plainly as possible: where each
// element of an output comes from (origins_of), and what an op makes of a list of elements
// (combined). Exact values with a bound for floats, exact bits for everything else.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "collectives/collectives.hpp"
#include "tests/collectives/reference_numbers.hpp"

namespace vranks::plain {

// A call: R slices of `rows` rows of `row` elements, and the options that say what is meant.
struct Meaning {
  Collective collective = Collective::all_reduce;
  std::int64_t ranks = 1;
  std::int64_t rows = 0;  // d0; of a _v form only what its options say counts
  std::int64_t row = 1;   // elements of a slice for each of its first dimension
  DType dtype = DType::f32;
  CollectiveOptions options = {};

  Groups groups() const {
    if (!options.groups.empty()) return options.groups;
    Group all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return {all};
  }
};

// Ranks group[first] ... group[first + count - 1] each give their element `element`, in that order.
// No ranks: the identity of the op, or zeros. Group -1: nobody writes there.
struct Origin {
  std::int32_t group = -1;
  std::int32_t first = 0, count = 0;
  std::int64_t element = 0;
};
using Origins = std::vector<std::vector<Origin>>;  // [slice of the output][element]

// Where block `b` of `counts` starts, in rows.
inline std::int64_t block_start(const Counts& counts, const Counts& displacements, std::size_t b) {
  if (!displacements.empty()) return displacements[b];
  return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(b),
                         std::int64_t{0});
}

// Of row-major square matrices.
inline Counts matrix_row(const Counts& matrix, std::size_t ranks, std::size_t r) {
  if (matrix.empty()) return {};
  const auto begin = matrix.begin() + static_cast<std::ptrdiff_t>(r * ranks);
  return {begin, begin + static_cast<std::ptrdiff_t>(ranks)};
}
inline Counts matrix_column(const Counts& matrix, std::size_t ranks, std::size_t c) {
  Counts column;
  for (std::size_t r = 0; r < ranks; ++r) column.push_back(matrix[r * ranks + c]);
  return column;
}

// Rows of the input and the output slice of local rank r in a group of `size` ranks: those that the
// call needs.
struct SliceRows {
  std::int64_t in = 0, out = 0;
};
inline SliceRows slice_rows(const Meaning& meaning, std::size_t size, std::size_t r) {
  const CollectiveOptions& o = meaning.options;
  const auto needed = [](const Counts& counts, const Counts& displacements) {
    std::int64_t end = 0;
    for (std::size_t b = 0; b < counts.size(); ++b)
      if (counts[b] > 0) end = std::max(end, block_start(counts, displacements, b) + counts[b]);
    return end;
  };
  const auto g = static_cast<std::int64_t>(size);
  switch (meaning.collective) {
    case Collective::all_gather:
    case Collective::gather:
      return {meaning.rows, meaning.rows * g};
    case Collective::reduce_scatter:
    case Collective::scatter:
      return {meaning.rows, meaning.rows / g};
    case Collective::all_gather_v:
    case Collective::gather_v:
      return {o.counts[r], needed(o.counts, o.receive_displacements)};
    case Collective::reduce_scatter_v:
      return {needed(o.counts, {}), o.counts[r]};
    case Collective::scatter_v:
      return {needed(o.counts, o.send_displacements), o.counts[r]};
    case Collective::all_to_all_v:
      return {
          needed(matrix_row(o.counts, size, r), matrix_row(o.send_displacements, size, r)),
          needed(matrix_column(o.counts, size, r), matrix_row(o.receive_displacements, size, r))};
    default:
      return {meaning.rows, meaning.rows};
  }
}

// `out_rows`: of every slice of the output, in memory; at least what is needed.
inline Origins origins_of(const Meaning& meaning, const std::vector<std::int64_t>& out_rows) {
  const CollectiveOptions& o = meaning.options;
  const std::int64_t row = meaning.row;
  Origins origins;
  for (const std::int64_t rows : out_rows)
    origins.emplace_back(static_cast<std::size_t>(rows * row));
  const Groups groups = meaning.groups();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    const std::size_t size = group.size();
    const auto root = static_cast<std::size_t>(o.root);
    // `rows` rows from `to` on of local rank `r`'s output come from `from` on of the inputs of
    // `count` local ranks.
    const auto place = [&](std::size_t r, std::int64_t to, std::int64_t rows, std::size_t first,
                           std::size_t count, std::int64_t from) {
      auto& slice =
          origins[ends_at_root(meaning.collective) ? g : static_cast<std::size_t>(group[r])];
      for (std::int64_t i = 0; i < rows * row; ++i)
        slice[static_cast<std::size_t>(to * row + i)] = {
            static_cast<std::int32_t>(g), static_cast<std::int32_t>(first),
            static_cast<std::int32_t>(count), from * row + i};
    };
    const std::int64_t rows = meaning.rows;
    const std::int64_t block = rows / static_cast<std::int64_t>(size);
    const auto times = [](std::size_t index, std::int64_t length) {
      return static_cast<std::int64_t>(index) * length;
    };
    for (std::size_t r = 0; r < size; ++r) {
      const bool is_root = r == root;
      switch (meaning.collective) {
        case Collective::all_reduce:
          place(r, 0, rows, 0, size, 0);
          break;
        case Collective::reduce:
          if (is_root) place(r, 0, rows, 0, size, 0);
          break;
        case Collective::reduce_scatter:
          place(r, 0, block, 0, size, times(r, block));
          break;
        case Collective::reduce_scatter_v:
          place(r, 0, o.counts[r], 0, size, block_start(o.counts, {}, r));
          break;
        case Collective::scan:
          place(r, 0, rows, 0, r + 1, 0);
          break;
        case Collective::exscan:
          place(r, 0, rows, 0, r, 0);
          break;
        case Collective::broadcast:
          place(r, 0, rows, root, 1, 0);
          break;
        case Collective::all_gather:
        case Collective::gather:
          if (is_root || meaning.collective == Collective::all_gather)
            for (std::size_t s = 0; s < size; ++s) place(r, times(s, rows), rows, s, 1, 0);
          break;
        case Collective::all_gather_v:
        case Collective::gather_v:
          if (is_root || meaning.collective == Collective::all_gather_v)
            for (std::size_t s = 0; s < size; ++s)
              place(r, block_start(o.counts, o.receive_displacements, s), o.counts[s], s, 1, 0);
          break;
        case Collective::scatter:
          place(r, 0, block, root, 1, times(r, block));
          break;
        case Collective::scatter_v:
          place(r, 0, o.counts[r], root, 1, block_start(o.counts, o.send_displacements, r));
          break;
        case Collective::all_to_all:
          for (std::size_t s = 0; s < size; ++s)
            place(r, times(s, block), block, s, 1, times(r, block));
          break;
        case Collective::all_to_all_v:
          for (std::size_t s = 0; s < size; ++s)
            place(r,
                  block_start(matrix_column(o.counts, size, r),
                              matrix_row(o.receive_displacements, size, r), s),
                  o.counts[s * size + r], s, 1,
                  block_start(matrix_row(o.counts, size, s),
                              matrix_row(o.send_displacements, size, s), r));
          break;
        case Collective::permute:
          place(r, 0, rows, 0, 0, 0);
          for (const auto& [source, destination] : o.permutation)
            if (destination == static_cast<std::int64_t>(r))
              place(r, 0, rows, static_cast<std::size_t>(source), 1, 0);
          break;
        case Collective::barrier:
          break;
      }
    }
  }
  return origins;
}

}  // namespace vranks::plain
