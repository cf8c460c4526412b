// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// All that determines the right answer of a collective call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ranks/dtype.hpp"
#include "ranks/reduce_op.hpp"

namespace vranks {

// name, other names that users type, input shape -> output shape. R is the size of a group.
#define VR_COLLECTIVES(X)                                                                          \
  X(all_reduce, "allreduce", "(R, d0, ...) -> (R, d0, ...): every rank gets the result")           \
  X(reduce, "", "(R, d0, ...) -> (d0, ...): the root gets the result")                             \
  X(reduce_scatter, "reducescatter", "(R, d0, ...) -> (R, d0/R, ...): rank r gets block r")        \
  X(all_gather, "allgather", "(R, d0, ...) -> (R, R, d0, ...): every rank gets all slices")        \
  X(broadcast, "bcast", "(R, d0, ...) -> (R, d0, ...): every rank gets the root's slice")          \
  X(gather, "", "(R, d0, ...) -> (R, d0, ...): the root gets all slices")                          \
  X(scatter, "", "(R, d0, ...) -> (R, d0/R, ...): rank r gets block r of the root's slice")        \
  X(all_to_all, "alltoall",                                                                        \
    "(R, d0, ...) -> (R, d0, ...): block d of rank s is block s of rank d")                        \
  X(permute, "ppermute sendrecv", "(R, d0, ...) -> (R, d0, ...): one rank's slice, or zeros")      \
  X(scan, "", "(R, d0, ...) -> (R, d0, ...): rank r gets the result over ranks 0 to r")            \
  X(exscan, "", "(R, d0, ...) -> (R, d0, ...): over ranks 0 to r - 1; rank 0 the identity")        \
  X(barrier, "", "no data: every rank hears from every rank")                                      \
  X(reduce_scatter_v, "", "(R, sum, ...) -> (R, most, ...): rank r gets counts[r] of dimension 1") \
  X(all_gather_v, "allgatherv", "(R, most, ...) -> (R, sum, ...): counts[r] from rank r")          \
  X(gather_v, "gatherv", "(R, most, ...) -> (sum, ...): the root gets counts[r] from rank r")      \
  X(scatter_v, "scatterv", "(R, sum, ...) -> (R, most, ...): rank r gets counts[r] of the root's") \
  X(all_to_all_v, "alltoallv", "(R, most, ...) -> (R, most, ...): counts[s][d] from s to d")

enum class Collective : std::uint8_t {
#define X(name, aliases, meaning) name,
  VR_COLLECTIVES(X)
#undef X
};

struct CollectiveInfo {
  Collective collective;
  std::string_view name;
  std::string_view aliases;
  std::string_view meaning;
};

std::span<const CollectiveInfo> collectives();
std::string_view name(Collective collective);

// The collective called `text`. Throws bad_argument with the list of names otherwise.
Collective parse_collective(std::string_view text);

// Numbers of dimension 1, or of elements, that ranks send and receive.
using Counts = std::vector<std::int64_t>;

// All ranks of a problem are one group; how several groups make one call is a Plan's matter.
struct Problem {
  Collective collective = Collective::all_reduce;
  std::int64_t ranks = 1;
  // Of a rank's input; of the _v forms the sum of all counts.
  std::int64_t elements = 0;
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::mean;  // unless the collective only copies
  NanPolicy nan = NanPolicy::propagate;
  std::int64_t root = 0;  // of a rooted collective
  // Of the _v forms, in elements: of rank r's block, or, for all_to_all_v, of what rank s sends to
  // rank d at [s * R + d].
  Counts counts = {};
  // Where those blocks start in the row that holds several of them: of scatter_v and all_to_all_v
  // in the sender's, of gather_v, all_gather_v and all_to_all_v in the receiver's. Empty: one
  // behind the other.
  Counts send_displacements = {}, receive_displacements = {};
  // Of permute: for each rank the one whose slice it gets; -1: none.
  std::vector<std::int32_t> sources = {};
  double factor = 1;                 // of op premul_sum
  std::vector<double> weights = {};  // of op weighted_mean: one a rank

  // Equal problems have equal results: factors and weights 0 and -0 differ.
  bool operator==(const Problem& other) const;
};

// The collective whose schedules serve a _v form; any other is its own.
constexpr Collective even_form(Collective collective) {
  switch (collective) {
    case Collective::reduce_scatter_v:
      return Collective::reduce_scatter;
    case Collective::all_gather_v:
      return Collective::all_gather;
    case Collective::gather_v:
      return Collective::gather;
    case Collective::scatter_v:
      return Collective::scatter;
    case Collective::all_to_all_v:
      return Collective::all_to_all;
    default:
      return collective;
  }
}
constexpr bool takes_counts(Collective collective) { return even_form(collective) != collective; }

// Whether one rank, the root, plays a part of its own.
constexpr bool has_root(Collective collective) {
  switch (even_form(collective)) {
    case Collective::reduce:
    case Collective::broadcast:
    case Collective::gather:
    case Collective::scatter:
      return true;
    default:
      return false;
  }
}

// Whether only the root has an output.
constexpr bool ends_at_root(Collective collective) {
  return collective == Collective::reduce || even_form(collective) == Collective::gather;
}

// Whether the collective combines values; others only copy.
constexpr bool reduces(Collective collective) {
  switch (even_form(collective)) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
    case Collective::scan:
    case Collective::exscan:
      return true;
    default:
      return false;
  }
}

// Whether rank r's result is about ranks 0 to r only.
constexpr bool is_prefix(Collective collective) {
  return collective == Collective::scan || collective == Collective::exscan;
}

}  // namespace vranks
