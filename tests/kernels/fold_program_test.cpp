// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Fold programs on every device against the plain reference, bit for bit: every dtype, op and rule,
// on random expressions over 1 to 1024 rows, running folds and fillings, cut into pieces that begin
// anywhere, on rows that lie anywhere, with results in one row or all, in place or not.
#include "kernels/fold_program.hpp"

#include <gtest/gtest.h>

#include <span>

#include "kernels/backend.hpp"
#include "random_program.hpp"
#include "rules_cases.hpp"
#include "rules_reference.hpp"
#include "tests/on_every_device.hpp"

namespace vranks {
namespace {

// --- programs ------------------------------------------------------------------------------------

template <class T>
std::vector<T> untouched(std::int64_t elements) {
  std::vector<T> all(static_cast<std::size_t>(elements));
  std::memset(static_cast<void*>(all.data()), 0xa5, all.size() * sizeof(T));
  return all;
}

template <class T>
void expect_same(const std::vector<T>& right, const std::vector<T>& found, const RowPlaces& places,
                 const FoldProgram& program) {
  for (std::size_t k = 0; k < right.size(); ++k) {
    if (std::memcmp(&right[k], &found[k], sizeof(T)) == 0) continue;
    const auto at = static_cast<std::int64_t>(k);
    const auto bytes = [](const T& x) {
      return fmt::format(
          "{:02x}",
          fmt::join(std::span(reinterpret_cast<const unsigned char*>(&x), sizeof(T)), " "));
    };
    std::string where;
    for (std::size_t r = 0; r < places.at.size(); ++r)
      if (at >= places.at[r] && at < places.at[r] + places.stride)
        where += fmt::format("row {} column {} ", r, at - places.at[r]);
    FAIL() << where << ": " << bytes(found[k]) << " instead of " << bytes(right[k])
           << " (lowest byte first); rows in a table " << places.in_table << ", "
           << program.pieces.size() << " pieces, " << program.code.size() << " steps, stack "
           << program.stack;
  }
}

// One program on random data.
template <class T>
void check(Device device, Arithmetic rules, const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  set_random_numbers(rules, sizes.rows, random);
  rules.computes_alone = rules.computes_alone || chance(random, 30);
  SCOPED_TRACE(fmt::format("{}; {} rows, {} columns, seed {}", describe(rules), sizes.rows,
                           sizes.columns, seed));

  // Rows and pieces that begin at multiples of 16 bytes, or anywhere.
  constexpr auto width = static_cast<std::int64_t>(sizeof(T));
  const auto random_unit = [&] { return chance(random, 55) ? 16 / width : 1; };
  const bool in_place = chance(random, 30);
  const RowPlaces in_places = RowPlaces::random(sizes.rows, sizes.columns, random_unit(), random);
  const std::int32_t out_rows = in_place || chance(random, 50) ? sizes.rows : 1;
  const RowPlaces out_places =
      in_place ? in_places : RowPlaces::random(out_rows, sizes.columns, random_unit(), random);
  const RandomProgram program(rules, {sizes, out_rows, in_place, random_unit()}, random);
  const bool asks_ranks = finds_rank(rules.op) && chance(random, 80);
  const RowPlaces rank_places = RowPlaces::random(out_rows, sizes.columns, 1, random);

  // The right answer, with everything around it untouched.
  const std::vector<T> in = elements<T>(in_places.elements, chance(random, 60), random);
  std::vector<T> right = in_place ? in : untouched<T>(out_places.elements);
  std::vector<std::int32_t> right_ranks = untouched<std::int32_t>(rank_places.elements);
  const std::vector<T> before = right;
  const std::vector<std::int32_t> ranks_before = right_ranks;
  const auto place = [](const RowPlaces& places, std::int32_t row, std::int64_t column) {
    return static_cast<std::size_t>(places.at[static_cast<std::size_t>(row)] + column);
  };
  reference::with_rules<T>(rules, [&](const auto& reference) {
    program.evaluate<T>(
        reference,
        [&](std::int32_t row, std::int64_t column) { return in[place(in_places, row, column)]; },
        [&](std::int32_t row, std::int64_t column, const T& element, std::int32_t rank) {
          right[place(out_places, row, column)] = element;
          if (asks_ranks) right_ranks[place(rank_places, row, column)] = rank;
        });
  });

  const DeviceBuffer device_in(in.size() * sizeof(T), device);
  const DeviceBuffer device_out(right.size() * sizeof(T), device);
  const DeviceBuffer device_ranks(right_ranks.size() * sizeof(std::int32_t), device);
  device_in.copy_from_host(in.data(), in.size() * sizeof(T));
  device_out.copy_from_host(before.data(), before.size() * sizeof(T));
  device_ranks.copy_from_host(ranks_before.data(), ranks_before.size() * sizeof(std::int32_t));
  const auto prepared = backend_for(device).prepare(program.program(), device.index);
  const DeviceBuffer workspace(prepared->workspace_bytes(), device);
  const DeviceBuffer& output = in_place ? device_in : device_out;
  std::vector<std::byte*> in_table, out_table, rank_table;
  FoldRows rows{.in = in_places.in_memory(device_in.data(), width, in_table),
                .out = out_places.in_memory(output.data(), width, out_table)};
  if (asks_ranks) rows.ranks = rank_places.in_memory(device_ranks.data(), 4, rank_table);
  prepared->run(rows, {workspace.data(), prepared->workspace_bytes()}, nullptr);
  std::vector<T> found(right.size());
  std::vector<std::int32_t> found_ranks(right_ranks.size());
  output.copy_to_host(found.data(), found.size() * sizeof(T));
  device_ranks.copy_to_host(found_ranks.data(), found_ranks.size() * sizeof(std::int32_t));
  expect_same(right, found, out_places, program.program());
  if (testing::Test::HasFatalFailure()) return;
  SCOPED_TRACE("ranks");
  expect_same(right_ranks, found_ranks, rank_places, program.program());
}

// --- cases ---------------------------------------------------------------------------------------

class FoldProgramOnDevice : public OnEveryDevice {
 protected:
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
    FoldProgram program;  // of a sum of f32
    program.code = code;
    program.pieces = {{.begin = 0, .end = 1, .length = static_cast<std::int32_t>(code.size())}};
    program.stack = 2;
    const auto prepared = backend_for(GetParam()).prepare(program, GetParam().index);
    const DeviceBuffer workspace(prepared->workspace_bytes(), GetParam());
    prepared->run(
        {.in = {.data = static_cast<std::byte*>(in.data()), .stride_bytes = sizeof(float)},
         .out = {.data = static_cast<std::byte*>(out.data())}},
        {workspace.data(), prepared->workspace_bytes()}, nullptr);
    float found = 0;
    out.copy_to_host(&found, sizeof(found));
    EXPECT_EQ(found, right);
  }
}

VR_ON_EVERY_DEVICE(FoldProgramOnDevice);

}  // namespace
}  // namespace vranks
