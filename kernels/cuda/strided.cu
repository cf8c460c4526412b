// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "kernels/cuda/cuda_error.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/strided.hpp"
#include "ranks/error.hpp"

namespace vranks::cuda {

namespace {

constexpr int most_dimensions = 8;

struct Dimensions {
  int count = 0;
  std::int64_t extents[most_dimensions] = {};
  std::int64_t from_strides[most_dimensions] = {};
  std::int64_t to_strides[most_dimensions] = {};
};

// A thread copies one unit.
template <class Unit>
__global__ void __launch_bounds__(block_threads)
    strided_kernel(const std::byte* from, std::byte* to, const __grid_constant__ Dimensions by,
                   std::int64_t units) {
  await_previous_kernel();
  std::int64_t rest = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (rest >= units) return;
  for (int d = by.count - 1; d >= 0; --d) {
    const std::int64_t outer = rest / by.extents[d], at = rest - outer * by.extents[d];
    rest = outer;
    from += at * by.from_strides[d];
    to += at * by.to_strides[d];
  }
  *reinterpret_cast<Unit*>(to) = *reinterpret_cast<const Unit*>(from);
}

template <class Unit>
void launch(const StridedCopy& copy, Stream stream) {
  Dimensions by{.count = static_cast<int>(copy.extents.size())};
  std::ranges::copy(copy.extents, by.extents);
  std::ranges::copy(copy.from_strides, by.from_strides);
  std::ranges::copy(copy.to_strides, by.to_strides);
  const std::int64_t units = copy.elements();
  const std::int64_t blocks = (units + block_threads - 1) / block_threads;
  launch_overlapping("launching a strided copy", strided_kernel<Unit>, blocks, stream, copy.from,
                     copy.to, by, units);
}

// Kernel parameters end at 4 KiB.
struct Pointers {
  static constexpr int most = 448;
  std::byte* pointers[most];
};

__global__ void pointers_kernel(const __grid_constant__ Pointers from, std::byte** to, int count) {
  const int k = static_cast<int>(threadIdx.x);
  if (k < count) to[k] = from.pointers[k];
}

}  // namespace

void copy_strided(const StridedCopy& whole, Stream stream) {
  if (whole.elements() == 0) return;
  StridedCopy copy = collapsed(whole);
  const auto bytes = static_cast<std::size_t>(copy.element_bytes);
  if (copy.extents.empty()) {
    check_cuda(cudaMemcpyAsync(copy.to, copy.from, bytes, cudaMemcpyDeviceToDevice, stream),
               "copying rows");
    return;
  }
  const std::int64_t farthest = std::max(copy.from_strides[0], copy.to_strides[0]);
  const std::int64_t nearest = std::min(copy.from_strides[0], copy.to_strides[0]);
  if (copy.extents.size() == 1 && nearest >= copy.element_bytes && farthest <= 0x7fffffff &&
      copy.element_bytes >= 512) {
    check_cuda(cudaMemcpy2DAsync(copy.to, static_cast<std::size_t>(copy.to_strides[0]), copy.from,
                                 static_cast<std::size_t>(copy.from_strides[0]), bytes,
                                 static_cast<std::size_t>(copy.extents[0]),
                                 cudaMemcpyDeviceToDevice, stream),
               "copying rows");
    return;
  }
  // The widest unit that all addresses allow; an element of several is one more dimension.
  std::uint64_t bits = static_cast<std::uint64_t>(copy.element_bytes) |
                       reinterpret_cast<std::uintptr_t>(copy.from) |
                       reinterpret_cast<std::uintptr_t>(copy.to);
  for (std::size_t d = 0; d < copy.extents.size(); ++d)
    bits |= static_cast<std::uint64_t>(copy.from_strides[d]) |
            static_cast<std::uint64_t>(copy.to_strides[d]);
  const std::int64_t unit = bits % 16 == 0  ? 16
                            : bits % 8 == 0 ? 8
                            : bits % 4 == 0 ? 4
                            : bits % 2 == 0 ? 2
                                            : 1;
  if (copy.element_bytes > unit) {
    copy.extents.push_back(copy.element_bytes / unit);
    copy.from_strides.push_back(unit);
    copy.to_strides.push_back(unit);
  }
  if (copy.extents.size() > most_dimensions)
    throw Error(ErrorKind::not_supported,
                "a tensor of " + std::to_string(copy.extents.size()) +
                    " dimensions that can't be merged; CUDA kernels copy at most " +
                    std::to_string(most_dimensions) + " (copy it to contiguous memory first)");
  switch (unit) {
    case 16:
      return launch<uint4>(copy, stream);
    case 8:
      return launch<std::uint64_t>(copy, stream);
    case 4:
      return launch<std::uint32_t>(copy, stream);
    case 2:
      return launch<std::uint16_t>(copy, stream);
    default:
      return launch<std::uint8_t>(copy, stream);
  }
}

void write_pointers(std::span<std::byte* const> pointers, std::byte** to, Stream stream) {
  while (!pointers.empty()) {
    const auto some = pointers.first(std::min<std::size_t>(pointers.size(), Pointers::most));
    Pointers from{};
    std::ranges::copy(some, from.pointers);
    pointers_kernel<<<1, Pointers::most, 0, stream>>>(from, to, static_cast<int>(some.size()));
    check_cuda(cudaGetLastError(), "writing pointers to rows");
    pointers = pointers.subspan(some.size());
    to += some.size();
  }
}

}  // namespace vranks::cuda
