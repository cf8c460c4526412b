// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The conversions of f16 and bf16 against an independent truth: values decoded by ldexp, and the
// nearest of them found by search in f64.
#include "ranks/half.hpp"

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

// T as its bits, with the sizes of its fields.
template <class T>
struct Format;

template <>
struct Format<Half> {
  static constexpr int mantissa_bits = 10;
  static constexpr int bias = 15;
  static Half narrow(float x) { return to_half(x); }
};

template <>
struct Format<BFloat16> {
  static constexpr int mantissa_bits = 7;
  static constexpr int bias = 127;
  static BFloat16 narrow(float x) { return to_bfloat16(x); }
};

template <class T>
class SixteenBits : public testing::Test {
 protected:
  static constexpr std::uint16_t infinite = 0x7fff >> Format<T>::mantissa_bits
                                                          << Format<T>::mantissa_bits;

  // The value of positive bits up to `infinite`, which stands for the next step of the scale: so
  // far up the numbers round as if the scale went on.
  static double decode(std::uint16_t bits) {
    const int exponent = bits >> Format<T>::mantissa_bits;
    const int mantissa = bits & ((1 << Format<T>::mantissa_bits) - 1);
    const int unit = std::max(exponent, 1) - Format<T>::bias - Format<T>::mantissa_bits;
    return std::ldexp(exponent == 0 ? mantissa : mantissa + (1 << Format<T>::mantissa_bits), unit);
  }

  static const std::vector<double>& scale() {
    static const std::vector<double> values = [] {
      std::vector<double> all;
      for (int bits = 0; bits <= infinite; ++bits)
        all.push_back(decode(static_cast<std::uint16_t>(bits)));
      return all;
    }();
    return values;
  }

  // The nearest value's bits; of two at the same distance, the even bits.
  static std::uint16_t nearest(float x) {
    if (std::isnan(x)) return 0x7fff;
    const double size = std::fabs(static_cast<double>(x));
    const auto above = std::lower_bound(scale().begin(), scale().end(), size);
    std::size_t bits = infinite;
    if (above != scale().end()) {
      bits = static_cast<std::size_t>(above - scale().begin());
      if (bits > 0) {
        const double up = *above - size;
        const double down = size - scale()[bits - 1];
        if (down < up || (down == up && bits % 2 == 1)) --bits;
      }
    }
    return static_cast<std::uint16_t>(bits | (std::signbit(x) ? 0x8000 : 0));
  }

  static void check(float x) {
    ASSERT_EQ(Format<T>::narrow(x).bits, nearest(x)) << std::hexfloat << x;
    ASSERT_EQ(Format<T>::narrow(-x).bits, nearest(-x)) << std::hexfloat << -x;
  }
};

using Formats = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(SixteenBits, Formats);

TYPED_TEST(SixteenBits, WidensExactly) {
  for (int bits = 0; bits < TestFixture::infinite; ++bits) {
    const auto positive = static_cast<std::uint16_t>(bits);
    const auto negative = static_cast<std::uint16_t>(bits | 0x8000);
    ASSERT_EQ(to_float(TypeParam{positive}), TestFixture::decode(positive)) << bits;
    ASSERT_EQ(to_float(TypeParam{negative}), -TestFixture::decode(positive)) << bits;
    ASSERT_TRUE(std::signbit(to_float(TypeParam{negative})));
  }
  EXPECT_EQ(to_float(TypeParam{TestFixture::infinite}), infinity);
  EXPECT_EQ(to_float(TypeParam{TestFixture::infinite | 0x8000}), -infinity);
}

TYPED_TEST(SixteenBits, All65536ValuesSurviveTheRoundTrip) {
  for (int bits = 0; bits < 65536; ++bits) {
    const TypeParam value = {static_cast<std::uint16_t>(bits)};
    const bool is_nan = (bits & 0x7fff) > TestFixture::infinite;
    ASSERT_EQ(std::isnan(to_float(value)), is_nan) << bits;
    ASSERT_EQ(Format<TypeParam>::narrow(to_float(value)).bits, is_nan ? 0x7fff : bits);
  }
}

// Every value, every half-way point between neighbours, and the f32 next to each of them.
TYPED_TEST(SixteenBits, NarrowsToTheNearestAroundEveryBorder) {
  const auto& scale = TestFixture::scale();
  for (std::size_t i = 0; i + 1 < scale.size(); ++i)
    for (const double border : {scale[i], (scale[i] + scale[i + 1]) / 2}) {
      // Half of the smallest bf16 is an f32 as well: the narrowing here is exact.
      const auto x = static_cast<float>(border);
      ASSERT_EQ(static_cast<double>(x), border);
      for (const float near : {x, std::nextafter(x, 0.0f), std::nextafter(x, infinity)})
        TestFixture::check(near);
    }
}

TYPED_TEST(SixteenBits, NarrowsASweepOfAllFloats) {
  // A step that is prime to 2^32 meets every exponent with many mantissas.
  std::uint32_t bits = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    TestFixture::check(std::bit_cast<float>(bits));
    bits += 2'654'435'769u;
  }
}

TYPED_TEST(SixteenBits, MakesOneNan) {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu})
    EXPECT_EQ(Format<TypeParam>::narrow(std::bit_cast<float>(bits)).bits, 0x7fff);
}

TEST(Half, OverflowsHalfWayBehindTheLargest) {
  EXPECT_EQ(to_half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(to_half(std::nextafter(65520.0f, 0.0f)).bits, 0x7bff);
  EXPECT_EQ(to_half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(to_half(-65520.0f).bits, 0xfc00);
  EXPECT_EQ(to_half(infinity).bits, 0x7c00);
}

TEST(Half, KeepsSubnormals) {
  EXPECT_EQ(to_half(0x1p-24f).bits, 0x0001);
  EXPECT_EQ(to_half(0x1p-25f).bits, 0x0000);
  EXPECT_EQ(to_half(std::nextafter(0x1p-25f, 1.0f)).bits, 0x0001);
  EXPECT_EQ(to_half(-0x3p-24f).bits, 0x8003);
  EXPECT_EQ(to_half(-0x1p-149f).bits, 0x8000);
}

TEST(BFloat16, OverflowsAndKeepsSubnormals) {
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(to_bfloat16(-infinity).bits, 0xff80);
  EXPECT_EQ(to_bfloat16(0x1p-133f).bits, 0x0001);
  EXPECT_EQ(to_bfloat16(0x1p-134f).bits, 0x0000);
  EXPECT_EQ(to_bfloat16(0x3p-134f).bits, 0x0002);
}

RC_GTEST_PROP(Half, NarrowingKeepsOrder, (float a, float b)) {
  if (a > b) std::swap(a, b);
  RC_ASSERT(to_float(to_half(a)) <= to_float(to_half(b)));
  RC_ASSERT(to_float(to_bfloat16(a)) <= to_float(to_bfloat16(b)));
}

}  // namespace
}  // namespace vranks
