// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/measured.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ranks/error.hpp"

namespace vranks {
namespace {

const std::string header =
    "collective,machine,nranks,nnodes,algo,proto,size_bytes,time_us,source\n";

std::string error_of(const std::string& text) {
  try {
    parse_measured(text, "t.csv");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "";
}

TEST(Measured, ReadsRows) {
  const auto rows =
      parse_measured(header +
                         "all_reduce,\"8 GPUs, \"\"fast\"\"\",16,2,ring,LL,1024,12.5,\"a, b\"\r\n\n"
                         "alltoall,m,4,,,,8,,",
                     "t.csv");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].line, 2);
  EXPECT_EQ(rows[0].collective, "all_reduce");
  EXPECT_EQ(rows[0].machine, "8 GPUs, \"fast\"");
  EXPECT_EQ(rows[0].ranks, 16);
  EXPECT_EQ(rows[0].nodes, 2);
  EXPECT_EQ(rows[0].algorithm, "ring");
  EXPECT_EQ(rows[0].protocol, "LL");
  EXPECT_EQ(rows[0].bytes, 1024);
  EXPECT_DOUBLE_EQ(*rows[0].seconds, 12.5e-6);
  EXPECT_EQ(rows[0].source, "a, b");
  EXPECT_EQ(rows[1].line, 4);
  EXPECT_EQ(rows[1].nodes, 0);
  EXPECT_FALSE(rows[1].seconds);
}

TEST(Measured, TakesColumnsInAnyOrder) {
  const auto rows = parse_measured(
      "\xef\xbb\xbftime_us,size_bytes,comment,algo,nranks,machine,collective\n"
      "3,8,x,ring,2,m,all_reduce\n",
      "t.csv");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].machine, "m");
  EXPECT_EQ(rows[0].bytes, 8);
  EXPECT_EQ(rows[0].protocol, "");
}

TEST(Measured, NamesLineColumnAndRule) {
  const auto row = [](const std::string& text) { return error_of(header + text + "\n"); };
  EXPECT_EQ(error_of(""), "t.csv:1: no first line with the names of the columns");
  EXPECT_EQ(error_of("collective,machine\n"), "t.csv:1: no column 'nranks' in the first line");
  EXPECT_EQ(error_of("collective,machine,nranks,algo,size_bytes,time_us,algo\n"),
            "t.csv:1: two columns 'algo'");
  EXPECT_EQ(row("all_reduce,m,4"), "t.csv:2: 3 columns; the first line has 9");
  EXPECT_EQ(row("all_reduce,m,x,,ring,,8,1,"), "t.csv:2: nranks 'x' is no whole number");
  EXPECT_EQ(row("all_reduce,m,4.5,,ring,,8,1,"), "t.csv:2: nranks '4.5' is no whole number");
  EXPECT_EQ(row("all_reduce,m,0,,ring,,8,1,"), "t.csv:2: nranks 0 is below 1");
  EXPECT_EQ(row("all_reduce,m,2147483648,,ring,,8,1,"),
            "t.csv:2: nranks '2147483648' is too large");
  EXPECT_EQ(row("all_reduce,m,4,0,ring,,8,1,"), "t.csv:2: nnodes 0 is below 1");
  EXPECT_EQ(row("all_reduce,m,4,,ring,,-8,1,"), "t.csv:2: size_bytes -8 is below 0");
  EXPECT_EQ(row("all_reduce,m,4,,ring,,,1,"), "t.csv:2: size_bytes '' is no whole number");
  EXPECT_EQ(row("all_reduce,m,4,,ring,,8,0,"), "t.csv:2: time_us is 0: it must be above");
  EXPECT_EQ(row("all_reduce,m,4,,ring,,8,1e-308,"),
            "t.csv:2: time_us '1e-308' is no call's time: 1e-6 to 1e15 is right");
  EXPECT_EQ(row("all_reduce,m,4,,ring,,8,-1,"), "t.csv:2: time_us -1 is below 0");
  EXPECT_EQ(row("all_reduce,m,4,,ring,,8,nan,"), "t.csv:2: time_us 'nan' is no number");
  EXPECT_EQ(row("all_reduce,m,4,,ring,,8,inf,"), "t.csv:2: time_us 'inf' is too large");
  EXPECT_EQ(row("all_reduce,m,4,,ring,,8,1 us,"), "t.csv:2: time_us '1 us' is no number");
  EXPECT_EQ(row("all_reduce,\"m,4"), "t.csv:2: column 2: a quote that its line doesn't close");
  EXPECT_EQ(row("all_reduce,\"m\"x,4"), "t.csv:2: column 2: text behind the closing quote");
  EXPECT_EQ(row("all_reduce,m\"x\",4"),
            "t.csv:2: column 2: a quote inside a field that isn't quoted");
  EXPECT_EQ(error_of(std::string(100, ',')), "t.csv:1: more than 64 columns");
}

TEST(Measured, SaysWhichFileItCannotRead) {
  for (const std::string path : {"/no/such/file.csv", "/"}) try {
      read_measured(path);
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_EQ(error.what(), "can't read '" + path + "'");
    }
}

TEST(Measured, KnowsBands) {
  EXPECT_EQ(name(size_band(0)), "small");
  EXPECT_EQ(name(size_band((64 << 10) - 1)), "small");
  EXPECT_EQ(name(size_band(64 << 10)), "mid");
  EXPECT_EQ(name(size_band(64 << 20)), "mid");
  EXPECT_EQ(name(size_band((64 << 20) + 1)), "large");
}

}  // namespace
}  // namespace vranks
