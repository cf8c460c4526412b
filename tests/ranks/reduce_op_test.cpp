// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/reduce_op.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

TEST(ReduceOp, RowsAreInTheOrderOfTheEnum) {
  std::size_t i = 0;
  for (const ReduceOpInfo& row : reduce_ops()) {
    EXPECT_EQ(static_cast<std::size_t>(row.op), i++);
    EXPECT_EQ(name(row.op), row.name);
    EXPECT_FALSE(row.meaning.empty());
  }
}

TEST(ReduceOp, NamesAndAliasesParse) {
  std::set<std::string> all;
  for (const ReduceOpInfo& row : reduce_ops()) {
    std::istringstream words(std::string(row.name) + " " + std::string(row.aliases));
    for (std::string word; words >> word;) {
      EXPECT_EQ(parse_reduce_op(word), row.op) << word;
      EXPECT_TRUE(all.insert(word).second) << word << " names two ops";
    }
  }
  EXPECT_EQ(parse_reduce_op("avg"), ReduceOp::mean);
}

TEST(ReduceOp, RefusesOtherNamesWithTheList) {
  for (const char* text : {"", "Sum", "sum ", "avg average"})
    expect_error(ErrorKind::bad_argument,
                 {("there is no op '" + std::string(text) + "'").c_str(),
                  "there are: sum mean prod min max"},
                 [&] { parse_reduce_op(text); });
}

TEST(NanPolicy, NamesParse) {
  std::size_t i = 0;
  for (const NanPolicyInfo& row : nan_policies()) {
    EXPECT_EQ(static_cast<std::size_t>(row.policy), i++);
    EXPECT_EQ(parse_nan_policy(row.name), row.policy);
    EXPECT_EQ(name(row.policy), row.name);
  }
  expect_error(ErrorKind::bad_argument,
               {"there is no NaN policy 'nan'", "there are: propagate ignore"},
               [] { parse_nan_policy("nan"); });
}

}  // namespace
}  // namespace vranks
