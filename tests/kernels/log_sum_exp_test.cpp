// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// log_sum_exp on every device against long double: within the bound that its header states, in any
// order of combines, as a fold program and hop by hop; exact for infinities and NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/hop_arithmetic.hpp"
#include "random_expression.hpp"
#include "tests/on_every_device.hpp"

namespace vranks {
namespace {

constexpr DType float_dtypes[] = {DType::f64,  DType::f32,    DType::f16,
                                  DType::bf16, DType::f8e4m3, DType::f8e5m2};

// How far below its root the deepest leaf of an expression is.
struct Depths {
  using Value = int;
  int lift(int, std::int32_t) const { return 0; }
  int combine(int a, int b) const { return std::max(a, b) + 1; }
  int combine_own(int, std::int32_t, int other, bool, bool) const { return other + 1; }
};

// Some numbers that are all alike, or that matter to each other, or far apart.
template <class T>
std::vector<T> random_inputs(std::size_t count, Random& random) {
  using Format = reference::Format<T>;
  const double spreads[] = {0, 1, 5, 30, 90, 700, Format::largest / 2};
  const double centers[] = {0, -3, 100, -10000, Format::largest / 2};
  const double spread = spreads[random() % std::size(spreads)];
  const double center = centers[random() % std::size(centers)];
  std::vector<T> x(count);
  for (T& value : x) {
    const double unit = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63;
    const double near = std::clamp(center + spread * unit, -Format::largest, Format::largest);
    value = reference::element_of<T>(reference::round_to_type<T>(near));
  }
  return x;
}

// The result of finite inputs, without error worth the name.
template <class T>
long double exact(const std::vector<T>& x) {
  long double largest = -HUGE_VALL, sum = 0;
  for (const T& value : x)
    largest = std::max(largest, static_cast<long double>(reference::value_of(value)));
  for (const T& value : x)
    sum += std::exp(static_cast<long double>(reference::value_of(value)) - largest);
  return largest + std::log(sum);
}

// combines: most that are on the way of an input.
template <class T>
void expect_in_bound(T result, const std::vector<T>& x, int combines, Fp8Mode mode) {
  using Format = reference::Format<T>;
  const long double y = exact(x), magnitude = std::abs(y);
  const long double unit = sizeof(T) == 8 ? 0x1p-53L : 0x1p-24L;
  const long double rows = static_cast<long double>(x.size());
  long double bound = unit * (magnitude + (combines + 1) * (8 + std::log(rows)));
  const int exponent = y == 0 ? Format::smallest : std::ilogb(magnitude + bound);
  if (sizeof(T) < 4)
    bound += std::ldexp(0.5L, std::max(exponent - Format::digits + 1, Format::smallest));
  const double found = reference::value_of(result);
  if (!std::isfinite(found)) {
    // Beyond half a step behind the largest number.
    const long double limit = Format::largest + std::ldexp(Format::largest, -Format::digits);
    EXPECT_TRUE(sizeof(T) > 1 || mode == Fp8Mode::ieee);
    EXPECT_EQ(std::isinf(found), reference::has_infinity<T>);
    EXPECT_GE(magnitude + bound, limit) << "for " << static_cast<double>(y);
    return;
  }
  const long double nearest = std::clamp(y, static_cast<long double>(-Format::largest),
                                         static_cast<long double>(Format::largest));
  ASSERT_LE(std::abs(found - nearest), bound)
      << found << " instead of " << static_cast<double>(y) << ", " << x.size() << " rows, "
      << combines << " combines, off by " << static_cast<double>((found - y) / unit)
      << " half ULPs of 1";
}

class LogSumExpOnDevice : public OnEveryDevice {
 protected:
  // The result of each column of `in`, rows one behind the other.
  template <class T>
  std::vector<T> folded(const std::vector<FoldStep>& code, int stack, Fp8Mode mode,
                        const std::vector<T>& in, std::int64_t columns) const {
    FoldProgram program;
    program.arithmetic.dtype = dtype_of<T>();
    program.arithmetic.op = ReduceOp::log_sum_exp;
    program.arithmetic.fp8 = mode;
    program.arithmetic.computes_alone = true;
    program.code = code;
    program.pieces = {
        {.begin = 0, .end = columns, .length = static_cast<std::int32_t>(code.size())}};
    program.stack = stack;
    std::vector<T> out(static_cast<std::size_t>(columns));
    const DeviceBuffer device_in(in.size() * sizeof(T), GetParam());
    const DeviceBuffer device_out(out.size() * sizeof(T), GetParam());
    device_in.copy_from_host(in.data(), in.size() * sizeof(T));
    const auto prepared = backend().prepare(program, GetParam().index);
    const DeviceBuffer workspace(prepared->workspace_bytes(), GetParam());
    prepared->run({.in = {.data = static_cast<std::byte*>(device_in.data()),
                          .stride_bytes = columns * static_cast<std::int64_t>(sizeof(T))},
                   .out = {.data = static_cast<std::byte*>(device_out.data())}},
                  {workspace.data(), prepared->workspace_bytes()}, nullptr);
    device_out.copy_to_host(out.data(), out.size() * sizeof(T));
    return out;
  }

  template <class T>
  void check_program(std::int32_t rows, std::uint64_t seed) const {
    SCOPED_TRACE(fmt::format("{}, {} rows, seed {}", name(dtype_of<T>()), rows, seed));
    Random random(seed);
    constexpr std::int64_t columns = 37;
    const Expression expression = random_expression(rows, random);
    const auto mode = chance(random, 50) ? Fp8Mode::saturate : Fp8Mode::ieee;
    std::vector<T> in(static_cast<std::size_t>(rows * columns));
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::vector<T> x = random_inputs<T>(static_cast<std::size_t>(rows), random);
      for (std::int32_t r = 0; r < rows; ++r)
        in[static_cast<std::size_t>(r * columns + c)] = x[static_cast<std::size_t>(r)];
    }
    const std::vector<FoldStep> code = expression.code(random);
    const std::vector<T> out = folded(code, expression.stack(), mode, in, columns);
    const int combines = expression.value(
        Depths{}, [](std::int32_t) { return 0; }, false);
    for (std::int64_t c = 0; c < columns; ++c) {
      std::vector<T> x;  // of the rows that the expression is about
      for (const FoldStep& step : code)
        if (step.action <= FoldAction::leaf_left)
          x.push_back(in[static_cast<std::size_t>(step.row * columns + c)]);
      expect_in_bound(out[static_cast<std::size_t>(c)], x, combines, mode);
      if (HasFatalFailure()) return;
    }
  }

  // The bytes that a hop leaves.
  template <class T>
  std::vector<std::byte> hop_result(Hop hop, std::span<const std::byte> a,
                                    std::span<const std::byte> b, std::size_t bytes) const {
    const DeviceBuffer in_a(a.size(), GetParam()), in_b(b.size(), GetParam());
    const DeviceBuffer out(bytes, GetParam());
    in_a.copy_from_host(a.data(), a.size());
    in_b.copy_from_host(b.data(), b.size());
    hop.a = static_cast<const std::byte*>(in_a.data());
    hop.b = static_cast<const std::byte*>(in_b.data());
    hop.dst = static_cast<std::byte*>(out.data());
    const Arithmetic rules{.dtype = dtype_of<T>(), .op = ReduceOp::log_sum_exp};
    backend().run_hops(std::span(&hop, 1), rules, GetParam().index);
    std::vector<std::byte> found(bytes);
    out.copy_to_host(found.data(), bytes);
    return found;
  }
};

TEST_P(LogSumExpOnDevice, AnyOrderStaysInItsBound) {
  std::uint64_t seed = 0;
  for (const DType dtype : float_dtypes)
    for (const std::int32_t rows : {1, 2, 3, 4, 7, 16, 65, 300})
      for (int repeat = 0; repeat < 30; ++repeat) {
        visit(dtype, [&]<class T>() {
          if constexpr (reference::is_float<T>) check_program<T>(rows, ++seed);
        });
        if (HasFailure()) return;
      }
}

// ((a, b), c) in hops: two leaves, a partial result and a leaf on either side, a result.
TEST_P(LogSumExpOnDevice, HopsStayInTheBound) {
  std::uint64_t seed = 1000;
  for (const DType dtype : float_dtypes)
    visit(dtype, [&]<class T>() {
      if constexpr (reference::is_float<T>) {
        using Stored = typename arithmetic::LogSumExpHop<T>::Stored;
        const Arithmetic rules{.dtype = dtype, .op = ReduceOp::log_sum_exp};
        ASSERT_EQ(carried_bytes(rules), sizeof(Stored));
        for (int repeat = 0; repeat < 200; ++repeat) {
          SCOPED_TRACE(fmt::format("{}, seed {}", name(dtype), ++seed));
          Random random(seed);
          const std::vector<T> x = random_inputs<T>(3, random);
          const auto leaf = [&](std::size_t k) { return std::as_bytes(std::span(&x[k], 1)); };
          const auto pair = hop_result<T>(
              {.kind = Hop::Kind::combine, .a_is_leaf = true, .b_is_leaf = true, .elements = 1},
              leaf(0), leaf(1), sizeof(Stored));
          const auto own = static_cast<std::uint8_t>(below(random, 3));
          const bool is_left = own == 1;
          Hop third{.kind = Hop::Kind::combine,
                    .a_is_leaf = is_left,
                    .b_is_leaf = !is_left,
                    .own = own,
                    .elements = 1};
          const std::span<const std::byte> partial = pair;
          const auto all = hop_result<T>(third, is_left ? leaf(2) : partial,
                                         is_left ? partial : leaf(2), sizeof(Stored));
          const auto bytes =
              hop_result<T>({.kind = Hop::Kind::lower, .elements = 1}, all, all, sizeof(T));
          T result;
          std::memcpy(&result, bytes.data(), sizeof(T));
          expect_in_bound(result, x, 2, Fp8Mode::saturate);
          if (HasFailure()) return;
        }
      }
    });
}

// Infinities and NaN, wherever they are.
TEST_P(LogSumExpOnDevice, SpecialInputsAreExact) {
  for (const DType dtype : float_dtypes)
    visit(dtype, [&]<class T>() {
      if constexpr (reference::is_float<T>) {
        const double infinity = std::numeric_limits<double>::infinity();
        const double nan = std::numeric_limits<double>::quiet_NaN();
        std::vector<double> values{-1, 2, nan};
        if (reference::has_infinity<T>) values.insert(values.end(), {-infinity, infinity});
        const std::vector<FoldStep> code{
            {0, FoldAction::load}, {1, FoldAction::leaf_right}, {2, FoldAction::leaf_right}};
        for (const Fp8Mode mode : {Fp8Mode::saturate, Fp8Mode::ieee})
          for (const double a : values)
            for (const double b : values)
              for (const double c : values) {
                SCOPED_TRACE(fmt::format("{} {}: {} {} {}", name(dtype), name(mode), a, b, c));
                const double most = std::max({a, b, c});
                const bool is_nan = std::isnan(a) || std::isnan(b) || std::isnan(c);
                if (!is_nan && std::isfinite(most)) continue;
                double right = is_nan ? nan : most;
                if (sizeof(T) == 1 && mode == Fp8Mode::saturate && std::isinf(right))
                  right = std::copysign(reference::Format<T>::largest, right);
                const std::vector<T> in{reference::element_of<T>(a), reference::element_of<T>(b),
                                        reference::element_of<T>(c)};
                const T found = folded(code, 1, mode, in, 1)[0];
                const T expected = reference::element_of<T>(right);
                EXPECT_EQ(std::memcmp(&found, &expected, sizeof(T)), 0)
                    << reference::value_of(found) << " instead of " << right;
              }
        // An infinity that loses is nothing.
        if (reference::has_infinity<T>) {
          const T low = reference::element_of<T>(-infinity), two = reference::element_of<T>(2);
          for (const std::vector<T>& in : {std::vector{low, two, low}, std::vector{two, low, low}})
            EXPECT_EQ(reference::value_of(folded(code, 1, Fp8Mode::ieee, in, 1)[0]), 2);
        }
      }
    });
}

VR_ON_EVERY_DEVICE(LogSumExpOnDevice);

}  // namespace
}  // namespace vranks
