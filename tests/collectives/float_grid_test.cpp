// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/float_grid.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/collectives/rational.hpp"

namespace vranks {
namespace {

// Two doubles, at any distance of their exponents, anywhere.
RC_GTEST_PROP(FloatGrid, RoundsToNearestEven, ()) {
  const DType dtype = *rc::gen::element(DType::f64, DType::f32, DType::f16, DType::bf16,
                                        DType::f8e4m3, DType::f8e5m2);
  const FloatGrid& grid = grid_of(dtype);
  const auto exponent =
      *rc::gen::inRange(std::max(grid.lowest - 3, -1000), std::min(grid.highest + 2, 1000));
  const auto bits = *rc::gen::arbitrary<std::uint32_t>();
  // Few bits, so that ties and neighbours of ties come up.
  const double hi = std::ldexp(1 + bits % 8192 * 0x1p-13, exponent);
  const double lo = *rc::gen::element(0., 1., -1.) * std::ldexp(hi, -60);
  const cpp_rational exact = cpp_rational(hi) + cpp_rational(lo);
  const int shift = *rc::gen::element(0, -3, 5);
  RC_ASSERT(nearest({std::ldexp(hi, -shift), std::ldexp(lo, -shift)}, shift, grid) ==
            round_to(exact, dtype));
}

// The code of the largest finite number.
unsigned top_code(DType dtype) {
  return dtype == DType::f16      ? 0x7bff
         : dtype == DType::bf16   ? 0x7f7f
         : dtype == DType::f8e4m3 ? 0x7e
                                  : 0x7b;
}

TEST(FloatGrid, DescribesTheTypes) {
  EXPECT_EQ(grid_of(DType::f64).smallest_normal(), std::numeric_limits<double>::min());
  EXPECT_EQ(grid_of(DType::f32).smallest_normal(), std::numeric_limits<float>::min());
  EXPECT_EQ(grid_of(DType::f32).half_ulp_of_one(), std::numeric_limits<float>::epsilon() / 2);
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2}) {
    const FloatGrid& grid = grid_of(dtype);
    EXPECT_EQ(std::ilogb(grid.largest), grid.highest);
    // The numbers next to zero and the largest are there, and those beyond them aren't.
    visit(dtype, [&]<class T>() {
      if constexpr (requires { to_float(T{}); }) {
        using Bits = decltype(T::bits);
        EXPECT_EQ(to_float(T{1}), std::ldexp(1, grid.lowest));
        EXPECT_EQ(to_float(T{static_cast<Bits>(top_code(dtype))}), grid.largest);
        EXPECT_FALSE(std::isfinite(to_float(T{static_cast<Bits>(top_code(dtype) + 1)})));
      }
    });
    // All bits of the largest number are ones; but of e4m3, where that is NaN, the last.
    const double last = dtype == DType::f8e4m3 ? 2 : 1;
    EXPECT_EQ(grid.largest,
              std::ldexp(std::ldexp(1, grid.digits) - last, grid.highest - grid.digits + 1));
    EXPECT_EQ(grid.has_infinity, dtype != DType::f8e4m3);
  }
}

}  // namespace
}  // namespace vranks
