// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/double_double.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "tests/collectives/rational.hpp"

namespace vranks {
namespace {

RC_GTEST_PROP(DoubleDouble, IsAsPreciseAsItSays, ()) {
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto terms = *rc::gen::inRange(1, 200);
  DoubleDouble sum, product{1, 0};
  cpp_rational exact_sum = 0, magnitude = 0, exact_product = 1;
  for (int i = 0; i < terms; ++i) {
    const double x = std::ldexp(uniform(random), static_cast<int>(random() % 80) - 40);
    sum = add(sum, x);
    exact_sum += cpp_rational(x);
    magnitude += abs(cpp_rational(x));
    const double factor = 1 + uniform(random) / 4;
    product = multiply(product, factor);
    exact_product *= cpp_rational(factor);
  }
  const auto value = [](DoubleDouble x) { return cpp_rational(x.hi) + cpp_rational(x.lo); };
  RC_ASSERT(abs(value(sum) - exact_sum) <= terms * two_to(-104) * magnitude);
  RC_ASSERT(abs(value(product) - exact_product) <= terms * two_to(-104) * abs(exact_product));
  const double divisor = static_cast<double>(random() % 1000000 + 1);
  RC_ASSERT(abs(value(divide(sum, divisor)) * cpp_rational(divisor) - value(sum)) <=
            two_to(-103) * abs(value(sum)));
}

TEST(ScaledProduct, NeverLeavesTheRange) {
  ScaledProduct product, one;
  for (int i = 0; i < 5000; ++i) product.multiply_by(0x1.8p900);
  for (int i = 0; i < 5000; ++i) product.multiply_by(0x1p-1074);
  for (int i = 0; i < 5000; ++i) one.multiply_by(3);
  for (int i = 0; i < 5000; ++i) one.multiply_by(1. / 3);
  // 1.5^5000 * 2^(-174 * 5000)
  const double log2 = std::log2(product.value.hi) + static_cast<double>(product.exponent);
  EXPECT_NEAR(log2, 5000 * (std::log2(1.5) - 174), 1e-6);
  EXPECT_NEAR(std::ldexp(one.value.hi, static_cast<int>(one.exponent)), 1, 1e-12);
  product.multiply_by(product);
  EXPECT_NEAR(std::log2(product.value.hi) + static_cast<double>(product.exponent), 2 * log2, 1e-6);
}

}  // namespace
}  // namespace vranks
