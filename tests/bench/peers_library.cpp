// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Means over ranks for scripts/bench_peers: vranks as a shared library with C entry points. Tensors
// are contiguous and on CUDA device 0; `dtype` and `algorithm` are names as `vranks list` has them.
// Calls return 0, or 1 with the reason in vranks_last_error(). The first call of a shape plans it
// and may allocate; later ones only launch, so they can be captured in a graph.
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "collectives/collectives.hpp"

#define VR_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace vranks;

thread_local std::string last_error;

TensorView on_device(const void* data, const char* dtype, Shape shape) {
  return {const_cast<void*>(data),
          parse_dtype(dtype),
          std::move(shape),
          {},
          Device{DeviceKind::cuda, 0}};
}

CollectiveOptions mean_by(const char* algorithm, void* stream) {
  return {.op = ReduceOp::mean, .algorithm = algorithm, .stream = static_cast<Stream>(stream)};
}

template <class F>
int caught(F&& call) {
  try {
    call();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return 1;
  }
}

}  // namespace

// `out`, shape (elements), becomes the mean over the slices of `in`, shape (ranks, elements).
VR_EXPORT int vranks_reduce_mean(const void* in, void* out, std::int64_t ranks,
                                 std::int64_t elements, const char* dtype, const char* algorithm,
                                 void* stream) {
  return caught([&] {
    reduce_ranks(on_device(in, dtype, {ranks, elements}), on_device(out, dtype, {elements}),
                 mean_by(algorithm, stream));
  });
}

// Every slice of `data`, shape (ranks, elements), becomes the mean over its slices.
VR_EXPORT int vranks_all_reduce_mean(void* data, std::int64_t ranks, std::int64_t elements,
                                     const char* dtype, const char* algorithm, void* stream) {
  return caught([&] {
    const TensorView tensor = on_device(data, dtype, {ranks, elements});
    all_reduce(tensor, tensor, mean_by(algorithm, stream));
  });
}

// Why the last call of this thread that failed did so; empty if none has.
VR_EXPORT const char* vranks_last_error() { return last_error.c_str(); }
