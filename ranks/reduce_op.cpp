// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/reduce_op.hpp"

#include "ranks/names.hpp"

namespace vranks {

namespace {
constexpr ReduceOpInfo op_table[] = {
#define X(name, aliases, meaning) {ReduceOp::name, #name, aliases, meaning},
    VR_REDUCE_OPS(X)
#undef X
};

constexpr NanPolicyInfo nan_table[] = {{NanPolicy::propagate, "propagate", ""},
                                       {NanPolicy::ignore, "ignore", ""}};
}  // namespace

std::span<const ReduceOpInfo> reduce_ops() { return op_table; }
std::string_view name(ReduceOp op) { return op_table[static_cast<std::size_t>(op)].name; }
ReduceOp parse_reduce_op(std::string_view text) {
  return find_by_name(reduce_ops(), text, "op").op;
}

std::span<const NanPolicyInfo> nan_policies() { return nan_table; }
std::string_view name(NanPolicy policy) { return nan_table[static_cast<std::size_t>(policy)].name; }
NanPolicy parse_nan_policy(std::string_view text) {
  return find_by_name(nan_policies(), text, "NaN policy").policy;
}

}  // namespace vranks
