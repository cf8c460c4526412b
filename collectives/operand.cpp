// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/operand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "collectives/overlap.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// What messages call a tensor: "input", or "input of rank 3".
struct Name {
  const char* what;
  std::optional<std::size_t> rank = {};
};

[[noreturn]] void refuse(const Name& name, const TensorView& tensor, const std::string& rule) {
  std::string text = name.what;
  if (name.rank) text += fmt::format(" of rank {}", *name.rank);
  text += fmt::format(" of shape {}", to_string(tensor.shape));
  if (!tensor.strides.empty()) text += fmt::format(" and strides {}", to_string(tensor.strides));
  throw Error(ErrorKind::bad_argument, text + ": " + rule);
}

// Elements of complex numbers are aligned as their parts are.
std::size_t alignment(DType dtype) {
  return is_complex(dtype) ? size_bytes(dtype) / 2 : size_bytes(dtype);
}

bool is_aligned(const void* data, DType dtype) {
  return reinterpret_cast<std::uintptr_t>(data) % alignment(dtype) == 0;
}

// As it is, with its strides written out.
TensorView with_strides(TensorView tensor) {
  if (tensor.strides.empty()) tensor.strides = contiguous_strides(tensor.shape);
  return tensor;
}

struct Extent {
  std::int64_t lowest = 0, behind = 0;  // elements from the pointer
};

// Of the dimensions from `first` on, which have so many elements, at least 1. Nothing if they span
// more than memory can hold.
std::optional<Extent> extent_of(const TensorView& tensor, std::size_t first,
                                std::int64_t elements) {
  Extent extent{0, tensor.strides.empty() ? elements : 1};
  bool overflows = false;
  for (std::size_t i = first; i < tensor.strides.size(); ++i) {
    std::int64_t step = 0;
    overflows |= __builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &step);
    std::int64_t& end = step < 0 ? extent.lowest : extent.behind;
    overflows |= __builtin_add_overflow(end, step, &end);
  }
  constexpr std::int64_t most = INT64_MAX / 32;
  if (overflows || extent.behind > most || extent.lowest < -most) return std::nullopt;
  return extent;
}

// Whether two elements may lie in one place: sorted by stride, each dimension must step over all
// that the smaller ones reach. (Interlocking strides that pass nevertheless are refused too.)
void check_apart(const TensorView& tensor, const Name& name) {
  struct Dimension {
    std::int64_t stride, length;
    auto operator<=>(const Dimension&) const = default;
  };
  // Most often they come sorted, the largest stride first, and need no list.
  std::int64_t reached = 1;
  bool is_sorted = true;
  for (std::size_t i = tensor.strides.size(); i-- > 0 && is_sorted;) {
    if (tensor.shape[i] == 1) continue;
    is_sorted = std::abs(tensor.strides[i]) >= reached;
    reached += std::abs(tensor.strides[i]) * (tensor.shape[i] - 1);
  }
  if (is_sorted) return;
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    if (tensor.shape[i] > 1) dimensions.push_back({std::abs(tensor.strides[i]), tensor.shape[i]});
  std::ranges::sort(dimensions);
  reached = 1;
  for (const auto& [stride, length] : dimensions) {
    if (stride < reached)
      refuse(name, tensor,
             fmt::format("a stride of {} makes elements overlap, and an output must hold each "
                         "once",
                         stride));
    reached += stride * (length - 1);
  }
}

// Checks a tensor and returns how many elements it has.
std::int64_t checked_elements(const TensorView& tensor, Operand::Use use, const Name& name) {
  if (!tensor.strides.empty() && tensor.strides.size() != tensor.shape.size())
    refuse(name, tensor, "needs one stride for each dimension");
  const std::int64_t elements = tensor.elements();
  if (elements == 0) return 0;
  if (tensor.data == nullptr) refuse(name, with_strides(tensor), "data is null");
  if (!is_aligned(tensor.data, tensor.dtype))
    refuse(name, with_strides(tensor),
           fmt::format("data is not aligned to its {}-byte elements", alignment(tensor.dtype)));
  if (!extent_of(tensor, 0, elements))
    refuse(name, with_strides(tensor), "spans more than 2^63 - 1 bytes");
  if (use == Operand::Use::written) check_apart(tensor, name);
  return elements;
}

}  // namespace

// Of a checked tensor, whose dimensions from `first` on are those of a slice.
void Operand::read_slice(const TensorView& tensor, std::size_t first, std::int64_t elements) {
  dtype_ = tensor.dtype;
  device_ = tensor.device;
  const auto slice_of = [&](const auto& dimensions) {
    return std::span(dimensions).subspan(first);
  };
  const std::span<const std::int64_t> shape = slice_of(tensor.shape);
  shape_.assign(shape.begin(), shape.end());
  elements_ = elements;
  if (elements_ == 0) return;
  const auto width = static_cast<std::int64_t>(size_bytes(dtype_));
  const Extent extent = *extent_of(tensor, first, elements);
  lowest_ = extent.lowest * width;
  behind_ = extent.behind * width;
  if (tensor.strides.empty()) return;
  const std::span<const std::int64_t> strides = slice_of(tensor.strides);
  std::int64_t expected = 1;
  bool is_contiguous = true;
  for (std::size_t i = shape_.size(); i-- > 0; expected *= shape_[i])
    is_contiguous &= shape_[i] == 1 || strides[i] == expected;
  if (!is_contiguous) strides_.assign(strides.begin(), strides.end());
}

Operand::Operand(const TensorView& tensor, Use use, const char* what) {
  if (tensor.shape.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("{} has no dimensions; dimension 0 counts the ranks, so a shape such "
                            "as (R, ...) is needed",
                            what));
  if (tensor.ranks() == 0) refuse({what}, tensor, "R = 0; at least one rank is needed");
  const std::int64_t elements = checked_elements(tensor, use, {what});
  ranks_ = tensor.ranks();
  read_slice(tensor, 1, elements / ranks_);
  if (elements_ == 0) return;
  data_ = static_cast<std::byte*>(tensor.data);
  // A single rank has no next one.
  stride_bytes_ = ranks_ == 1 || tensor.strides.empty()
                      ? slice_bytes()
                      : tensor.strides[0] * static_cast<std::int64_t>(size_bytes(dtype_));
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
  bool is_ragged = false;
  for (std::size_t r = 0; r < slices.size(); ++r) {
    if (length_of(slices[r]) > length_of(slices[longest])) longest = r;
    is_ragged |= length_of(slices[r]) != length_of(slices[0]);
  }
  const TensorView& model = slices[longest];
  read_slice(model, 0, checked_elements(model, use, {what}));
  table_.reserve(slices.size());
  for (std::size_t r = 0; r < slices.size(); ++r) {
    const TensorView& slice = slices[r];
    const Name name{what, r};
    (void)checked_elements(slice, use, name);
    const std::int64_t length = length_of(slice);
    if (is_ragged) lengths_.push_back(length);
    const std::size_t first = slice.shape.empty() ? 0 : 1;
    if (slice.shape.size() != shape_.size() ||
        !std::ranges::equal(std::span(slice.shape).subspan(first),
                            std::span(shape_).subspan(first)))
      refuse(name, slice,
             fmt::format("rank {}'s has shape {}, and all but the first dimension must be equal",
                         longest, to_string(shape_)));
    if (slice.dtype != dtype_)
      refuse(name, slice,
             fmt::format("is {} but rank {}'s is {}", vranks::name(slice.dtype), longest,
                         vranks::name(dtype_)));
    if (slice.device != device_)
      refuse(name, slice,
             fmt::format("is on {} but rank {}'s is on {}", to_string(slice.device), longest,
                         to_string(device_)));
    // Written out or not.
    if (length > 0 && elements_ > 0 && slice.strides != model.strides &&
        with_strides(slice).strides != with_strides(model).strides)
      refuse(name, slice,
             fmt::format("rank {}'s has strides {}, and all must be equal", longest,
                         to_string(with_strides(model).strides)));
    table_.push_back(static_cast<std::byte*>(slice.data));
  }
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

bool Operand::move_to(void* data) {
  if (data == nullptr || !is_aligned(data, dtype_)) return false;
  data_ = static_cast<std::byte*>(data);
  return true;
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
