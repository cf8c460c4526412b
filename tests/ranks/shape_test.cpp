// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes, strides and devices, as users write them and as messages print them.
#include "ranks/shape.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "ranks/device.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

constexpr std::int64_t large = std::int64_t{1} << 32;

TEST(Shape, PrintsAsNumpyDoes) {
  EXPECT_EQ(to_string(Shape{}), "()");
  EXPECT_EQ(to_string(Shape{4}), "(4,)");
  EXPECT_EQ(to_string(Shape{4, 16, 48}), "(4, 16, 48)");
}

TEST(Shape, ReadsNumbersWithCommas) {
  EXPECT_EQ(parse_shape("4"), (Shape{4}));
  EXPECT_EQ(parse_shape("4,0,48"), (Shape{4, 0, 48}));
  EXPECT_EQ(parse_shape("9223372036854775807"), (Shape{9223372036854775807}));
}

TEST(Shape, RefusesAnythingElse) {
  for (const char* text : {"", ",", "4,", ",4", "4,,3", "4 3", " 4", "4 ", "-1", "4,-1", "+4", "4x",
                           "4.0", "0x10", "(4,)", "9223372036854775808"})
    expect_error(ErrorKind::bad_argument,
                 {("shape '" + std::string(text) + "'").c_str(), "such as 4,16,48"},
                 [&] { parse_shape(text); });
}

RC_GTEST_PROP(Shape, WhatIsWrittenIsRead, ()) {
  const auto shape =
      *rc::gen::nonEmpty(rc::gen::container<Shape>(rc::gen::nonNegative<std::int64_t>()));
  std::string text;
  for (const std::int64_t dimension : shape)
    (text += text.empty() ? "" : ",") += std::to_string(dimension);
  RC_ASSERT(parse_shape(text) == shape);
}

TEST(ElementCount, MultipliesTheDimensions) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({4}), 4);
  EXPECT_EQ(element_count({4, 16, 48}, 8), 3072);
  EXPECT_EQ(element_count({4, 0, 48}, 8), 0);
  EXPECT_EQ(element_count({large, large / 2 - 1}), large * (large / 2 - 1));
}

TEST(ElementCount, IsZeroForAZeroBesideHugeDimensions) {
  EXPECT_EQ(element_count({0, large, large}, 8), 0);
  EXPECT_EQ(element_count({large, large, 0}, 8), 0);
  EXPECT_EQ(element_count({large, 0, large, large}, 8), 0);
}

TEST(ElementCount, RefusesWhatDoesNotFit) {
  expect_error(ErrorKind::bad_argument, {"(4, -1, 0)", "negative dimension -1"}, [] {
    element_count({4, -1, 0});
  });
  expect_error(ErrorKind::bad_argument, {"(4294967296, 4294967296)", "1-byte", "2^63 - 1 bytes"},
               [] {
                 element_count({large, large});
               });
  expect_error(ErrorKind::bad_argument, {"(4294967296, 4294967296, 0, -1)", "negative"}, [] {
    element_count({large, large, 0, -1});
  });
  expect_error(ErrorKind::bad_argument, {"8-byte"}, [] { element_count({large, large / 16}, 8); });
  EXPECT_EQ(element_count({large, large / 16 - 1}, 8), large * (large / 16 - 1));
}

TEST(ContiguousStrides, CountElements) {
  EXPECT_EQ(contiguous_strides({}), Strides{});
  EXPECT_EQ(contiguous_strides({4}), (Strides{1}));
  EXPECT_EQ(contiguous_strides({4, 16, 48}), (Strides{768, 48, 1}));
}

RC_GTEST_PROP(ContiguousStrides, TheFirstSpansTheRest, ()) {
  const auto shape =
      *rc::gen::nonEmpty(rc::gen::container<Shape>(rc::gen::inRange<std::int64_t>(1, 4)));
  RC_PRE(shape.size() < 30);
  RC_ASSERT(contiguous_strides(shape)[0] * shape[0] == element_count(shape));
}

TEST(Device, ReadsWhatItPrints) {
  for (const Device device : {Device{}, Device{DeviceKind::cuda, 0}, Device{DeviceKind::cuda, 17}})
    EXPECT_EQ(parse_device(to_string(device)), device);
  EXPECT_EQ(to_string(parse_device("cpu")), "cpu");
  EXPECT_EQ(to_string(parse_device("cuda")), "cuda:0");
  EXPECT_EQ(to_string(parse_device("cuda:3")), "cuda:3");
}

TEST(Device, RefusesAnythingElse) {
  for (const char* text : {"", "CPU", "cpu:0", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:+1",
                           "cuda: 1", "cuda:1 ", "cuda:99999999999"})
    expect_error(ErrorKind::bad_argument,
                 {("no device '" + std::string(text) + "'").c_str(), "cpu, cuda or cuda:N"},
                 [&] { parse_device(text); });
}

}  // namespace
}  // namespace vranks
