// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The conversions of the 8-bit floats against an independent truth: values decoded by ldexp, and
// the nearest of them found by search in f64.
#include "ranks/float8.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace vranks {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// T as its bits: the sizes of its fields, and the code behind its largest finite number's.
template <class T>
struct Format;

template <>
struct Format<Float8E4M3> {
  static constexpr int mantissa_bits = 3;
  static constexpr int bias = 7;
  static constexpr int beyond = 0x7f;
  static constexpr bool has_infinity = false;
  static Float8E4M3 narrow(float x, bool saturate) { return to_float8_e4m3(x, saturate); }
};

template <>
struct Format<Float8E5M2> {
  static constexpr int mantissa_bits = 2;
  static constexpr int bias = 15;
  static constexpr int beyond = 0x7c;
  static constexpr bool has_infinity = true;
  static Float8E5M2 narrow(float x, bool saturate) { return to_float8_e5m2(x, saturate); }
};

template <class T>
class EightBits : public testing::Test {
 protected:
  using Fields = Format<T>;

  // The value of a positive code; `beyond` stands for the next step of the scale, for numbers round
  // as if the scale went on.
  static double decode(int bits) {
    const int exponent = bits >> Fields::mantissa_bits;
    const int mantissa = bits & ((1 << Fields::mantissa_bits) - 1);
    const int unit = std::max(exponent, 1) - Fields::bias - Fields::mantissa_bits;
    return std::ldexp(exponent == 0 ? mantissa : mantissa + (1 << Fields::mantissa_bits), unit);
  }

  static const std::vector<double>& scale() {
    static const std::vector<double> values = [] {
      std::vector<double> all;
      for (int bits = 0; bits <= Fields::beyond; ++bits) all.push_back(decode(bits));
      return all;
    }();
    return values;
  }

  // The nearest value's code; of two at the same distance, the even one.
  static int nearest(float x, bool saturate) {
    if (std::isnan(x)) return 0x7f;
    const double size = std::fabs(static_cast<double>(x));
    const auto above = std::lower_bound(scale().begin(), scale().end(), size);
    int bits = Fields::beyond;
    if (above != scale().end()) {
      bits = static_cast<int>(above - scale().begin());
      if (bits > 0) {
        const double up = *above - size;
        const double down = size - scale()[static_cast<std::size_t>(bits) - 1];
        if (down < up || (down == up && bits % 2 == 1)) --bits;
      }
    }
    if (bits == Fields::beyond && saturate) --bits;
    if (bits == Fields::beyond && !Fields::has_infinity) return 0x7f;
    return bits | (std::signbit(x) ? 0x80 : 0);
  }

  static void check(float x) {
    for (const bool saturate : {false, true})
      for (const float y : {x, -x})
        ASSERT_EQ(Fields::narrow(y, saturate).bits, nearest(y, saturate))
            << std::hexfloat << y << " saturate " << saturate;
  }
};

using Formats = testing::Types<Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(EightBits, Formats);

TYPED_TEST(EightBits, All256CodesAreWhatTheyMean) {
  using Codes = typename TestFixture::Fields;
  for (int bits = 0; bits < 128; ++bits) {
    const float positive = to_float(TypeParam{static_cast<std::uint8_t>(bits)});
    const float negative = to_float(TypeParam{static_cast<std::uint8_t>(bits | 0x80)});
    if (bits < Codes::beyond) {
      EXPECT_EQ(positive, TestFixture::decode(bits)) << bits;
      EXPECT_EQ(negative, -TestFixture::decode(bits)) << bits;
      EXPECT_FALSE(std::signbit(positive)) << bits;
      EXPECT_TRUE(std::signbit(negative)) << bits;
    } else if (bits == Codes::beyond && Codes::has_infinity) {
      EXPECT_EQ(positive, infinity);
      EXPECT_EQ(negative, -infinity);
    } else {
      EXPECT_TRUE(std::isnan(positive)) << bits;
      EXPECT_TRUE(std::isnan(negative)) << bits;
    }
  }
}

TYPED_TEST(EightBits, All256CodesSurviveTheRoundTrip) {
  for (int bits = 0; bits < 256; ++bits) {
    const float value = to_float(TypeParam{static_cast<std::uint8_t>(bits)});
    const int expected = std::isnan(value) ? 0x7f : bits;
    EXPECT_EQ(Format<TypeParam>::narrow(value, false).bits, expected) << bits;
    // An infinity saturates, too.
    EXPECT_EQ(Format<TypeParam>::narrow(value, true).bits,
              std::isinf(value) ? expected - 1 : expected)
        << bits;
  }
}

// Every value, every half-way point between neighbours, and the f32 next to each of them. Together
// with the order that narrowing keeps (below), this is about every f32.
TYPED_TEST(EightBits, NarrowsToTheNearestAroundEveryBorder) {
  const auto& scale = TestFixture::scale();
  for (std::size_t i = 0; i + 1 < scale.size(); ++i)
    for (const double border : {scale[i], (scale[i] + scale[i + 1]) / 2}) {
      const auto x = static_cast<float>(border);
      ASSERT_EQ(static_cast<double>(x), border);
      for (const float near : {x, std::nextafter(x, 0.0f), std::nextafter(x, infinity)})
        TestFixture::check(near);
    }
}

TYPED_TEST(EightBits, NarrowsASweepOfAllFloats) {
  // A step that is prime to 2^32 meets every exponent with many mantissas.
  std::uint32_t bits = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    TestFixture::check(std::bit_cast<float>(bits));
    bits += 2'654'435'769u;
  }
}

// Numbers that an 8-bit sum or product can be before it is rounded: every pair of values.
TYPED_TEST(EightBits, NarrowsEverySumAndProduct) {
  for (const double a : TestFixture::scale())
    for (const double b : TestFixture::scale()) {
      TestFixture::check(static_cast<float>(a + b));
      TestFixture::check(static_cast<float>(a - b));
      TestFixture::check(static_cast<float>(a * b));
    }
}

TYPED_TEST(EightBits, MakesOneNan) {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu})
    for (const bool saturate : {false, true})
      EXPECT_EQ(Format<TypeParam>::narrow(std::bit_cast<float>(bits), saturate).bits, 0x7f);
}

RC_GTEST_PROP(EightBits, NarrowingKeepsOrder, (float a, float b)) {
  if (a > b) std::swap(a, b);
  RC_ASSERT(to_float(to_float8_e4m3(a, true)) <= to_float(to_float8_e4m3(b, true)));
  for (const bool saturate : {false, true})
    RC_ASSERT(to_float(to_float8_e5m2(a, saturate)) <= to_float(to_float8_e5m2(b, saturate)));
}

TEST(Float8E4M3, OverflowsBehindHalfWay) {
  EXPECT_EQ(to_float8_e4m3(448, false).bits, 0x7e);
  EXPECT_EQ(to_float8_e4m3(464, false).bits, 0x7e);  // half-way: to even
  EXPECT_EQ(to_float8_e4m3(std::nextafter(464.0f, 500.0f), false).bits, 0x7f);
  EXPECT_EQ(to_float8_e4m3(std::nextafter(-464.0f, -500.0f), false).bits, 0x7f);
  EXPECT_EQ(to_float8_e4m3(infinity, false).bits, 0x7f);
  EXPECT_EQ(to_float8_e4m3(infinity, true).bits, 0x7e);
  EXPECT_EQ(to_float8_e4m3(-1e30f, true).bits, 0xfe);
  EXPECT_EQ(to_float8_e4m3(0x1p-9f, false).bits, 0x01);
  EXPECT_EQ(to_float8_e4m3(0x1p-10f, false).bits, 0x00);
  EXPECT_EQ(to_float8_e4m3(-0x1p-149f, false).bits, 0x80);
}

TEST(Float8E5M2, OverflowsAtHalfWay) {
  EXPECT_EQ(to_float8_e5m2(57344, false).bits, 0x7b);
  EXPECT_EQ(to_float8_e5m2(std::nextafter(61440.0f, 0.0f), false).bits, 0x7b);
  EXPECT_EQ(to_float8_e5m2(61440, false).bits, 0x7c);  // half-way: to even
  EXPECT_EQ(to_float8_e5m2(61440, true).bits, 0x7b);
  EXPECT_EQ(to_float8_e5m2(-infinity, false).bits, 0xfc);
  EXPECT_EQ(to_float8_e5m2(-infinity, true).bits, 0xfb);
  EXPECT_EQ(to_float8_e5m2(0x1p-16f, false).bits, 0x01);
  EXPECT_EQ(to_float8_e5m2(0x1p-17f, false).bits, 0x00);
}

}  // namespace
}  // namespace vranks
