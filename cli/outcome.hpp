// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What `vranks run` ran, what came out, and whether that is right.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "collectives/exact.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

struct Outcome {
  PlanKey key;
  Provenance provenance;
  std::string device_name;
  Tensor in;
  Tensor out;    // as the call writes it: slices as long as the longest
  Tensor ranks;  // that hold a minimum or maximum; of out's shape, or nothing
  // Of elements of no dtype: their bytes, which the last dimension of `in` and `out` counts.
  std::int64_t opaque_bytes = 0;

  // Rows of the output with the bits they should have: of copies those of the input, of an
  // all_reduce those of the first rank of the group.
  std::int64_t equal_rows = 0;
  ErrorBound bound;
  Deviation deviation;
  std::int64_t wrong_ranks = 0;  // elements of `ranks` that don't name the lowest holder
  std::vector<double> seconds;   // of each timed call, sorted

  const Problem& problem() const { return key.problem; }
  Collective collective() const { return key.problem.collective; }
  bool combines() const { return reduces(collective()); }
  // Whether rows of the output are of different lengths.
  bool is_ragged() const {
    return takes_counts(collective()) && even_form(collective()) != Collective::all_gather &&
           !ends_at_root(collective());
  }
  // Whether rank r holds what no other does, so that all ranks are of interest.
  bool is_spread() const {
    switch (even_form(collective())) {
      case Collective::all_reduce:
      case Collective::all_gather:
      case Collective::broadcast:
        return group_count(key) > 1;
      default:
        return !ends_at_root(collective()) || group_count(key) > 1;
    }
  }
  // Whether rows can be held against others: what ranks reduce for themselves alone can't.
  bool compares_rows() const { return !combines() || collective() == Collective::all_reduce; }
  std::int64_t rows() const {
    return ends_at_root(collective()) ? static_cast<std::int64_t>(group_count(key))
                                      : key.problem.ranks;
  }
  std::int64_t row_bytes() const { return out.bytes() / rows(); }
  std::int64_t element_bytes() const {
    const auto bytes = static_cast<std::int64_t>(size_bytes(key.problem.dtype));
    return std::max<std::int64_t>(opaque_bytes, 1) * bytes;
  }
  double median_seconds() const { return seconds[seconds.size() / 2]; }
  bool is_right() const {
    return deviation.over_bound == 0 && wrong_ranks == 0 && equal_rows == rows();
  }
};

// The ranks of group g, in its order.
Group members(const PlanKey& key, std::size_t group);

// Elements of each output row that the call fills, gaps between blocks included, in rank order.
std::vector<std::int64_t> row_lengths(const Outcome& outcome, Slot slot);

// A tensor of the output's shape as it is saved and shown: rows of different lengths one behind the
// other, without what only fills the shorter ones.
Tensor packed(const Outcome& outcome, const Tensor& tensor);

// What the call reads and writes, without what only fills shorter rows.
struct Traffic {
  std::int64_t read = 0, written = 0;  // bytes
};
Traffic traffic_of(const Outcome& outcome);

// Fills what says how right the result is.
void judge(Outcome& outcome);

}  // namespace vranks::cli
