// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ops of one's own on a CUDA device.
#include <gtest/gtest.h>

#include "collectives/custom_op.cuh"
#include "tests/collectives/custom_ops.hpp"

namespace vranks {
namespace {

bool has_cuda() {
  for (const Backend* backend : backends())
    if (backend->kind() == DeviceKind::cuda) return backend->device_count() > 0;
  return false;
}

TEST(CustomOpCuda, OrderIsThatOfTheRanks) {
  if (!has_cuda()) GTEST_SKIP() << "no CUDA device";
  custom_ops::expect_digits([](Collective collective, const char* algorithm, std::int64_t ranks,
                               std::int64_t n, std::vector<std::uint64_t>& in) {
    const Device device{DeviceKind::cuda, 0};
    const std::size_t bytes = in.size() * sizeof(std::uint64_t);
    const DeviceBuffer x(bytes, device), y(bytes, device);
    x.copy_from_host(in.data(), bytes);
    const auto tensor = [&](const DeviceBuffer& buffer) {
      return TensorView{
          .data = buffer.data(), .dtype = DType::u64, .shape = {ranks, n}, .device = device};
    };
    run(collective, tensor(x), tensor(y), custom_ops::Digits{}, {.algorithm = algorithm});
    std::vector<std::uint64_t> out(in.size());
    y.copy_to_host(out.data(), bytes);
    return out;
  });
}

}  // namespace
}  // namespace vranks
