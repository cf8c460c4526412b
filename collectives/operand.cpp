// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/operand.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/overlap.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

[[noreturn]] void refuse(const char* what, const TensorView& tensor, const std::string& rule) {
  std::string text = fmt::format("{} of shape {}", what, to_string(tensor.shape));
  if (!tensor.strides.empty()) text += fmt::format(" and strides {}", to_string(tensor.strides));
  throw Error(ErrorKind::bad_argument, text + ": " + rule);
}

// Elements of complex numbers are aligned as their parts are.
std::size_t alignment(DType dtype) {
  return is_complex(dtype) ? size_bytes(dtype) / 2 : size_bytes(dtype);
}

struct Extent {
  std::int64_t lowest = 0, behind = 0;  // elements from the pointer
};

// Throws if the tensor spans more than memory can hold.
Extent extent_of(const TensorView& tensor, const char* what) {
  Extent extent{0, 1};
  const std::int64_t most = INT64_MAX / 32;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    std::int64_t step = 0;
    if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &step) ||
        __builtin_add_overflow(step < 0 ? extent.lowest : extent.behind, step,
                               step < 0 ? &extent.lowest : &extent.behind) ||
        extent.behind > most || extent.lowest < -most)
      refuse(what, tensor, "spans more than 2^63 - 1 bytes");
  }
  return extent;
}

// Whether two elements may lie in one place: sorted by stride, each dimension must step over all
// that the smaller ones reach. (Interlocking strides that pass nevertheless are refused too.)
void check_apart(const TensorView& tensor, const char* what) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    if (tensor.shape[i] > 1) dimensions.emplace_back(std::abs(tensor.strides[i]), tensor.shape[i]);
  std::ranges::sort(dimensions);
  std::int64_t reached = 1;
  for (const auto& [stride, length] : dimensions) {
    if (stride < reached)
      refuse(what, tensor,
             fmt::format("a stride of {} makes elements overlap, and an output must hold each "
                         "once",
                         stride));
    reached += stride * (length - 1);
  }
}

// Checks a tensor and returns it with its strides written out.
TensorView checked(TensorView tensor, Operand::Use use, const char* what) {
  if (!tensor.strides.empty() && tensor.strides.size() != tensor.shape.size())
    refuse(what, tensor, "needs one stride for each dimension");
  const std::int64_t elements = tensor.elements();
  if (tensor.strides.empty()) tensor.strides = contiguous_strides(tensor.shape);
  if (elements == 0) return tensor;
  if (tensor.data == nullptr) refuse(what, tensor, "data is null");
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % alignment(tensor.dtype) != 0)
    refuse(what, tensor,
           fmt::format("data is not aligned to its {}-byte elements", alignment(tensor.dtype)));
  (void)extent_of(tensor, what);
  if (use == Operand::Use::written) check_apart(tensor, what);
  return tensor;
}

}  // namespace

void Operand::read_slice(const TensorView& slice, Use, const char* what) {
  dtype_ = slice.dtype;
  device_ = slice.device;
  shape_ = slice.shape;
  elements_ = slice.elements();
  if (elements_ == 0) return;
  const auto width = static_cast<std::int64_t>(size_bytes(dtype_));
  const Extent extent = extent_of(slice, what);
  lowest_ = extent.lowest * width;
  behind_ = extent.behind * width;
  std::int64_t expected = 1;
  for (std::size_t i = shape_.size(); i-- > 0; expected *= shape_[i])
    if (shape_[i] != 1 && slice.strides[i] != expected) strides_ = slice.strides;
}

Operand::Operand(const TensorView& tensor, Use use, const char* what) {
  if (tensor.shape.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("{} has no dimensions; dimension 0 counts the ranks, so a shape such "
                            "as (R, ...) is needed",
                            what));
  if (tensor.ranks() == 0) refuse(what, tensor, "R = 0; at least one rank is needed");
  const TensorView all = checked(tensor, use, what);
  TensorView slice = all;
  slice.shape.erase(slice.shape.begin());
  slice.strides.erase(slice.strides.begin());
  read_slice(slice, use, what);
  ranks_ = tensor.ranks();
  if (elements_ == 0) return;
  data_ = static_cast<std::byte*>(tensor.data);
  // A single rank has no next one.
  stride_bytes_ =
      ranks_ == 1 ? slice_bytes() : all.strides[0] * static_cast<std::int64_t>(size_bytes(dtype_));
}

Operand::Operand(std::span<const TensorView> slices, Use use, const char* what) {
  if (slices.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("{} has no rank; at least one is needed", what));
  ranks_ = static_cast<std::int64_t>(slices.size());
  const auto length_of = [](const TensorView& slice) {
    return slice.shape.empty() ? std::int64_t{1} : slice.shape[0];
  };
  std::size_t longest = 0;
  for (std::size_t r = 0; r < slices.size(); ++r)
    if (length_of(slices[r]) > length_of(slices[longest])) longest = r;
  const TensorView model = checked(slices[longest], use, what);
  read_slice(model, use, what);
  for (std::size_t r = 0; r < slices.size(); ++r) {
    const std::string name = fmt::format("{} of rank {}", what, r);
    TensorView slice = checked(slices[r], use, name.c_str());
    const std::int64_t length = length_of(slice);
    lengths_.push_back(length);
    if (!slice.shape.empty()) slice.shape[0] = length_of(model);
    if (slice.shape != shape_)
      refuse(name.c_str(), slices[r],
             fmt::format("rank {}'s has shape {}, and all but the first dimension must be equal",
                         longest, to_string(shape_)));
    if (slice.dtype != dtype_)
      refuse(name.c_str(), slices[r],
             fmt::format("is {} but rank {}'s is {}", vranks::name(slice.dtype), longest,
                         vranks::name(dtype_)));
    if (slice.device != device_)
      refuse(name.c_str(), slices[r],
             fmt::format("is on {} but rank {}'s is on {}", to_string(slice.device), longest,
                         to_string(device_)));
    if (length > 0 && elements_ > 0 && slice.strides != model.strides)
      refuse(name.c_str(), slices[r],
             fmt::format("rank {}'s has strides {}, and all must be equal", longest,
                         to_string(model.strides)));
    table_.push_back(static_cast<std::byte*>(slice.data));
  }
  if (std::ranges::all_of(lengths_, [&](std::int64_t length) { return length == lengths_[0]; }))
    lengths_.clear();
  if (elements_ == 0) {
    table_.clear();
    return;
  }
  if (use == Use::written) refuse_overlap_of_slices(*this, what);
}

std::int64_t Operand::behind(std::int64_t r) const {
  if (!is_ragged()) return behind_;
  return length(r) * (slice_bytes() / shape_[0]);
}

void Operand::reorder(std::span<const std::int64_t> order) {
  if (empty()) return;
  const RowAddresses rows = this->rows();
  std::vector<std::byte*> table;
  std::vector<std::int64_t> lengths;
  table.reserve(order.size());
  for (const std::int64_t r : order) {
    table.push_back(rows.row(r));
    if (is_ragged()) lengths.push_back(length(r));
  }
  table_ = std::move(table);
  lengths_ = std::move(lengths);
}

void Operand::pack(std::byte* to, const Backend& backend, Stream stream) const {
  copy(to, true, backend, stream);
}

void Operand::unpack(const std::byte* from, const Backend& backend, Stream stream) const {
  copy(const_cast<std::byte*>(from), false, backend, stream);
}

void Operand::copy(std::byte* packed, bool packs, const Backend& backend, Stream stream) const {
  if (empty()) return;
  const auto width = static_cast<std::int64_t>(size_bytes(dtype_));
  StridedCopy copy{.element_bytes = width, .extents = shape_};
  for (const std::int64_t stride : contiguous_strides(shape_))
    copy.to_strides.push_back(stride * width);
  for (const std::int64_t stride : strides_) copy.from_strides.push_back(stride * width);
  if (is_contiguous()) copy.from_strides = copy.to_strides;
  if (is_uniform()) {
    copy.extents.insert(copy.extents.begin(), ranks_);
    copy.from_strides.insert(copy.from_strides.begin(), stride_bytes_);
    copy.to_strides.insert(copy.to_strides.begin(), slice_bytes());
  }
  // So far from the slices to the packed ones.
  if (!packs) std::swap(copy.from_strides, copy.to_strides);
  const RowAddresses rows = this->rows();
  for (std::int64_t r = 0; r < (is_uniform() ? 1 : ranks_); ++r) {
    std::byte* const slice = rows.row(r);
    std::byte* const row = packed + r * slice_bytes();
    if (is_ragged()) copy.extents[0] = length(r);
    if (is_ragged() && length(r) == 0) continue;
    copy.from = packs ? slice : row;
    copy.to = packs ? row : slice;
    backend.copy(copy, device_.index, stream);
  }
}

}  // namespace vranks
