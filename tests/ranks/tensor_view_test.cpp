// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors as rows: which strides are read, and which are refused and why.
#include "ranks/tensor_view.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "ranks/tensor.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

class TensorViewTest : public testing::Test {
 protected:
  TensorViewTest() { std::iota(data_.begin(), data_.end(), 0.0f); }

  TensorView strided(Shape shape, Strides strides) {
    TensorView tensor = view(data_.data(), std::move(shape));
    tensor.strides = std::move(strides);
    return tensor;
  }

  static void refuse(ErrorKind kind, const TensorView& tensor,
                     std::initializer_list<const char*> phrases) {
    SCOPED_TRACE(to_string(tensor.shape) + " strides " + to_string(tensor.strides));
    expect_error(kind, {"input"}, [&] { rows_of(tensor, "input"); });
    expect_error(kind, phrases, [&] { rows_of(tensor, "input"); });
  }

  std::vector<float> data_ = std::vector<float>(1000);
};

TEST_F(TensorViewTest, KnowsItsSize) {
  const TensorView tensor = view(data_.data(), {4, 3, 2});
  EXPECT_EQ(tensor.dtype, DType::f32);
  EXPECT_EQ(tensor.ranks(), 4);
  EXPECT_EQ(tensor.elements(), 24);
  EXPECT_EQ(tensor.bytes(), 96);
  EXPECT_EQ(TensorView{}.ranks(), 0);
}

TEST_F(TensorViewTest, SlicesAreRanks) {
  const TensorView tensor = view(data_.data(), {4, 3, 2});
  const TensorView slice = tensor.slice(2);
  EXPECT_EQ(slice.shape, (Shape{3, 2}));
  EXPECT_EQ(*static_cast<float*>(slice.data), 12.0f);
  const TensorView spaced = strided({4, 3}, {10, 1}).slice(3);
  EXPECT_EQ(*static_cast<float*>(spaced.data), 30.0f);
  EXPECT_EQ(spaced.strides, (Strides{1}));
}

TEST_F(TensorViewTest, ReadsContiguousTensors) {
  for (const TensorView& tensor :
       {view(data_.data(), {4, 3, 2}), strided({4, 3, 2}, {6, 2, 1}), strided({4, 6}, {6, 1})}) {
    const Rows rows = rows_of(tensor, "input");
    EXPECT_EQ(rows.data, reinterpret_cast<std::byte*>(data_.data()));
    EXPECT_EQ(rows.ranks, 4);
    EXPECT_EQ(rows.elements, 6);
    EXPECT_EQ(rows.stride_bytes, 24);
    EXPECT_EQ(rows.element_bytes, 4);
    EXPECT_EQ(rows.row_bytes(), 24);
    EXPECT_EQ(rows.span_bytes(), 96);
  }
  EXPECT_EQ(rows_of(view(data_.data(), {4}), "input").elements, 1);
}

TEST_F(TensorViewTest, TheStrideBetweenRanksIsFree) {
  const Rows rows = rows_of(strided({4, 3, 2}, {10, 2, 1}), "input");
  EXPECT_EQ(rows.elements, 6);
  EXPECT_EQ(rows.stride_bytes, 40);
  EXPECT_EQ(rows.span_bytes(), 3 * 40 + 24);
}

TEST_F(TensorViewTest, TheStrideOfADimensionOfOneMeansNothing) {
  EXPECT_EQ(rows_of(strided({1, 3}, {-7, 1}), "input").stride_bytes, 12);
  EXPECT_EQ(rows_of(strided({1, 3}, {0, 1}), "input").stride_bytes, 12);
  EXPECT_EQ(rows_of(strided({4, 1, 3}, {3, 999, 1}), "input").stride_bytes, 12);
  EXPECT_EQ(rows_of(strided({4, 3, 1}, {3, 1, 0}), "input").stride_bytes, 12);
}

TEST_F(TensorViewTest, EmptySlicesNeedNoMemory) {
  for (Strides strides : {Strides{}, Strides{0, 1}, Strides{-5, 7}}) {
    TensorView tensor = strided({4, 0}, std::move(strides));
    tensor.data = nullptr;
    const Rows rows = rows_of(tensor, "input");
    EXPECT_EQ(rows.ranks, 4);
    EXPECT_EQ(rows.elements, 0);
    EXPECT_EQ(rows.span_bytes(), 0);
  }
}

TEST_F(TensorViewTest, RefusesTensorsWithoutRanks) {
  refuse(ErrorKind::bad_argument, view(data_.data(), {}),
         {"no dimensions", "dimension 0 counts the ranks"});
  refuse(ErrorKind::bad_argument, view(data_.data(), {0, 3}), {"(0, 3)", "R = 0"});
}

TEST_F(TensorViewTest, RefusesImpossibleTensors) {
  refuse(ErrorKind::bad_argument, strided({4, 3}, {1}),
         {"(4, 3)", "strides (1,)", "one stride for each dimension"});
  refuse(ErrorKind::bad_argument, view<float>(nullptr, {4, 3}), {"data is null"});
  TensorView shifted = view(data_.data(), {4, 3});
  shifted.data = reinterpret_cast<std::byte*>(data_.data()) + 2;
  refuse(ErrorKind::bad_argument, shifted, {"not aligned to its 4-byte elements"});
  // Complex numbers need no more than their parts.
  TensorView numbers = view(reinterpret_cast<std::complex<double>*>(data_.data()), {4, 3});
  numbers.data = reinterpret_cast<std::byte*>(data_.data()) + 8;
  EXPECT_EQ(rows_of(numbers, "input").elements, 3);
  numbers.data = reinterpret_cast<std::byte*>(data_.data()) + 4;
  refuse(ErrorKind::bad_argument, numbers, {"not aligned to its 8-byte parts"});
  // These two are refused by element_count, which knows no name.
  expect_error(ErrorKind::bad_argument, {"negative dimension -3"}, [&] {
    rows_of(view(data_.data(), {4, -3}), "input");
  });
  expect_error(ErrorKind::bad_argument, {"2^63 - 1 bytes"}, [&] {
    rows_of(view(data_.data(), {most, most}), "input");
  });
  refuse(ErrorKind::bad_argument, strided({4, 3}, {most / 4, 1}), {"spans more than 2^63 - 1"});
}

TEST_F(TensorViewTest, RefusesOverlap) {
  refuse(ErrorKind::bad_argument, strided({4, 3}, {2, 1}),
         {"stride of 2 elements between ranks", "slices of 3 elements overlap"});
  refuse(ErrorKind::bad_argument, strided({4, 3}, {0, 1}), {"stride of 0"});
  refuse(ErrorKind::bad_argument, strided({4, 3}, {3, 0}),
         {"stride 0 of dimension 1", "elements overlap"});
  refuse(ErrorKind::bad_argument, strided({4, 3, 2}, {6, 1, 1}), {"stride 1 of dimension 1"});
  refuse(ErrorKind::bad_argument, strided({4, 3, 2}, {6, -1, 1}), {"stride -1 of dimension 1"});
}

TEST_F(TensorViewTest, RefusesSlicesThatAreNotContiguous) {
  refuse(ErrorKind::not_supported, strided({4, 3}, {6, 2}),
         {"(4, 3)", "(6, 2)", "dimension 1 has stride 2 where 1 is needed"});
  refuse(ErrorKind::not_supported, strided({4, 3, 2}, {12, 4, 1}),
         {"dimension 1 has stride 4 where 2 is needed", "copy the tensor"});
  refuse(ErrorKind::not_supported, strided({4, 3}, {3, -1}), {"stride -1 where 1"});
  refuse(ErrorKind::not_supported, strided({4, 2, 3}, {6, 1, 2}), {"dimension 2 has stride 2"});
}

TEST_F(TensorViewTest, ASingleRowTakesAnyContiguousTensor) {
  EXPECT_EQ(single_row_of(view(data_.data(), {}), "output").elements, 1);
  EXPECT_EQ(single_row_of(view(data_.data(), {0, 3}), "output").elements, 0);
  EXPECT_EQ(single_row_of(strided({1, 3}, {99, 1}), "output").elements, 3);
  const Rows row = single_row_of(strided({4, 3}, {3, 1}), "output");
  EXPECT_EQ(row.ranks, 1);
  EXPECT_EQ(row.elements, 12);
  EXPECT_EQ(row.span_bytes(), 48);
}

TEST_F(TensorViewTest, ASingleRowHasNoGaps) {
  const auto refuse_row = [](ErrorKind kind, const TensorView& tensor, const char* phrase) {
    expect_error(kind, {"output", phrase}, [&] { single_row_of(tensor, "output"); });
  };
  refuse_row(ErrorKind::not_supported, strided({4, 3}, {10, 1}), "dimension 0 has stride 10");
  refuse_row(ErrorKind::bad_argument, strided({4, 3}, {2, 1}), "elements overlap");
  refuse_row(ErrorKind::bad_argument, strided({4, 3}, {1}), "one stride for each");
  refuse_row(ErrorKind::bad_argument, view<float>(nullptr, {4, 3}), "data is null");
  TensorView shifted = view(data_.data(), {4, 3});
  shifted.data = reinterpret_cast<std::byte*>(data_.data()) + 1;
  refuse_row(ErrorKind::bad_argument, shifted, "not aligned");
}

// Whatever strides are given: accepted rows hold the elements that the strides say, each once.
RC_GTEST_PROP(TensorView, RowsAreWhatTheStridesSay, ()) {
  std::vector<float> data(4096);
  std::iota(data.begin(), data.end(), 0.0f);
  const auto dimensions = *rc::gen::inRange<std::size_t>(1, 4);
  const auto shape = *rc::gen::container<Shape>(dimensions, rc::gen::inRange<std::int64_t>(1, 5));
  Strides strides = contiguous_strides(shape);
  strides[0] += *rc::gen::inRange<std::int64_t>(-2, 5);
  if (*rc::gen::inRange(0, 4) == 0)
    strides[*rc::gen::inRange<std::size_t>(0, dimensions)] = *rc::gen::inRange<std::int64_t>(0, 9);
  TensorView tensor = view(data.data(), shape);
  tensor.strides = strides;

  // The element that the strides put at each index, in C order.
  std::vector<std::int64_t> places = {0};
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::vector<std::int64_t> deeper;
    for (const std::int64_t place : places)
      for (std::int64_t k = 0; k < shape[i]; ++k) deeper.push_back(place + k * strides[i]);
    places = std::move(deeper);
  }
  const bool distinct =
      std::set<std::int64_t>(places.begin(), places.end()).size() == places.size();
  try {
    const Rows rows = rows_of(tensor, "input");
    RC_ASSERT(distinct);
    RC_ASSERT(rows.ranks * rows.elements == static_cast<std::int64_t>(places.size()));
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / rows.elements;
      const auto column = static_cast<std::int64_t>(i) % rows.elements;
      const std::byte* const at = rows.data + row * rows.stride_bytes + column * 4;
      RC_ASSERT(*reinterpret_cast<const float*>(at) == static_cast<float>(places[i]));
    }
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::not_supported || !distinct);
  }
}

TEST(Tensor, OwnsAlignedMemory) {
  const Tensor tensor(DType::f64, {4, 3});
  EXPECT_EQ(tensor.bytes(), 96);
  EXPECT_EQ(tensor.elements(), 12);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64, 0u);
  EXPECT_EQ(tensor.view().shape, (Shape{4, 3}));
  EXPECT_EQ(Tensor().bytes(), 0);
  EXPECT_EQ(Tensor(DType::f32, {4, 0}).bytes(), 0);
}

TEST(Tensor, RefusesImpossibleOrUnaffordableShapes) {
  expect_error(ErrorKind::bad_argument, {"negative dimension"}, [] { Tensor(DType::f32, {-1}); });
  expect_error(ErrorKind::bad_argument, {"2^63 - 1"}, [] { Tensor(DType::f32, {most}); });
#if !defined(__SANITIZE_ADDRESS__)  // which aborts instead
  expect_error(ErrorKind::not_available, {"no memory", "9223372036854775807 bytes"},
               [] { Tensor(DType::u8, {most}); });
#endif
}

TEST(Tensor, ReadsBitsAsAnotherDTypeOfTheSameWidth) {
  Tensor tensor(DType::u16, {2});
  tensor.reinterpret_as(DType::bf16);
  EXPECT_EQ(tensor.dtype(), DType::bf16);
  expect_error(ErrorKind::bad_argument, {"bf16", "f32", "widths differ"},
               [&] { tensor.reinterpret_as(DType::f32); });
  EXPECT_EQ(tensor.dtype(), DType::bf16);
}

}  // namespace
}  // namespace vranks
