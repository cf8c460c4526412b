// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Reduction ops and the policies that choose among their defensible meanings.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ranks/dtype.hpp"

namespace vranks {

// name, other names that users type, kinds of dtypes that it is for, what it computes over the
// ranks of a group. Kinds: f floating, i integers, b bool, c complex.
#define VR_REDUCE_OPS(X)                                                                     \
  X(sum, "", "fibc", "x0 + x1 + ...; integers wrap modulo 2^bits; bool: or")                 \
  X(mean, "avg average", "fic", "sum / ranks; never overflows; integers exact, truncated")   \
  X(prod, "product", "fibc", "x0 * x1 * ...; integers wrap modulo 2^bits; bool: and")        \
  X(min, "minimum", "fib", "smallest; -0 < +0; NaN by policy")                               \
  X(max, "maximum", "fib", "largest; -0 < +0; NaN by policy")                                \
  X(premul_sum, "", "fic", "f x0 + f x1 + ... with the factor f, rounded to the dtype")      \
  X(weighted_mean, "", "fc", "(w0 x0 + w1 x1 + ...) / (w0 + w1 + ...) with a weight a rank") \
  X(band, "bitwise_and", "ib", "bits that are set in all")                                   \
  X(bor, "bitwise_or", "ib", "bits that are set in any")                                     \
  X(bxor, "bitwise_xor", "ib", "bits that are set in an odd number")                         \
  X(land, "logical_and all", "ib", "1 if none is 0, else 0")                                 \
  X(lor, "logical_or any", "ib", "1 if one isn't 0, else 0")                                 \
  X(lxor, "logical_xor", "ib", "1 if an odd number isn't 0, else 0")                         \
  X(min_loc, "minloc argmin", "fib", "min, and the lowest rank that holds it")               \
  X(max_loc, "maxloc argmax", "fib", "max, and the lowest rank that holds it")               \
  X(log_sum_exp, "logsumexp", "f", "log(exp(x0) + exp(x1) + ...), without overflow")

enum class ReduceOp : std::uint8_t {
#define X(name, aliases, kinds, meaning) name,
  VR_REDUCE_OPS(X)
#undef X
};

struct ReduceOpInfo {
  ReduceOp op;
  std::string_view name;
  std::string_view aliases;
  std::string_view kinds;  // of dtypes, as in VR_REDUCE_OPS
  std::string_view meaning;
};

std::span<const ReduceOpInfo> reduce_ops();
std::string_view name(ReduceOp op);

// The op called `text` (name or alias). Throws bad_argument with the list of names otherwise.
ReduceOp parse_reduce_op(std::string_view text);

// Whether the op means something for elements of that dtype.
bool supports(ReduceOp op, DType dtype);
// Throws not_supported, naming op, dtype and the dtypes it is for, unless supports().
void check_supported(ReduceOp op, DType dtype);

// Ops that order values: their results are inputs, and NaN is a matter of policy.
constexpr bool is_ordered(ReduceOp op) {
  return op == ReduceOp::min || op == ReduceOp::max || op == ReduceOp::min_loc ||
         op == ReduceOp::max_loc;
}
// Ops that also tell the rank that holds the result.
constexpr bool finds_rank(ReduceOp op) {
  return op == ReduceOp::min_loc || op == ReduceOp::max_loc;
}

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
