// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/units.hpp"

#include <gtest/gtest.h>

#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

TEST(Units, AllOfThem) {
  EXPECT_DOUBLE_EQ(parse_quantity(Quantity::time, "1.5 us", "x"), 1.5e-6);
  EXPECT_DOUBLE_EQ(parse_quantity(Quantity::time, "20ns", "x"), 20e-9);
  EXPECT_DOUBLE_EQ(parse_quantity(Quantity::time, "0", "x"), 0);
  EXPECT_DOUBLE_EQ(parse_quantity(Quantity::bandwidth, "100 Gbit/s", "x"), 12.5e9);
  EXPECT_DOUBLE_EQ(parse_quantity(Quantity::bandwidth, "2 GiB/s", "x"), 2147483648.0);
  EXPECT_DOUBLE_EQ(parse_quantity(Quantity::bytes, "512 KiB", "x"), 524288);
  EXPECT_DOUBLE_EQ(parse_quantity(Quantity::bytes, "512 kB", "x"), 512000);
  EXPECT_DOUBLE_EQ(parse_quantity(Quantity::ratio, "92 %", "x"), 0.92);
  EXPECT_DOUBLE_EQ(parse_quantity(Quantity::count, "8", "x"), 8);
  const auto bad = [](Quantity quantity, const char* text, const char* problem) {
    expect_error(ErrorKind::bad_argument, {"width", text, problem},
                 [&] { parse_quantity(quantity, text, "width"); });
  };
  bad(Quantity::bandwidth, "12", "has no unit");
  bad(Quantity::bandwidth, "12 GB", "unknown unit 'GB'");
  bad(Quantity::time, "1.5 µs", "unknown unit");
  bad(Quantity::time, "-1 us", "below 0");
  bad(Quantity::time, "fast", "no number");
  bad(Quantity::time, "1e999 s", "no number");
  bad(Quantity::time, "nan s", "no number");
  bad(Quantity::count, "8 x", "unknown unit 'x'");
  bad(Quantity::count, "2.5", "no whole number");
  bad(Quantity::count, "3000000000", "no whole number");
  bad(Quantity::bandwidth, "1e300 TB/s", "beyond");
  bad(Quantity::bandwidth, "1e-300 B/s", "beyond");
}

TEST(Units, WholeBytes) {
  EXPECT_EQ(parse_quantity(Quantity::bytes, "1.3 KiB", "x"), 1331);
  expect_error(ErrorKind::bad_argument, {"x", "0.2 B", "less than a byte"},
               [] { parse_quantity(Quantity::bytes, "0.2 B", "x"); });
}

TEST(Costs, SharesAreAtMostOne) {
  const CostInfo& cost = find_cost("link_efficiency");
  EXPECT_EQ(parse_cost(cost, "92 %", "x"), 0.92);
  EXPECT_EQ(parse_cost(cost, "1", "x"), 1);
  for (const char* text : {"0", "1.01", "200 %"})
    expect_error(ErrorKind::bad_argument, {"x", text, "no share", "at most 1"},
                 [&] { parse_cost(cost, text, "x"); });
  expect_error(ErrorKind::bad_argument, {"no cost 'slot'", "slots"}, [] { find_cost("slot"); });
}

}  // namespace
}  // namespace vranks
