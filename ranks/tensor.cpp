// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/tensor.hpp"

#include <cstdlib>
#include <string>

#include "ranks/error.hpp"

namespace vranks {

namespace {
constexpr std::size_t alignment = 64;  // one cache line, and the widest vector
}

void Tensor::Free::operator()(std::byte* memory) const { std::free(memory); }

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  const auto bytes = static_cast<std::size_t>(view().bytes());
  const std::size_t rounded = (bytes + alignment) / alignment * alignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (!data_)
    throw Error(ErrorKind::not_available, "no memory for a tensor of shape " + to_string(shape_) +
                                              ": " + std::to_string(bytes) + " bytes");
}

void Tensor::reinterpret_as(DType dtype) {
  if (size_bytes(dtype) != size_bytes(dtype_))
    throw Error(ErrorKind::bad_argument, "elements of " + std::string(name(dtype_)) +
                                             " can't be read as " + std::string(name(dtype)) +
                                             ": their widths differ");
  dtype_ = dtype;
}

}  // namespace vranks
