// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Custom ops of the tests, what they must give, and the calls that are tried.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "ranks/host_device.hpp"

namespace vranks::custom_ops {

// The number whose digits the ranks hold, modulo 2^64: associative, and different for every order.
struct Digits {
  using Element = std::uint64_t;
  struct Carried {
    std::uint64_t value, weight;
  };

  VR_HOST_DEVICE Carried lift(std::uint64_t x) const { return {x, 1000003}; }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const {
    return {a.value * b.weight + b.value, a.weight * b.weight};
  }
  VR_HOST_DEVICE std::uint64_t lower(Carried c) const { return c.value; }
  VR_HOST_DEVICE std::uint64_t identity() const { return 0; }
};

// Squares, scaled by a member.
struct ScaledSquares {
  using Element = float;
  using Carried = double;
  double scale = 1;

  VR_HOST_DEVICE double lift(float x) const { return scale * x * x; }
  VR_HOST_DEVICE double combine(double a, double b) const { return a + b; }
  VR_HOST_DEVICE float lower(double c) const { return static_cast<float>(c); }
};

inline std::uint64_t digit(std::int64_t rank, std::int64_t column) {
  return static_cast<std::uint64_t>(rank * 7919 + column * 104729 + 1);
}

// The number of the digits of ranks [0, ranks) in that column.
inline std::uint64_t number(std::int64_t ranks, std::int64_t column) {
  std::uint64_t value = 0;
  for (std::int64_t r = 0; r < ranks; ++r) value = value * 1000003 + digit(r, column);
  return value;
}

// Algorithms that combine lower ranks on the left of higher ones.
inline constexpr const char* rank_order[] = {"direct", "chain", "one_shot", "binomial_tree"};

// Calls run(collective, algorithm, in, out rows' elements) and checks what it returns against the
// digits. `run` gets R rows of n digits and returns as many.
template <class Run>
void expect_digits(const Run& run) {
  for (const std::int64_t ranks : {1, 2, 3, 5, 8, 17}) {
    for (const std::int64_t n : {1, 7, 1000}) {
      std::vector<std::uint64_t> in;
      for (std::int64_t r = 0; r < ranks; ++r)
        for (std::int64_t i = 0; i < n; ++i) in.push_back(digit(r, i));
      const auto check = [&](Collective collective, const char* algorithm, const auto& wanted) {
        SCOPED_TRACE(std::string(name(collective)) + " " + algorithm +
                     " R = " + std::to_string(ranks) + " n = " + std::to_string(n));
        const std::vector<std::uint64_t> out = run(collective, algorithm, ranks, n, in);
        for (std::int64_t r = 0; r < ranks; ++r)
          for (std::int64_t i = 0; i < n; ++i)
            ASSERT_EQ(out[static_cast<std::size_t>(r * n + i)], wanted(r, i))
                << "rank " << r << " column " << i;
      };
      for (const char* algorithm : rank_order)
        check(Collective::all_reduce, algorithm,
              [&](std::int64_t, std::int64_t i) { return number(ranks, i); });
      for (const char* algorithm : {"direct", "linear", "recursive_doubling"}) {
        check(Collective::scan, algorithm,
              [](std::int64_t r, std::int64_t i) { return number(r + 1, i); });
        check(Collective::exscan, algorithm,
              [](std::int64_t r, std::int64_t i) { return number(r, i); });
      }
    }
  }
}

}  // namespace vranks::custom_ops
