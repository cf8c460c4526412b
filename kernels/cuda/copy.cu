// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies that keep bits: one row to another place, and row 0 to all others.
#include "kernels/cuda/cuda_error.hpp"
#include "kernels/cuda/fold.hpp"
#include "kernels/cuda/launch.cuh"

namespace vranks::cuda {

namespace {

// A thread copies one unit of row 0 to one other row; units are counted through all rows.
template <class Unit>
__global__ void __launch_bounds__(block_threads)
    broadcast_kernel(std::byte* out, std::int64_t stride_bytes, std::int64_t units,
                     std::int64_t rows) {
  await_previous_kernel();
  const std::int64_t thread = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  const std::int64_t row = thread / units;
  const std::int64_t unit = thread - row * units;
  if (row >= rows) return;
  reinterpret_cast<Unit*>(out + (row + 1) * stride_bytes)[unit] =
      reinterpret_cast<const Unit*>(out)[unit];
}

template <class Unit>
void broadcast(const TreeFold& fold, std::int64_t row_bytes, Stream stream) {
  const std::int64_t units = row_bytes / static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t rows = fold.out_rows - 1;
  const std::int64_t blocks = (units * rows + block_threads - 1) / block_threads;
  launch_overlapping("launching the broadcast kernel", broadcast_kernel<Unit>, blocks, stream,
                     fold.out, fold.out_stride_bytes, units, rows);
}

}  // namespace

void broadcast_row(const TreeFold& fold, Stream stream) {
  const std::int64_t row_bytes = fold.elements * static_cast<std::int64_t>(size_bytes(fold.dtype));
  // The widest unit that rows and their distance allow.
  const auto bits = static_cast<std::uint64_t>(row_bytes) |
                    static_cast<std::uint64_t>(fold.out_stride_bytes) |
                    reinterpret_cast<std::uintptr_t>(fold.out);
  if (bits % 16 == 0) return broadcast<uint4>(fold, row_bytes, stream);
  if (bits % 8 == 0) return broadcast<std::uint64_t>(fold, row_bytes, stream);
  if (bits % 4 == 0) return broadcast<std::uint32_t>(fold, row_bytes, stream);
  if (bits % 2 == 0) return broadcast<std::uint16_t>(fold, row_bytes, stream);
  return broadcast<std::uint8_t>(fold, row_bytes, stream);
}

void copy_row(const TreeFold& fold, Stream stream) {
  if (fold.in == fold.out) return;
  const auto bytes = static_cast<std::size_t>(fold.elements) * size_bytes(fold.dtype);
  check_cuda(cudaMemcpyAsync(fold.out, fold.in, bytes, cudaMemcpyDeviceToDevice, stream),
             "copying the only rank");
}

}  // namespace vranks::cuda
