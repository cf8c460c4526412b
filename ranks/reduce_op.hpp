// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Reduction ops and the policies that choose among their defensible meanings.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vranks {

// name, other names that users type, what it computes over the ranks of a group
#define VR_REDUCE_OPS(X)                                                                        \
  X(sum, "", "x0 + x1 + ...; integers wrap modulo 2^bits")                                      \
  X(mean, "avg average", "sum / ranks; never overflows; integers exact, truncated toward zero") \
  X(prod, "product", "x0 * x1 * ...; integers wrap modulo 2^bits")                              \
  X(min, "minimum", "smallest; -0 < +0; NaN by policy")                                         \
  X(max, "maximum", "largest; -0 < +0; NaN by policy")

enum class ReduceOp : std::uint8_t {
#define X(name, aliases, meaning) name,
  VR_REDUCE_OPS(X)
#undef X
};

struct ReduceOpInfo {
  ReduceOp op;
  std::string_view name;
  std::string_view aliases;
  std::string_view meaning;
};

std::span<const ReduceOpInfo> reduce_ops();
std::string_view name(ReduceOp op);

// The op called `text` (name or alias). Throws bad_argument with the list of names otherwise.
ReduceOp parse_reduce_op(std::string_view text);

// What min and max make of a NaN. Other ops return NaN whenever arithmetic does.
enum class NanPolicy : std::uint8_t {
  propagate,  // any NaN gives NaN, whichever rank holds it
  ignore,     // NaN only if every rank holds one (C fmin/fmax)
};

struct NanPolicyInfo {
  NanPolicy policy;
  std::string_view name;
  std::string_view aliases;
};

std::span<const NanPolicyInfo> nan_policies();
std::string_view name(NanPolicy policy);
NanPolicy parse_nan_policy(std::string_view text);

}  // namespace vranks
