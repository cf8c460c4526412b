// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/dtype.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

TEST(DType, RowsAreInTheOrderOfTheEnum) {
  std::size_t i = 0;
  for (const DTypeInfo& row : dtypes()) {
    EXPECT_EQ(static_cast<std::size_t>(row.dtype), i++);
    EXPECT_EQ(&info(row.dtype), &row);
    EXPECT_EQ(name(row.dtype), row.name);
    EXPECT_EQ(size_bytes(row.dtype), row.bytes);
    EXPECT_EQ(is_floating(row.dtype), row.kind == DTypeKind::floating);
    EXPECT_EQ(is_complex(row.dtype), row.kind == DTypeKind::complex);
    EXPECT_EQ(is_integer(row.dtype), row.name[0] == 'i' || row.name[0] == 'u');
    EXPECT_EQ(is_float8(row.dtype), row.name.starts_with("f8"));
  }
}

TEST(DType, RowsAgreeWithTheirStorageType) {
  for (const DTypeInfo& row : dtypes())
    visit(row.dtype, [&]<class T>() {
      EXPECT_EQ(dtype_of<T>(), row.dtype);
      EXPECT_EQ(sizeof(T), row.bytes);
      EXPECT_EQ(std::is_integral_v<T> && std::is_signed_v<T>,
                row.kind == DTypeKind::signed_integer);
      EXPECT_EQ(std::is_integral_v<T> && std::is_unsigned_v<T>,
                row.kind == DTypeKind::unsigned_integer);
    });
}

TEST(DType, PartsOfComplexNumbersAreHalfAsWide) {
  EXPECT_EQ(part_dtype(DType::c64), DType::f32);
  EXPECT_EQ(part_dtype(DType::c128), DType::f64);
  for (const DTypeInfo& row : dtypes())
    EXPECT_EQ(size_bytes(part_dtype(row.dtype)) * (is_complex(row.dtype) ? 2 : 1), row.bytes);
}

TEST(DType, StandardTypesHaveThem) {
  EXPECT_EQ(dtype_of<bool>(), DType::boolean);
  EXPECT_EQ(dtype_of<std::complex<float>>(), DType::c64);
  EXPECT_EQ(dtype_of<std::complex<double>>(), DType::c128);
}

// The first digits of a name are its bits, and those of its spelling in files are its bytes.
TEST(DType, NamesGiveTheWidth) {
  for (const DTypeInfo& row : dtypes()) {
    if (row.dtype != DType::boolean) {
      const std::string digits(row.name.substr(row.name.find_first_of("0123456789")));
      EXPECT_EQ(std::stoul(digits), 8 * row.bytes) << row.name;
    }
    EXPECT_EQ(std::stoul(std::string(row.npy.substr(2))), row.bytes) << row.name;
  }
}

TEST(DType, NamesAndAliasesParse) {
  std::set<std::string> all;
  for (const DTypeInfo& row : dtypes()) {
    std::istringstream words(std::string(row.name) + " " + std::string(row.aliases));
    for (std::string word; words >> word;) {
      EXPECT_EQ(parse_dtype(word), row.dtype) << word;
      EXPECT_TRUE(all.insert(word).second) << word << " names two dtypes";
    }
  }
}

TEST(DType, TakesTheNamesOfOtherLibraries) {
  const std::map<std::string, DType> known = {
      {"float32", DType::f32},       {"fp32", DType::f32},        {"float64", DType::f64},
      {"float16", DType::f16},       {"half", DType::f16},        {"bfloat16", DType::bf16},
      {"int8", DType::i8},           {"uint8", DType::u8},        {"int16", DType::i16},
      {"uint16", DType::u16},        {"int32", DType::i32},       {"uint32", DType::u32},
      {"int64", DType::i64},         {"uint64", DType::u64},      {"bool_", DType::boolean},
      {"complex64", DType::c64},     {"complex128", DType::c128}, {"float8_e4m3fn", DType::f8e4m3},
      {"float8_e5m2", DType::f8e5m2}};
  for (const auto& [text, dtype] : known) EXPECT_EQ(parse_dtype(text), dtype) << text;
}

TEST(DType, RefusesOtherNamesWithTheList) {
  for (const char* text : {"", " ", "f3", "F32", "f32 ", "float32 fp32", "float64 fp64 double"})
    expect_error(
        ErrorKind::bad_argument,
        {("there is no dtype '" + std::string(text) + "'").c_str(),
         "there are: f64 f32 f16 bf16 f8e4m3 f8e5m2 i8 u8 i16 u16 i32 u32 i64 u64 bool c64 c128"},
        [&] { parse_dtype(text); });
}

}  // namespace
}  // namespace vranks
