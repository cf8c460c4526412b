// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/costs.hpp"

namespace vranks {

std::span<const CostInfo> cost_infos() {
  static constexpr CostInfo rows[] = {
#define X(name, quantity, value, meaning) \
  {#name, Quantity::quantity, value, meaning, &MessageCosts::name},
      VR_COSTS(X)
#undef X
  };
  return rows;
}

}  // namespace vranks
