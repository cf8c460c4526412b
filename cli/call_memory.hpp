// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that a collective works on: the host's tensors themselves, copies of them on a device,
// or one piece of memory for both where the call is to be done in place.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collectives/collectives.hpp"
#include "kernels/backend.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

// Where the output lies: apart from the input, or in it. The libraries' rules are the same but for
// a reduce_scatter or scatter: block r of slice r is NCCL's place, the start of slice r is MPI's.
enum class Place : std::uint8_t { apart, nccl, mpi };

std::string_view name(Place place);
Place parse_place(std::string_view text);  // but for `apart`

class CallMemory {
 public:
  // `in` and `out` are the host's tensors, of the shapes that the key's collective has; `ranks` is
  // empty unless the op tells ranks. They must outlive this.
  CallMemory(const PlanKey& key, const Tensor& in, const Tensor& out, const Tensor& ranks,
             Place place);

  void send() const;   // the host's input, and output, to where the call finds them
  void fetch() const;  // what the call wrote to the host's tensors

  // The call, by the algorithm's steps if `observer` is there. `options` gets the ranks' place.
  Provenance run(CollectiveOptions options) const;
  Provenance run_steps(CollectiveOptions options, const StepObserver& observer) const;

 private:
  std::byte* allocate(std::optional<DeviceBuffer>& buffer, std::int64_t bytes) const;
  void place(const PlanKey& key, Place place);

  Collective collective_;
  const Tensor &host_in_, &host_out_, &host_ranks_;
  const Backend& backend_;
  Device device_;
  std::optional<DeviceBuffer> in_buffer_, out_buffer_, ranks_buffer_;  // the first is both in place
  TensorView in_, out_, ranks_;
  std::vector<TensorView> in_slices_, out_slices_;  // instead, in place
};

}  // namespace vranks::cli
