// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/hop.hpp"

#include "kernels/hop_arithmetic.hpp"

namespace vranks {

std::size_t carried_bytes(const Arithmetic& arithmetic) {
  return visit(arithmetic.dtype, [&]<class T>() {
    return arithmetic::visit_hop<T>(arithmetic,
                                    []<class Op>() { return sizeof(typename Op::Stored); });
  });
}

}  // namespace vranks
