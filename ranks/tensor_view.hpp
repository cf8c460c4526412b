// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor that somebody else owns. In a tensor of shape (R, d0, ...) slice r is what virtual
// rank r holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ranks/device.hpp"
#include "ranks/dtype.hpp"
#include "ranks/shape.hpp"

namespace vranks {

struct TensorView {
  void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides = {};  // in elements; empty = C-contiguous
  Device device = {};

  std::int64_t ranks() const { return shape.empty() ? 0 : shape[0]; }
  std::int64_t elements() const { return element_count(shape, size_bytes(dtype)); }
  std::int64_t bytes() const { return elements() * static_cast<std::int64_t>(size_bytes(dtype)); }

  // Virtual rank r's tensor, of shape (d0, ...). Precondition: 0 <= r < ranks().
  TensorView slice(std::int64_t r) const;
};

// A view of `data` on the CPU, C-contiguous, with the dtype of T.
template <class T>
TensorView view(T* data, Shape shape) {
  using Element = std::remove_const_t<T>;
  return {const_cast<Element*>(data), dtype_of<Element>(), std::move(shape)};
}

// A tensor as the kernels see it: `ranks` rows of `elements` contiguous elements, `stride_bytes`
// from one row's start to the next.
struct Rows {
  std::byte* data = nullptr;
  std::int64_t ranks = 0;
  std::int64_t elements = 0;
  std::int64_t stride_bytes = 0;
  std::int64_t element_bytes = 1;

  std::int64_t row_bytes() const { return elements * element_bytes; }
  // Bytes from the first to behind the last element, gaps between rows included.
  std::int64_t span_bytes() const {
    return ranks == 0 || elements == 0 ? 0 : (ranks - 1) * stride_bytes + row_bytes();
  }
};

// Reads `tensor` as rows; `what` names it in messages ("input"). The stride between ranks is free
// as long as rows don't overlap. Throws bad_argument if it has no rank dimension, R = 0, a null
// pointer, a pointer that isn't aligned to the element, or strides whose slices overlap;
// not_supported if slices are not contiguous.
Rows rows_of(const TensorView& tensor, const char* what);

// `tensor` as one row: what a reduce gives. Same errors but for those about ranks.
Rows single_row_of(const TensorView& tensor, const char* what);

}  // namespace vranks
