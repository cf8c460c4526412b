// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/dtype.hpp"

#include "ranks/names.hpp"

namespace vranks {

namespace {
constexpr DTypeInfo table[] = {
#define X(id, name, type, kind, npy, aliases) \
  {DType::id, name, sizeof(type), DTypeKind::kind, npy, aliases},
    VR_DTYPES(X)
#undef X
};
}  // namespace

std::span<const DTypeInfo> dtypes() { return table; }

const DTypeInfo& info(DType dtype) { return table[static_cast<std::size_t>(dtype)]; }

DType parse_dtype(std::string_view text) { return find_by_name(dtypes(), text, "dtype").dtype; }

}  // namespace vranks
