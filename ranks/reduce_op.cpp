// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/reduce_op.hpp"

#include "ranks/names.hpp"

namespace vranks {

namespace {
constexpr ReduceOpInfo op_table[] = {
#define X(name, aliases, kinds, meaning) {ReduceOp::name, #name, aliases, kinds, meaning},
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

bool supports(ReduceOp op, DType dtype) {
  const std::string_view kinds = op_table[static_cast<std::size_t>(op)].kinds;
  const auto has_kind = [&](char kind) { return kinds.find(kind) != std::string_view::npos; };
  switch (info(dtype).kind) {
    case DTypeKind::floating:
      return has_kind('f');
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      return has_kind('i');
    case DTypeKind::boolean:
      return has_kind('b');
    case DTypeKind::complex:
      return has_kind('c');
  }
  return false;
}

void check_supported(ReduceOp op, DType dtype) {
  if (supports(op, dtype)) return;
  std::string those;
  for (const DTypeInfo& row : dtypes())
    if (supports(op, row.dtype)) (those += those.empty() ? "" : " ") += row.name;
  throw Error(ErrorKind::not_supported, "op " + std::string(name(op)) + " is not for dtype " +
                                            std::string(name(dtype)) + ", only for " + those);
}

std::span<const NanPolicyInfo> nan_policies() { return nan_table; }
std::string_view name(NanPolicy policy) { return nan_table[static_cast<std::size_t>(policy)].name; }
NanPolicy parse_nan_policy(std::string_view text) {
  return find_by_name(nan_policies(), text, "NaN policy").policy;
}

}  // namespace vranks
