// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// An input or output as a call sees it: one slice a rank, all of one shape and dtype, each anywhere
// in the memory of one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/fold_program.hpp"
#include "ranks/tensor_view.hpp"

namespace vranks {

class Operand {
 public:
  enum class Use { read, written };

  // Nothing: the second output of an op that has none.
  Operand() = default;
  // A tensor of shape (R, d0, ...). `what` names it in messages ("input"). Throws bad_argument for
  // R = 0, a null or unaligned pointer, and for outputs whose elements overlap.
  Operand(const TensorView& tensor, Use use, const char* what);
  // One tensor a rank, all of the same shape (d0, ...), dtype and device; only d0 may differ, see
  // is_ragged(). Same errors, and bad_argument, naming the rank, for one that differs.
  Operand(std::span<const TensorView> slices, Use use, const char* what);

  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  std::int64_t ranks() const { return ranks_; }
  // Of the longest slice.
  const Shape& slice_shape() const { return shape_; }
  bool is_ragged() const { return !lengths_.empty(); }
  // d0 of rank r's slice, 1 if slices have no dimensions.
  std::int64_t length(std::int64_t r) const {
    if (is_ragged()) return lengths_[static_cast<std::size_t>(r)];
    return shape_.empty() ? 1 : shape_[0];
  }
  // Bytes from rank r's pointer to behind its last element.
  std::int64_t behind(std::int64_t r) const;
  std::int64_t slice_elements() const { return elements_; }
  std::int64_t slice_bytes() const {
    return elements_ * static_cast<std::int64_t>(size_bytes(dtype_));
  }
  std::int64_t bytes() const { return ranks_ * slice_bytes(); }
  bool empty() const { return ranks_ == 0 || elements_ == 0; }

  // Strides of a slice, in elements.
  Strides strides() const { return is_contiguous() ? contiguous_strides(shape_) : strides_; }
  // Whether every slice is contiguous; otherwise kernels work on a copy.
  bool is_contiguous() const { return strides_.empty(); }
  // Whether slices follow each other at equal distances, in the order they are in now.
  bool is_uniform() const { return table_.empty(); }
  RowAddresses rows() const {
    return {.data = data_, .stride_bytes = stride_bytes_, .table = table_};
  }
  // Bytes from a slice's pointer to its lowest element.
  std::int64_t lowest() const { return lowest_; }

  // Moves the slices, so that the first starts there. False, and nothing is moved, for a null or
  // unaligned pointer. Precondition: is_uniform(), and not empty().
  bool move_to(void* data);
  // Puts the slices in that order: slice k becomes what was slice order[k].
  void reorder(std::span<const std::int64_t> order);

  // Copies all slices, one behind the other and without gaps, to `to`, or from there to here.
  void pack(std::byte* to, const Backend& backend, Stream stream) const;
  void unpack(const std::byte* from, const Backend& backend, Stream stream) const;

 private:
  void read_slice(const TensorView& tensor, std::size_t first, std::int64_t elements);
  void copy(std::byte* packed, bool packs, const Backend& backend, Stream stream) const;

  DType dtype_ = DType::f32;
  Device device_ = {};
  std::int64_t ranks_ = 0;
  Shape shape_;
  Strides strides_;                    // of a slice, in elements; empty: contiguous
  std::vector<std::int64_t> lengths_;  // d0 of each rank; empty: all equal
  std::int64_t elements_ = 0;
  std::int64_t lowest_ = 0, behind_ = 0;
  std::byte* data_ = nullptr;
  std::int64_t stride_bytes_ = 0;
  std::vector<std::byte*> table_;  // empty: uniform
};

// Rows without gaps in memory of one's own.
inline RowAddresses packed_rows(std::byte* data, std::int64_t row_bytes) {
  return {.data = data, .stride_bytes = row_bytes};
}

}  // namespace vranks
