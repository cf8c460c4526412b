// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that a collective works on: the host's tensors themselves, copies of them on a device,
// or one piece of memory for both where the call is to be done in place.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "collectives/problem.hpp"
#include "kernels/backend.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

// Where the output lies: apart from the input, or in it. The libraries' rules are the same but for
// a reduce_scatter: block r of slice r is NCCL's place, the start of slice r is MPI's.
enum class Place : std::uint8_t { apart, nccl, mpi };

std::string_view name(Place place);
Place parse_place(std::string_view text);  // but for `apart`

class CallMemory {
 public:
  // `in` and `out` are the host's tensors, of the shapes that the problem's collective has. They
  // must outlive this.
  CallMemory(const Problem& problem, const Tensor& in, const Tensor& out, Device device,
             Place place);

  const TensorView& in() const { return in_; }
  const TensorView& out() const { return out_; }
  void send() const;   // the host's input to where the call reads it
  void fetch() const;  // what the call wrote to the host's output

 private:
  std::byte* allocate(std::optional<DeviceBuffer>& buffer, std::int64_t bytes) const;
  void place(const Problem& problem, Place place);

  const Tensor &host_in_, &host_out_;
  const Backend& backend_;
  Device device_;
  std::optional<DeviceBuffer> in_buffer_, out_buffer_;  // the first is that of both in place
  TensorView in_, out_;
};

}  // namespace vranks::cli
