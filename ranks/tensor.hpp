// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A C-contiguous tensor in CPU memory that owns its elements.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "ranks/tensor_view.hpp"

namespace vranks {

class Tensor {
 public:
  Tensor() = default;
  // Elements are not initialised. Throws bad_argument if the shape is impossible, not_available
  // if the memory can't be had.
  Tensor(DType dtype, Shape shape);
  // The tensor that was moved from has no elements.
  Tensor(Tensor&& other) noexcept { *this = std::move(other); }
  Tensor& operator=(Tensor&& other) noexcept {
    dtype_ = other.dtype_;
    shape_ = std::exchange(other.shape_, {0});
    data_ = std::move(other.data_);
    return *this;
  }

  TensorView view() const { return {data_.get(), dtype_, shape_}; }
  std::byte* data() const { return data_.get(); }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t elements() const { return element_count(shape_, size_bytes(dtype_)); }
  std::int64_t bytes() const { return view().bytes(); }

  // The elements as T, which must be the dtype's storage type.
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_.get());
  }

  // The same bits read as another dtype of the same width (bf16 in a .npy file is uint16).
  void reinterpret_as(DType dtype);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  DType dtype_ = DType::f32;
  Shape shape_ = {0};
  std::unique_ptr<std::byte[], Free> data_;
};

}  // namespace vranks
