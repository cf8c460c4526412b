// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/costs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ranks/error.hpp"
#include "simulator/units.hpp"

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

std::string cost_names() {
  std::string all;
  for (const CostInfo& each : cost_infos()) (all += all.empty() ? "" : " ") += each.name;
  return all;
}

const CostInfo& find_cost(std::string_view name) {
  const auto found = std::ranges::find(cost_infos(), name, &CostInfo::name);
  if (found == cost_infos().end())
    throw Error(ErrorKind::bad_argument,
                fmt::format("there is no cost '{}'; there are: {}", name, cost_names()));
  return *found;
}

double parse_cost(const CostInfo& cost, std::string_view text, std::string_view what) {
  const double value = parse_quantity(cost.quantity, text, what);
  if (cost.quantity == Quantity::ratio && !(value > 0 && value <= 1))
    throw Error(ErrorKind::bad_argument,
                fmt::format("{}: {} is no share; above 0 and at most 1 is right", what, text));
  return value;
}

}  // namespace vranks
