// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Fold programs on every device against the plain reference, bit for bit: every dtype, op and rule,
// on random expressions over 1 to 1024 rows, cut into pieces that begin anywhere, with results in
// one row or all, in place or not. The reference evaluates the expression, not the code made of it.
#include "kernels/fold_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>

#include "kernels/backend.hpp"
#include "random_expression.hpp"
#include "ranks/error.hpp"
#include "rules_cases.hpp"

namespace vranks {
namespace {

// --- programs ------------------------------------------------------------------------------------

struct Sizes {
  std::int32_t rows;
  std::int64_t columns;
};

struct Tensors {
  std::int64_t in_start, in_stride;    // in elements
  std::int64_t out_start, out_stride;  // likewise
  std::int64_t out_rows;
  bool in_place;
};

// Rows that all begin at multiples of 16 bytes, or anywhere.
Tensors random_tensors(const Sizes& sizes, std::int64_t out_columns, std::int64_t bytes,
                       Random& random) {
  Tensors t{};
  t.in_place = chance(random, 30);
  const std::int64_t unit = chance(random, 60) ? 16 / bytes : 1;
  const auto stride = [&](std::int64_t columns) {
    return (columns + below(random, 3) * unit + unit - 1) / unit * unit;
  };
  t.in_start = below(random, 3) * unit;
  t.in_stride = stride(sizes.columns);
  t.out_rows = t.in_place || chance(random, 50) ? sizes.rows : 1;
  t.out_start = t.in_place ? t.in_start : below(random, 3) * unit;
  t.out_stride = t.in_place ? t.in_stride : stride(out_columns);
  return t;
}

// One program on random data.
template <class T>
void check(Device device, Arithmetic rules, const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  const std::int64_t groups[] = {sizes.rows, sizes.rows, 1, 3, 6, 16, 128, 1000, 40000};
  rules.group = groups[random() % std::size(groups)];
  SCOPED_TRACE(fmt::format("{}; {} rows, {} columns, seed {}", describe(rules), sizes.rows,
                           sizes.columns, seed));

  FoldProgram program{.arithmetic = rules, .code = {}, .pieces = {}, .stack = 1};
  std::vector<Expression> expressions;
  std::vector<std::pair<std::int32_t, std::int32_t>> codes;
  for (std::int64_t k = 1 + below(random, 3); k > 0; --k) {
    expressions.push_back(random_expression(sizes.rows, random));
    const std::vector<FoldStep> steps = expressions.back().code(random);
    codes.emplace_back(static_cast<std::int32_t>(program.code.size()),
                       static_cast<std::int32_t>(steps.size()));
    program.code.insert(program.code.end(), steps.begin(), steps.end());
    program.stack = std::max(program.stack, expressions.back().stack());
  }

  // Pieces one behind the other, some with columns between them that no piece owns. Results lie
  // where the inputs do, or closer together.
  const std::int64_t most = std::array<std::int64_t, 4>{1, 20, 200, 100000}[random() % 4];
  const std::int64_t unit = chance(random, 50) ? 16 / static_cast<std::int64_t>(sizeof(T)) : 1;
  const bool packed = chance(random, 30);
  std::vector<std::size_t> expression_of;
  std::int64_t packed_end = 0;
  for (std::int64_t at = below(random, 2) * unit; at < sizes.columns;) {
    const std::int64_t end = std::min(sizes.columns, at + (below(random, most) / unit + 1) * unit);
    const std::size_t which = random() % expressions.size();
    program.pieces.push_back({.begin = at,
                              .end = end,
                              .out_begin = packed ? packed_end : at,
                              .origin = below(random, at + 1),
                              .code = codes[which].first,
                              .length = codes[which].second});
    expression_of.push_back(which);
    packed_end += end - at;
    at = end + (chance(random, 20) ? below(random, 9) : 0);
  }

  Tensors t = random_tensors(sizes, sizes.columns, sizeof(T), random);
  if (packed && t.in_place) return;  // results may only replace what they are made of
  for (FoldPiece& piece : program.pieces) {
    const bool all = t.out_rows > 1 && chance(random, 60);
    piece.out_rows = all ? static_cast<std::int32_t>(t.out_rows) : 1;
    piece.out_row = all ? 0 : static_cast<std::int32_t>(below(random, t.out_rows));
  }

  // The right answer, with everything around it untouched.
  const bool finite = chance(random, 60);
  const std::vector<T> in = elements<T>(t.in_start + sizes.rows * t.in_stride + 16, finite, random);
  std::vector<T> right(static_cast<std::size_t>(t.out_start + t.out_rows * t.out_stride + 16));
  std::memset(static_cast<void*>(right.data()), 0xa5, right.size() * sizeof(T));
  if (t.in_place) right = in;
  const std::vector<T> before = right;
  for (std::size_t p = 0; p < program.pieces.size(); ++p) {
    const FoldPiece& piece = program.pieces[p];
    const Expression& expression = expressions[expression_of[p]];
    for (std::int64_t column = piece.begin; column < piece.end; ++column) {
      const auto x = [&](std::int32_t row) {
        return in[static_cast<std::size_t>(t.in_start + row * t.in_stride + column)];
      };
      const bool fuse = rules.fuse == Fuse::own ||
                        (rules.fuse == Fuse::ll128 && fuses_at(column - piece.origin, sizeof(T)));
      T result = x(expression.first_row());
      if (!expression.is_copy())
        reference::with_rules<T>(rules, [&](const auto& reference) {
          result = reference.lower(expression.value(reference, x, fuse));
        });
      for (std::int32_t r = piece.out_row; r < piece.out_row + piece.out_rows; ++r)
        right[static_cast<std::size_t>(t.out_start + r * t.out_stride + piece.out_begin + column -
                                       piece.begin)] = result;
    }
  }

  const Backend& backend = backend_for(device);
  const DeviceBuffer device_in(in.size() * sizeof(T), device);
  const DeviceBuffer device_out(right.size() * sizeof(T), device);
  device_in.copy_from_host(in.data(), in.size() * sizeof(T));
  device_out.copy_from_host(before.data(), before.size() * sizeof(T));
  const auto prepared = backend.prepare(program, device.index);
  const DeviceBuffer workspace(prepared->workspace_bytes(), device);
  const DeviceBuffer& output = t.in_place ? device_in : device_out;
  constexpr auto width = static_cast<std::int64_t>(sizeof(T));
  prepared->run({.in = static_cast<const std::byte*>(device_in.data()) + t.in_start * width,
                 .in_stride_bytes = t.in_stride * width,
                 .out = static_cast<std::byte*>(output.data()) + t.out_start * width,
                 .out_stride_bytes = t.out_stride * width},
                {workspace.data(), prepared->workspace_bytes()}, nullptr);
  std::vector<T> found(right.size());
  output.copy_to_host(found.data(), found.size() * sizeof(T));

  for (std::size_t k = 0; k < right.size(); ++k) {
    if (std::memcmp(&right[k], &found[k], sizeof(T)) == 0) continue;
    const auto at = static_cast<std::int64_t>(k) - t.out_start;
    const auto bytes = [](const T& x) {
      return fmt::format(
          "{:02x}",
          fmt::join(std::span(reinterpret_cast<const unsigned char*>(&x), sizeof(T)), " "));
    };
    FAIL() << "row " << at / t.out_stride << " column " << at % t.out_stride << ": "
           << bytes(found[k]) << " instead of " << bytes(right[k])
           << " (lowest byte first); in place " << t.in_place << ", " << program.pieces.size()
           << " pieces, " << program.code.size() << " steps, stack " << program.stack;
  }
}

// --- cases ---------------------------------------------------------------------------------------

class FoldProgramOnDevice : public testing::TestWithParam<Device> {
 protected:
  void SetUp() override {
    try {
      backend_for(GetParam());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  void check_rules(DType dtype, const Sizes& sizes, int repeats, std::uint64_t seed) const {
    for (const Arithmetic& rules : all_rules(dtype))
      for (int k = 0; k < repeats; ++k) {
        visit(dtype, [&]<class T>() { check<T>(GetParam(), rules, sizes, ++seed); });
        if (testing::Test::HasFatalFailure()) return;
      }
  }
};

TEST_P(FoldProgramOnDevice, EveryRule) {
  std::uint64_t seed = 0;
  for (const DTypeInfo& dtype : dtypes())
    for (const std::int32_t rows : {1, 2, 3, 4, 5, 8, 9, 17, 64, 100}) {
      for (const std::int64_t columns : {9, 170}) {
        check_rules(dtype.dtype, {rows, rows < 64 ? columns : columns / 3}, 2, seed += 1000);
        if (HasFatalFailure()) return;
      }
    }
}

// Pieces larger than what a block of threads or a task takes at once.
TEST_P(FoldProgramOnDevice, ManyColumns) {
  std::uint64_t seed = 1000000;
  for (const DTypeInfo& dtype : dtypes())
    for (const std::int32_t rows : {1, 2, 4, 7, 16}) {
      check_rules(dtype.dtype, {rows, 5000 / rows + 1000}, 1, seed += 1000);
      if (HasFatalFailure()) return;
    }
}

// Stacks deeper than registers: balanced trees of 512 and more rows.
TEST_P(FoldProgramOnDevice, ManyRows) {
  std::uint64_t seed = 2000000;
  for (const DTypeInfo& dtype : dtypes())
    for (const std::int32_t rows : {257, 512, 1024}) {
      check_rules(dtype.dtype, {rows, 5}, 1, seed += 1000);
      if (HasFatalFailure()) return;
    }
}

// The order of steps that a program promises: op(x2, op(x0, x1)) and its mirror image differ in
// f32, as does a fold from the other end.
TEST_P(FoldProgramOnDevice, ActionsMeanWhatTheySay) {
  const float x[3] = {1.0f, 0x1p-24f, 0x1p-24f};
  const std::vector<std::pair<std::vector<FoldStep>, float>> cases{
      {{{0, FoldAction::load}, {1, FoldAction::leaf_right}, {2, FoldAction::leaf_right}}, 1.0f},
      {{{1, FoldAction::load}, {2, FoldAction::leaf_right}, {0, FoldAction::leaf_left}},
       1.0f + 0x1p-23f},
      {{{0, FoldAction::load},
        {1, FoldAction::load},
        {2, FoldAction::leaf_left},
        {0, FoldAction::merge}},
       1.0f + 0x1p-23f},
      {{{1, FoldAction::load}}, 0x1p-24f}};
  const DeviceBuffer in(sizeof(x), GetParam()), out(sizeof(float), GetParam());
  in.copy_from_host(x, sizeof(x));
  for (const auto& [code, right] : cases) {
    const FoldProgram program{
        .arithmetic = {.dtype = DType::f32, .op = ReduceOp::sum},
        .code = code,
        .pieces = {{.begin = 0, .end = 1, .length = static_cast<std::int32_t>(code.size())}},
        .stack = 2};
    const auto prepared = backend_for(GetParam()).prepare(program, GetParam().index);
    const DeviceBuffer workspace(prepared->workspace_bytes(), GetParam());
    prepared->run({static_cast<const std::byte*>(in.data()), sizeof(float),
                   static_cast<std::byte*>(out.data()), sizeof(float)},
                  {workspace.data(), prepared->workspace_bytes()}, nullptr);
    float found = 0;
    out.copy_to_host(&found, sizeof(found));
    EXPECT_EQ(found, right);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FoldProgramOnDevice,
                         testing::Values(Device{}, Device{DeviceKind::cuda, 0}),
                         [](const auto& parameter) {
                           return parameter.param.kind == DeviceKind::cpu ? "Cpu" : "Cuda";
                         });

}  // namespace
}  // namespace vranks
