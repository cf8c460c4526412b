// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The balanced tree as a fold program that rescues means against TreeFold, bit for bit, on every
// device: sums that leave the carried type, on either side, and infinities and NaNs among them.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/tree_fold.hpp"
#include "random_expression.hpp"
#include "tests/on_every_device.hpp"

namespace vranks {
namespace {

// A column whose sum overflows where the type is as wide as what it is carried in, but for some
// that don't, and some with a special element.
template <class T>
std::vector<T> random_column(std::int32_t rows, Random& random) {
  const std::int64_t kind = below(random, 10);
  if (kind < 2) return elements<T>(rows, kind == 0, random);
  std::vector<T> x(static_cast<std::size_t>(rows));
  const double side = chance(random, 50) ? 1 : -1;
  for (T& value : x) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    const double sign = kind == 2 && chance(random, 50) ? -side : side;
    value = reference::element_of<T>(
        reference::round_to_type<T>(sign * reference::Format<T>::largest * (0.5 + 0.49 * unit)));
  }
  if (kind == 3) x[random() % x.size()] = element<T>(random);
  return x;
}

class RescueOnDevice : public OnEveryDevice {
 protected:
  // Both ways' results of the same input. Returns how many columns TreeFold had to form again.
  template <class T>
  int check(std::int32_t rows, std::int64_t columns, std::uint64_t seed) const {
    SCOPED_TRACE(fmt::format("{}, {} rows, seed {}", name(dtype_of<T>()), rows, seed));
    Random random(seed);
    std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    const Expression tree(order, TreeShape::balanced, 0, random);
    FoldProgram program;
    program.arithmetic.dtype = dtype_of<T>();
    program.arithmetic.op = ReduceOp::mean;
    program.arithmetic.accumulate = sizeof(T) == 2 ? Accumulate::f32 : Accumulate::storage;
    program.arithmetic.group = rows;
    program.arithmetic.rescues = true;
    program.code = tree.code(random);
    program.stack = tree.stack();
    program.pieces = {
        {.begin = 0, .end = columns, .length = static_cast<std::int32_t>(program.code.size())}};

    int overflows = 0;
    std::vector<T> in(static_cast<std::size_t>(rows * columns));
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::vector<T> x = random_column<T>(rows, random);
      for (std::int32_t r = 0; r < rows; ++r)
        in[static_cast<std::size_t>(r * columns + c)] = x[static_cast<std::size_t>(r)];
      const bool sum_is_finite = std::isfinite(
          reference::value_of(reference::reduce(x, ReduceOp::sum, NanPolicy::propagate)));
      const T mean = reference::reduce(x, ReduceOp::mean, NanPolicy::propagate);
      overflows += !sum_is_finite && std::isfinite(reference::value_of(mean));
    }

    const Backend& backend = backend_for(GetParam());
    const std::size_t row_bytes = static_cast<std::size_t>(columns) * sizeof(T);
    const DeviceBuffer device_in(in.size() * sizeof(T), GetParam());
    const DeviceBuffer by_program(row_bytes, GetParam()), by_tree(row_bytes, GetParam());
    device_in.copy_from_host(in.data(), in.size() * sizeof(T));
    auto* const data = static_cast<std::byte*>(device_in.data());
    const auto stride = static_cast<std::int64_t>(row_bytes);

    const auto prepared = backend.prepare(program, GetParam().index);
    const DeviceBuffer workspace(prepared->workspace_bytes(), GetParam());
    prepared->run({.in = {.data = data, .stride_bytes = stride},
                   .out = {.data = static_cast<std::byte*>(by_program.data())}},
                  {workspace.data(), prepared->workspace_bytes()}, nullptr);
    const TreeFold fold{.in = data,
                        .in_stride_bytes = stride,
                        .out = static_cast<std::byte*>(by_tree.data()),
                        .out_stride_bytes = stride,
                        .ranks = rows,
                        .elements = columns,
                        .dtype = dtype_of<T>(),
                        .op = ReduceOp::mean};
    const std::size_t bytes = backend.workspace_bytes(fold, GetParam().index);
    const DeviceBuffer tree_workspace(bytes, GetParam());
    backend.fold(fold, GetParam().index, {tree_workspace.data(), bytes}, nullptr);

    std::vector<T> found(static_cast<std::size_t>(columns)), right(found.size());
    by_program.copy_to_host(found.data(), row_bytes);
    by_tree.copy_to_host(right.data(), row_bytes);
    for (std::size_t c = 0; c < found.size(); ++c)
      EXPECT_EQ(std::memcmp(&found[c], &right[c], sizeof(T)), 0)
          << "column " << c << ": " << reference::value_of(found[c]) << " instead of "
          << reference::value_of(right[c]);
    return overflows;
  }
};

TEST_P(RescueOnDevice, ProgramsAreTreeFold) {
  std::uint64_t seed = 0;
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    int overflows = 0;
    for (const std::int32_t rows : {2, 3, 4, 7, 8, 9, 16, 33, 100, 513})
      for (const std::int64_t columns : {1, 40, 1500}) {
        if (rows > 50 && columns > 100) continue;
        visit(dtype, [&]<class T>() {
          if constexpr (reference::has_tree_fold<T> && reference::is_float<T>)
            overflows += check<T>(rows, columns, ++seed);
        });
        if (HasFailure()) return;
      }
    // The sum of halves is carried in f32, and always fits.
    EXPECT_GT(overflows, 100) << name(dtype);
  }
}

VR_ON_EVERY_DEVICE(RescueOnDevice);

}  // namespace
}  // namespace vranks
