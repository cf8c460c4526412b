// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every result of a real NCCL that is kept in tests/golden, computed here: the bits must be equal.
#include "tests/golden/golden.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <tuple>

#include "collectives/collectives.hpp"
#include "collectives/nccl/trees.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace golden {
namespace {

// The one place that calls the library. input: R rows of n elements; output: R rows of the result.
void golden_run(const GoldenRecord& record, std::span<const std::byte> input,
                std::span<std::byte> output) {
  const Problem problem = record.problem();
  const Shape shape{record.ranks, record.elements};
  const TensorView in{const_cast<std::byte*>(input.data()), problem.dtype, shape};
  const TensorView out{output.data(), problem.dtype, output_shape(record.collective, shape)};
  run(record.collective, in, out,
      {.op = problem.op, .algorithm = record.algorithm, .parameters = record.parameters});
}

const std::vector<GoldenRecord>& records() {
  static const std::vector<GoldenRecord> all = [] {
    std::ifstream file(VRANKS_GOLDEN_RECORDS);
    return read_golden(file);
  }();
  return all;
}

// "" if the result has the record's bits, otherwise what is wrong.
std::string compare(const GoldenRecord& record, std::span<const std::byte> input,
                    std::span<std::byte> output) {
  try {
    golden_run(record, input, output);
  } catch (const std::exception& error) {
    return error.what();
  }
  const bool scatters = record.collective == Collective::reduce_scatter;
  const std::size_t rows = scatters ? 1 : static_cast<std::size_t>(record.ranks);
  const std::size_t row_bytes = output.size() / rows;
  for (std::size_t r = 1; r < rows; ++r)
    if (std::memcmp(output.data(), output.data() + r * row_bytes, row_bytes) != 0)
      return fmt::format("rank {} holds other bits than rank 0", r);
  const std::uint64_t found = hash(output.first(row_bytes));
  if (found == record.hash) return "";
  return fmt::format("hash {:016x}, NCCL has {:016x}", found, record.hash);
}

// Records that share a prefix of the ranks of one input.
using Group = std::vector<const GoldenRecord*>;

std::vector<Group> groups() {
  std::map<std::tuple<std::string, InputKind, std::int64_t>, Group> by_input;
  for (const GoldenRecord& record : records())
    by_input[{record.dtype, record.input, record.elements}].push_back(&record);
  std::vector<Group> all;
  for (auto& [input, group] : by_input) all.push_back(std::move(group));
  return all;
}

struct Tally {
  std::int64_t matched = 0, total = 0;
};
using Tallies = std::map<std::string, Tally>;

void count(Tallies& tallies, const GoldenRecord& record, bool matched) {
  for (const std::string& key :
       {fmt::format("{} {}", record.algorithm, name(record.parameters.protocol)),
        fmt::format("dtype {}", record.dtype), fmt::format("op {}", record.op),
        std::string("all")}) {
    tallies[key].matched += matched;
    ++tallies[key].total;
  }
}

TEST(Golden, BitsAreThoseOfNccl) {
  ASSERT_EQ(records().size(), 10919u) << "of " << VRANKS_GOLDEN_RECORDS;
  Tallies tallies;
  std::int64_t wrong = 0;
  for (const Group& group : groups()) {
    const GoldenRecord& first = *group.front();
    const std::int64_t ranks = std::ranges::max(group, {}, &GoldenRecord::ranks)->ranks;
    const std::size_t row_bytes =
        element_bytes(first.dtype) * static_cast<std::size_t>(first.elements);
    std::vector<std::byte> input(row_bytes * static_cast<std::size_t>(ranks));
    make_input(first.dtype, first.input, ranks, first.elements, input);
    std::vector<std::string> results(group.size());
#pragma omp parallel for schedule(dynamic) num_threads(4)
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto used = row_bytes * static_cast<std::size_t>(group[i]->ranks);
      const bool scatters = group[i]->collective == Collective::reduce_scatter;
      std::vector<std::byte> output(scatters ? row_bytes : used);
      results[i] = compare(*group[i], std::span(input).first(used), output);
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      count(tallies, *group[i], results[i].empty());
      if (results[i].empty() || ++wrong > 20) continue;
      ADD_FAILURE() << group[i]->to_string() << ": " << results[i];
    }
  }
  for (const auto& [key, tally] : tallies)
    fmt::print("{:<20} {:>6} of {:>6} matched\n", key, tally.matched, tally.total);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(tallies["all"].matched, 10919);
}

// The trees that NCCL logged are those that follow from the nodes.
TEST(Golden, TreesAreThoseOfNccl) {
  std::int64_t several_nodes = 0;
  for (const GoldenRecord& record : records()) {
    if (record.algorithm != "nccl_tree") continue;
    Parameters parameters;
    parameters.channels = record.parameters.channels;
    parameters.ranks_per_node = static_cast<std::int32_t>(record.ranks_per_node);
    ASSERT_EQ(nccl::trees_of(record.ranks, parameters), record.parameters.trees)
        << record.to_string();
    several_nodes += record.ranks_per_node < record.ranks;
  }
  EXPECT_GT(several_nodes, 300);
}

TEST(Golden, RingsAreThoseOfNccl) {
  for (const GoldenRecord& record : records()) {
    if (record.algorithm != "nccl_ring") continue;
    Parameters parameters;
    parameters.channels = record.parameters.channels;
    ASSERT_EQ(nccl::rings_of(record.ranks, parameters), record.parameters.rings)
        << record.to_string();
  }
}

// Bits of element i of rank r.
std::uint64_t input_bits(std::string_view dtype, InputKind kind, std::int64_t r, std::int64_t i) {
  const std::size_t bytes = element_bytes(dtype);
  std::vector<std::byte> data(bytes * static_cast<std::size_t>((r + 1) * (i + 1)));
  make_input(dtype, kind, r + 1, i + 1, data);
  std::uint64_t bits = 0;
  std::memcpy(&bits, data.data() + data.size() - bytes, bytes);
  return bits;
}

struct InputRow {
  std::int64_t r, i;
  std::map<std::string_view, std::uint64_t> bits;
};

TEST(Golden, InputValuesAreAsDefined) {
  const InputRow rows[] = {
      {0,
       0,
       {{"f32", 0x40c44150},
        {"bf16", 0x40c4},
        {"f16", 0x4622},
        {"i32", 0xff8882a0},
        {"f64", 0x4018882a001ec773},
        {"f8e4m3", 0x4c},
        {"f8e5m2", 0x46}}},
      {0,
       1,
       {{"f32", 0x3c885168},
        {"bf16", 0x3c88},
        {"f16", 0x2443},
        {"f64", 0x3f910a2d22409700},
        {"f8e4m3", 0x09},
        {"f8e5m2", 0x24}}},
      {0, 1048578, {{"f32", 0xbffd4880}, {"bf16", 0xbffd}, {"f16", 0xbfea}, {"i32", 25254850}}},
      {1,
       5,
       {{"f32", 0xbdde45ec},
        {"bf16", 0xbdde},
        {"f16", 0xaef2},
        {"i32", 18987540},
        {"f64", 0xbfbbc8bd7a6cacd0},
        {"f8e4m3", 0x9e},
        {"f8e5m2", 0xaf}}},
      {3,
       1000,
       {{"f32", 0x3d853ed0}, {"f64", 0x3fb0a7da070fefb0}, {"f8e4m3", 0x18}, {"f8e5m2", 0x2c}}},
      {15, 0, {{"f32", 0x3c4d74a0}, {"bf16", 0x3c4d}, {"f16", 0x226c}}},
  };
  for (const auto& [r, i, bits] : rows)
    for (const auto& [dtype, expected] : bits)
      EXPECT_EQ(input_bits(dtype, InputKind::values, r, i), expected)
          << dtype << " " << r << " " << i;
}

TEST(Golden, SpecialInputsAreAsDefined) {
  const InputRow rows[] = {
      {0,
       0,
       {{"f32", 0x80000000},
        {"f64", 0x8000000000000000},
        {"bf16", 0x8000},
        {"f16", 0x8000},
        {"f8e4m3", 0x80},
        {"f8e5m2", 0x80},
        {"i32", 0xdbeefc50},
        {"i8", 0x50}}},
      {1,
       5,
       {{"f32", 0xff800000},
        {"f64", 0xfff0000000000000},
        {"bf16", 0xff80},
        {"f16", 0xfc00},
        {"f8e4m3", 0xfe},
        {"f8e5m2", 0xfc},
        {"u32", 0x2eea979c},
        {"u8", 0x9c}}},
      {0, 5, {{"f32", 0x003fdd38}, {"f64", 0x000007e65b3fdd38}, {"bf16", 0x0038}, {"f16", 0x0138}}},
      {0,
       17,
       {{"f32", 0x1885cf22}, {"f64", 0x00009e9e1885cf22}, {"bf16", 0xcf22}, {"f8e4m3", 0x22}}},
      {0, 78, {{"f32", 0xffffffff}, {"f64", 0xffffffffffffffff}, {"f16", 0xffff}, {"i8", 0}}},
      {2, 7, {{"f32", 0xc149536f}, {"f64", 0xc02000a71249536f}, {"bf16", 0xc16f}, {"f16", 0xcb6f}}},
      {4, 18, {{"f32", 0x409d0db4}, {"bf16", 0x40b4}, {"f16", 0x45b4}, {"f8e4m3", 0x4c}}},
      {7,
       2999,
       {{"f32", 0xff7fffff}, {"f64", 0xffefffffffffffff}, {"f8e4m3", 0xf7}, {"f8e5m2", 0xfb}}},
  };
  for (const auto& [r, i, bits] : rows)
    for (const auto& [dtype, expected] : bits)
      EXPECT_EQ(input_bits(dtype, InputKind::special, r, i), expected)
          << dtype << " " << r << " " << i;
}

TEST(Golden, HashIsFnv1a) {
  EXPECT_EQ(hash({}), 0xcbf29ce484222325u);
  const std::byte a{0x61};
  EXPECT_EQ(hash(std::span(&a, 1)), 0xaf63dc4c8601ec8cu);
}

}  // namespace
}  // namespace golden
}  // namespace vranks
