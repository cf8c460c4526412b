// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every backend against the plain reference, bit for bit: dtype x op x NaN policy x fp8 mode x R x
// n, on data of all kinds, with gaps between rows, in place, and with rows at odd addresses.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstring>
#include <random>

#include "collectives/collectives.hpp"
#include "kernels/backend.hpp"
#include "ranks/error.hpp"
#include "reference.hpp"

namespace vranks {
namespace {

enum class Data { random_bits, moderate, large };

// Random bits make every kind of NaN, infinity and subnormal; moderate numbers round; large ones
// overflow a sum but not a mean.
template <class T>
void fill(std::vector<T>& x, Data data, std::mt19937_64& random) {
  for (T& value : x) {
    const std::uint64_t bits = random();
    if constexpr (!reference::is_float<T>) {
      value = static_cast<T>(bits);
    } else if (data == Data::random_bits) {
      std::memcpy(&value, &bits, sizeof(T));
    } else {
      const double unit = static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63;
      const double largest = std::is_same_v<T, double> ? 1.7e308
                             : std::is_same_v<T, Half> ? 65000.0
                             : sizeof(T) == 1          ? 440.0
                                                       : 3.3e38;
      const double x_value = data == Data::large ? largest * (0.8 + 0.2 * unit) : unit;
      if constexpr (std::is_same_v<T, double>)
        value = x_value;
      else
        value = reference::from_carried<T>(static_cast<float>(x_value));
    }
  }
}

struct Case {
  Device device;
  std::int64_t ranks, elements;
  ReduceOp op;
  NanPolicy nan;
  Data data;
  std::int64_t gap = 0;     // elements between rows
  std::int64_t offset = 0;  // elements before the first row
  bool in_place = false;
  Fp8Mode fp8 = Fp8Mode::saturate;
};

template <class T>
void check(const Case& c, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::int64_t stride = c.elements + c.gap;
  const auto total = static_cast<std::size_t>(c.offset + c.ranks * stride);
  std::vector<T> in(total), out(total);
  fill(in, c.data, random);
  std::memset(out.data(), 0xa5, total * sizeof(T));

  const TreeFold shape{.out_rows = c.ranks,
                       .ranks = c.ranks,
                       .elements = c.elements,
                       .dtype = dtype_of<T>(),
                       .op = c.op,
                       .nan = c.nan,
                       .fp8 = c.fp8};
  const Backend& backend = backend_for(c.device);
  if (!backend.folds_trees_of(shape.dtype)) return;  // 8-bit floats on the CPU
  const DeviceBuffer device_in(total * sizeof(T), c.device);
  const DeviceBuffer device_out(total * sizeof(T), c.device);
  const std::size_t workspace_size = backend.workspace_bytes(shape, c.device.index);
  const DeviceBuffer workspace(workspace_size, c.device);
  device_in.copy_from_host(in.data(), total * sizeof(T));
  device_out.copy_from_host(out.data(), total * sizeof(T));

  TreeFold fold = shape;
  const auto start = static_cast<std::size_t>(c.offset) * sizeof(T);
  fold.in = static_cast<std::byte*>(device_in.data()) + start;
  fold.in_stride_bytes = stride * static_cast<std::int64_t>(sizeof(T));
  fold.out = static_cast<std::byte*>(c.in_place ? device_in.data() : device_out.data()) + start;
  fold.out_stride_bytes = fold.in_stride_bytes;
  backend.fold(fold, c.device.index, {workspace.data(), workspace_size}, nullptr);
  (c.in_place ? device_in : device_out).copy_to_host(out.data(), total * sizeof(T));

  for (std::int64_t i = 0; i < c.elements; ++i) {
    std::vector<T> column;
    for (std::int64_t r = 0; r < c.ranks; ++r)
      column.push_back(in[static_cast<std::size_t>(c.offset + r * stride + i)]);
    const T right = reference::reduce(column, c.op, c.nan, c.fp8);
    for (std::int64_t r = 0; r < c.ranks; ++r) {
      const T& found = out[static_cast<std::size_t>(c.offset + r * stride + i)];
      ASSERT_EQ(std::memcmp(&right, &found, sizeof(T)), 0)
          << name(shape.dtype) << ' ' << name(c.op) << " R = " << c.ranks << " n = " << c.elements
          << " rank " << r << " element " << i << " data " << static_cast<int>(c.data) << " gap "
          << c.gap << " offset " << c.offset << " seed " << seed;
    }
  }
  // What lies between and before the rows is nobody's to write.
  if (c.in_place) return;
  for (std::int64_t k = 0; k < c.offset; ++k) {
    T before;
    std::memset(&before, 0xa5, sizeof(T));
    ASSERT_EQ(std::memcmp(&before, &out[static_cast<std::size_t>(k)], sizeof(T)), 0);
  }
  for (std::int64_t r = 0; r < c.ranks; ++r)
    for (std::int64_t k = 0; k < c.gap; ++k) {
      T gap;
      std::memset(&gap, 0xa5, sizeof(T));
      const auto at = static_cast<std::size_t>(c.offset + r * stride + c.elements + k);
      ASSERT_EQ(std::memcmp(&gap, &out[at], sizeof(T)), 0) << "gap behind rank " << r;
    }
}

void check_all_types(const Case& c, std::uint64_t seed) {
  for (const DTypeInfo& dtype : dtypes())
    visit(dtype.dtype, [&]<class T>() {
      if constexpr (reference::has_tree_fold<T>) check<T>(c, seed);
    });
}

void check_8_bit_floats(const Case& c, std::uint64_t seed) {
  check<Float8E4M3>(c, seed);
  check<Float8E5M2>(c, seed);
}

// The table of ranks and elements; fewer columns where there are many ranks.
void check_table(Device device) {
  std::uint64_t seed = 1;
  std::vector<std::int64_t> all_ranks;
  for (std::int64_t r = 1; r <= 17; ++r) all_ranks.push_back(r);
  for (const std::int64_t r : {31, 32, 33, 64, 100, 257, 1000, 1024, 1025}) all_ranks.push_back(r);
  for (const std::int64_t ranks : all_ranks)
    for (const std::int64_t elements : {1, 3, 16, 33, 1000}) {
      if (ranks > 64 && elements > 33) continue;
      for (const ReduceOp op : reference::tree_fold_ops) {
        for (const Data data : {Data::random_bits, Data::moderate, Data::large}) {
          check_8_bit_floats({.device = device,
                              .ranks = ranks,
                              .elements = elements,
                              .op = op,
                              .nan = seed % 2 == 0 ? NanPolicy::propagate : NanPolicy::ignore,
                              .data = data,
                              .fp8 = Fp8Mode::ieee},
                             ++seed);
          check_all_types({device, ranks, elements, op, NanPolicy::propagate, data}, ++seed);
          if (is_ordered(op))
            check_all_types({device, ranks, elements, op, NanPolicy::ignore, data}, ++seed);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
}

void check_layouts(Device device) {
  std::uint64_t seed = 1000;
  for (const std::int64_t ranks : {2, 4, 7, 8, 9, 70, 300})
    for (const std::int64_t elements : {1, 5, 64, 2500})
      for (const std::int64_t gap : {0, 1, 16})
        for (const std::int64_t offset : {0, 1, 3, 16})
          for (const bool in_place : {false, true}) {
            if (ranks > 10 && elements > 64) continue;
            for (const ReduceOp op : {ReduceOp::mean, ReduceOp::min})
              check_all_types({device, ranks, elements, op, NanPolicy::propagate, Data::random_bits,
                               gap, offset, in_place},
                              ++seed);
            if (testing::Test::HasFatalFailure()) return;
          }
}

// Ranks far beyond the elements are cut into subtrees; also counts that a grid's y or z dimension
// could not hold.
void check_many_ranks(Device device) {
  std::uint64_t seed = 2000;
  for (const std::int64_t ranks : {4097, 65535, 65536, 70000, (1 << 20) + 1})
    for (const std::int64_t elements : {1, 3, 4}) {
      if (ranks > 100000 && elements != 3) continue;
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::max})
        for (const Data data : {Data::moderate, Data::large}) {
          const Case c{device, ranks, elements, op, NanPolicy::propagate, data};
          check<float>(c, ++seed);
          if (ranks > 100000) continue;
          check<BFloat16>(c, ++seed);
          check_8_bit_floats(c, ++seed);
          check<std::int8_t>(c, ++seed);
          check<std::uint16_t>(c, ++seed);
          check<std::int64_t>(c, ++seed);
          if (testing::Test::HasFatalFailure()) return;
        }
    }
}

bool no_device(Device device) {
  try {
    backend_for(device);
    return false;
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
    return true;
  }
}

constexpr Device cuda{DeviceKind::cuda, 0};
#define VR_SKIP_WITHOUT_CUDA() \
  if (no_device(cuda)) GTEST_SKIP() << "no CUDA device can be used here"

// Every instruction set that the kernels were compiled for and this processor has.
class TreeFoldOnCpu : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(static_cast<decltype(hwy::SupportedTargets())>(GetParam()));
    hwy::GetChosenTarget().DeInit();
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
};

TEST_P(TreeFoldOnCpu, Table) { check_table({}); }
TEST_P(TreeFoldOnCpu, Layouts) { check_layouts({}); }
TEST_P(TreeFoldOnCpu, ManyRanks) { check_many_ranks({}); }

std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> all;
  for (const std::int64_t target :
       {std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}, std::int64_t{HWY_STATIC_TARGET}})
    if ((hwy::SupportedTargets() & target) != 0) all.push_back(target);
  return all;
}
INSTANTIATE_TEST_SUITE_P(InstructionSets, TreeFoldOnCpu, testing::ValuesIn(targets()),
                         [](const auto& parameter) {
                           return std::string(hwy::TargetName(parameter.param));
                         });

TEST(TreeFoldOnCuda, Table) {
  VR_SKIP_WITHOUT_CUDA();
  check_table(cuda);
}
TEST(TreeFoldOnCuda, Layouts) {
  VR_SKIP_WITHOUT_CUDA();
  check_layouts(cuda);
}
// Long rows have kernels of their own.
TEST(TreeFoldOnCuda, LongRowsOf8BitFloats) {
  VR_SKIP_WITHOUT_CUDA();
  std::uint64_t seed = 3000;
  for (const std::int64_t ranks : {2, 5, 8})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::max})
      check_8_bit_floats({cuda, ranks, (1 << 18) + 16, op, NanPolicy::propagate, Data::random_bits},
                         ++seed);
}
TEST(TreeFoldOnCuda, ManyRanks) {
  VR_SKIP_WITHOUT_CUDA();
  check_many_ranks(cuda);
}

}  // namespace
}  // namespace vranks
