// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// All that determines the right answer of a collective call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ranks/dtype.hpp"
#include "ranks/reduce_op.hpp"

namespace vranks {

// name, other names that users type, input shape -> output shape
#define VR_COLLECTIVES(X)                                                                   \
  X(all_reduce, "allreduce", "(R, d0, ...) -> (R, d0, ...): every rank gets the result")    \
  X(reduce, "", "(R, d0, ...) -> (d0, ...): the root gets the result")                      \
  X(reduce_scatter, "reducescatter", "(R, d0, ...) -> (R, d0/R, ...): rank r gets block r") \
  X(all_gather, "allgather", "(R, d0, ...) -> (R, R, d0, ...): every rank gets all slices")

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

struct Problem {
  Collective collective = Collective::all_reduce;
  std::int64_t ranks = 1;
  std::int64_t elements = 0;  // of a rank's input
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::mean;  // unless the collective only copies
  NanPolicy nan = NanPolicy::propagate;
  std::int64_t root = 0;  // of a rooted collective

  bool operator==(const Problem&) const = default;
};

// Whether one rank, the root, plays a part of its own.
constexpr bool has_root(Collective collective) { return collective == Collective::reduce; }

// Whether the collective combines values; an all-gather only copies.
constexpr bool reduces(Collective collective) { return collective != Collective::all_gather; }

}  // namespace vranks
