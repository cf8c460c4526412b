// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of public bug reports share.
#pragma once

#include <fmt/format.h>

#include "collectives/algorithm.hpp"
#include "elements.hpp"
#include "on_device.hpp"

namespace vranks {

template <class T>
std::vector<T> repeated(std::int64_t count, T value) {
  return std::vector<T>(static_cast<std::size_t>(count), value);
}

// Whether the algorithm can be had over that many ranks; some need an even number or a power of
// two.
inline bool takes(const Algorithm& algorithm, Collective collective, std::int64_t ranks,
                  ReduceOp op) {
  Problem problem{.collective = even_form(collective), .ranks = ranks, .op = op};
  if (collective == Collective::permute)
    problem.sources.assign(static_cast<std::size_t>(ranks), -1);
  try {
    const Selection selection = select(algorithm, problem, {});
    selection.algorithm->build(problem, selection.parameters);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_supported) << error.what();
    return false;
  }
}

// Calls f(options) for every algorithm that the collective has over R ranks with that op, with its
// defaults.
template <class F>
void for_each_algorithm(Collective collective, std::int64_t ranks, ReduceOp op, const F& f) {
  for (const Algorithm& algorithm : algorithms())
    if (supports(algorithm, collective) && takes(algorithm, collective, ranks, op)) {
      SCOPED_TRACE(fmt::format("{} {}", name(collective), algorithm.name));
      f(CollectiveOptions{.op = op, .algorithm = algorithm.name});
    }
}

}  // namespace vranks
