// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/tensor_view.hpp"

#include <string>

#include "ranks/error.hpp"

namespace vranks {

TensorView TensorView::slice(std::int64_t r) const {
  const std::int64_t stride = strides.empty() ? contiguous_strides(shape)[0] : strides[0];
  TensorView rank = *this;
  if (elements() != 0)
    rank.data = static_cast<std::byte*>(data) + r * stride * std::int64_t(size_bytes(dtype));
  rank.shape.erase(rank.shape.begin());
  if (!strides.empty()) rank.strides.erase(rank.strides.begin());
  return rank;
}

namespace {

[[noreturn]] void refuse(ErrorKind kind, const char* what, const TensorView& tensor,
                         const std::string& rule) {
  std::string text = std::string(what) + " of shape " + to_string(tensor.shape);
  if (!tensor.strides.empty()) text += " and strides " + to_string(tensor.strides);
  throw Error(kind, text + ": " + rule);
}

// The checks that hold for every tensor; returns its element count.
std::int64_t check_tensor(const TensorView& tensor, const char* what) {
  if (!tensor.strides.empty() && tensor.strides.size() != tensor.shape.size())
    refuse(ErrorKind::bad_argument, what, tensor, "needs one stride for each dimension");
  const std::int64_t elements = tensor.elements();
  if (elements == 0) return 0;
  if (tensor.data == nullptr) refuse(ErrorKind::bad_argument, what, tensor, "data is null");
  // Complex numbers are aligned as their parts are.
  const std::size_t alignment = size_bytes(part_dtype(tensor.dtype));
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % alignment != 0)
    refuse(ErrorKind::bad_argument, what, tensor,
           "data is not aligned to its " + std::to_string(alignment) + "-byte " +
               (is_complex(tensor.dtype) ? "parts" : "elements"));
  return elements;
}

// Dimensions from `first` on must lie as in a C-contiguous tensor; where a dimension is 1 its
// stride means nothing.
void check_contiguous(const TensorView& tensor, std::size_t first, const char* what) {
  if (tensor.strides.empty()) return;
  std::int64_t expected = 1;
  for (std::size_t i = tensor.shape.size(); i-- > first;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) {
      const bool overlaps = tensor.strides[i] < expected && tensor.strides[i] > -expected;
      if (overlaps)
        refuse(ErrorKind::bad_argument, what, tensor,
               "stride " + std::to_string(tensor.strides[i]) + " of dimension " +
                   std::to_string(i) + " makes elements overlap");
      refuse(ErrorKind::not_supported, what, tensor,
             "a rank's slice must be contiguous; dimension " + std::to_string(i) + " has stride " +
                 std::to_string(tensor.strides[i]) + " where " + std::to_string(expected) +
                 " is needed (copy the tensor to contiguous memory first)");
    }
    expected *= tensor.shape[i];
  }
}

}  // namespace

Rows rows_of(const TensorView& tensor, const char* what) {
  if (tensor.shape.empty())
    throw Error(ErrorKind::bad_argument,
                std::string(what) +
                    " has no dimensions; dimension 0 counts the ranks, so a "
                    "shape such as (R, ...) is needed");
  if (tensor.ranks() == 0)
    refuse(ErrorKind::bad_argument, what, tensor, "R = 0; at least one rank is needed");
  const std::int64_t elements = check_tensor(tensor, what);
  const std::int64_t width = static_cast<std::int64_t>(size_bytes(tensor.dtype));
  const std::int64_t ranks = tensor.ranks();
  if (elements == 0) return {nullptr, ranks, 0, 0, width};

  check_contiguous(tensor, 1, what);
  const std::int64_t row = elements / ranks;
  const std::int64_t stride = tensor.strides.empty() || ranks == 1 ? row : tensor.strides[0];
  if (stride <= -row)
    refuse(ErrorKind::not_supported, what, tensor,
           "ranks lie in reverse order (stride " + std::to_string(stride) +
               " between them); copy the tensor to contiguous memory first");
  if (stride < row)
    refuse(ErrorKind::bad_argument, what, tensor,
           "a stride of " + std::to_string(stride) + " elements between ranks makes slices of " +
               std::to_string(row) + " elements overlap");
  std::int64_t span = 0;
  if (__builtin_mul_overflow(stride, ranks - 1, &span) ||
      __builtin_add_overflow(span, row, &span) || __builtin_mul_overflow(span, width, &span))
    refuse(ErrorKind::bad_argument, what, tensor, "spans more than 2^63 - 1 bytes");
  return {static_cast<std::byte*>(tensor.data), ranks, row, stride * width, width};
}

Rows single_row_of(const TensorView& tensor, const char* what) {
  const std::int64_t elements = check_tensor(tensor, what);
  if (elements != 0) check_contiguous(tensor, 0, what);
  const std::int64_t width = static_cast<std::int64_t>(size_bytes(tensor.dtype));
  return {static_cast<std::byte*>(tensor.data), 1, elements, elements * width, width};
}

}  // namespace vranks
