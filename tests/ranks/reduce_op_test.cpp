// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/reduce_op.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <vector>

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

// Which op is for which dtype, written out: a row an op, a column a dtype.
TEST(ReduceOp, SupportsWhatMeansSomething) {
  const std::vector<std::string> columns = {"f64", "f32", "f16",  "bf16", "f8e4m3", "f8e5m2",
                                            "i8",  "u8",  "i16",  "u16",  "i32",    "u32",
                                            "i64", "u64", "bool", "c64",  "c128"};
  const std::map<std::string, std::string> table = {
      {"sum", "yyyyyyyyyyyyyyyyy"},           {"mean", "yyyyyyyyyyyyyy.yy"},
      {"prod", "yyyyyyyyyyyyyyyyy"},          {"min", "yyyyyyyyyyyyyyy.."},
      {"max", "yyyyyyyyyyyyyyy.."},           {"premul_sum", "yyyyyyyyyyyyyy.yy"},
      {"weighted_mean", "yyyyyy.........yy"}, {"band", "......yyyyyyyyy.."},
      {"bor", "......yyyyyyyyy.."},           {"bxor", "......yyyyyyyyy.."},
      {"land", "......yyyyyyyyy.."},          {"lor", "......yyyyyyyyy.."},
      {"lxor", "......yyyyyyyyy.."},          {"min_loc", "yyyyyyyyyyyyyyy.."},
      {"max_loc", "yyyyyyyyyyyyyyy.."},       {"log_sum_exp", "yyyyyy..........."}};
  ASSERT_EQ(columns.size(), dtypes().size());
  ASSERT_EQ(table.size(), reduce_ops().size());
  for (const auto& [op_name, cells] : table) {
    ASSERT_EQ(cells.size(), columns.size()) << op_name;
    const ReduceOp op = parse_reduce_op(op_name);
    std::string those;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      EXPECT_EQ(supports(op, parse_dtype(columns[i])), cells[i] == 'y')
          << op_name << " " << columns[i];
      if (cells[i] == 'y') (those += those.empty() ? "" : " ") += columns[i];
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const DType dtype = parse_dtype(columns[i]);
      if (cells[i] == 'y')
        check_supported(op, dtype);
      else
        expect_error(ErrorKind::not_supported,
                     {("op " + op_name + " ").c_str(), ("dtype " + columns[i]).c_str(),
                      ("only for " + those).c_str()},
                     [&] { check_supported(op, dtype); });
    }
  }
}

TEST(ReduceOp, TellsThoseThatOrderAndThoseThatFindRanks) {
  for (const ReduceOpInfo& row : reduce_ops()) {
    EXPECT_EQ(is_ordered(row.op), row.name.starts_with("min") || row.name.starts_with("max"));
    EXPECT_EQ(finds_rank(row.op), row.name.ends_with("_loc"));
  }
}

TEST(ReduceOp, RefusesOtherNamesWithTheList) {
  for (const char* text : {"", "Sum", "sum ", "avg average"})
    expect_error(
        ErrorKind::bad_argument,
        {("there is no op '" + std::string(text) + "'").c_str(),
         "there are: sum mean prod min max premul_sum weighted_mean band bor bxor land lor lxor "
         "min_loc max_loc log_sum_exp"},
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
