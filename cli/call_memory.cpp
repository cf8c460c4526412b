// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/call_memory.hpp"

#include <algorithm>

#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

struct PlaceInfo {
  Place place;
  std::string_view name;
  std::string_view aliases;
};
constexpr PlaceInfo places[] = {{Place::nccl, "nccl", ""}, {Place::mpi, "mpi", ""}};

// Calls copy(where it lies on the device, where on the host, bytes) for every contiguous piece.
template <class Copy>
void for_each_piece(const TensorView& there, const Tensor& host, Copy&& copy) {
  auto* const data = static_cast<std::byte*>(there.data);
  if (there.strides.empty()) {
    copy(data, host.data(), static_cast<std::size_t>(host.bytes()));
    return;
  }
  const std::int64_t row = host.bytes() / host.shape()[0];
  const std::int64_t stride = there.strides[0] * static_cast<std::int64_t>(size_bytes(there.dtype));
  for (std::int64_t r = 0; r < host.shape()[0]; ++r)
    copy(data + r * stride, host.data() + r * row, static_cast<std::size_t>(row));
}

}  // namespace

std::string_view name(Place place) {
  return place == Place::apart ? "" : places[place == Place::mpi].name;
}
Place parse_place(std::string_view text) {
  return find_by_name(std::span<const PlaceInfo>(places), text, "place of the output").place;
}

CallMemory::CallMemory(const Problem& problem, const Tensor& in, const Tensor& out, Device device,
                       Place place)
    : host_in_(in),
      host_out_(out),
      backend_(backend_for(device)),
      device_(device),
      in_(in.view()),
      out_(out.view()) {
  in_.device = out_.device = device;
  if (in.bytes() == 0) return;
  if (place != Place::apart) {
    this->place(problem, place);
  } else if (device.kind != DeviceKind::cpu) {
    in_.data = allocate(in_buffer_, in.bytes());
    out_.data = allocate(out_buffer_, out.bytes());
  }
}

std::byte* CallMemory::allocate(std::optional<DeviceBuffer>& buffer, std::int64_t bytes) const {
  return static_cast<std::byte*>(buffer.emplace(static_cast<std::size_t>(bytes), device_).data());
}

void CallMemory::place(const Problem& problem, Place place) {
  std::byte* const data = allocate(in_buffer_, std::max(host_in_.bytes(), host_out_.bytes()));
  in_.data = out_.data = data;
  const auto set_stride = [](TensorView& tensor, std::int64_t stride) {
    tensor.strides = contiguous_strides(tensor.shape);
    tensor.strides[0] = stride;
  };
  const std::int64_t n = problem.elements;
  switch (problem.collective) {
    case Collective::all_reduce:
      break;
    case Collective::reduce:
      out_.data = data + problem.root * host_out_.bytes();
      break;
    case Collective::reduce_scatter:
      set_stride(out_, place == Place::nccl ? n + n / problem.ranks : n);
      break;
    case Collective::all_gather:
      set_stride(in_, problem.ranks * n + n);
      break;
  }
}

void CallMemory::send() const {
  if (!in_buffer_) return;
  for_each_piece(in_, host_in_, [&](std::byte* there, const std::byte* here, std::size_t bytes) {
    backend_.copy_from_host(there, here, bytes, device_.index);
  });
}

void CallMemory::fetch() const {
  if (!in_buffer_) return;
  for_each_piece(out_, host_out_, [&](const std::byte* there, std::byte* here, std::size_t bytes) {
    backend_.copy_to_host(here, there, bytes, device_.index);
  });
}

}  // namespace vranks::cli
