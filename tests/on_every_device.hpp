// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Test cases that run on every device: "Cpu" always, "Cuda" skipped, with the reason, where there
// is none.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/backend.hpp"
#include "ranks/error.hpp"

namespace vranks {

class OnEveryDevice : public testing::TestWithParam<Device> {
 protected:
  void SetUp() override {
    try {
      backend_for(GetParam());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  const Backend& backend() const { return backend_for(GetParam()); }
};

inline std::string device_name(const testing::TestParamInfo<Device>& parameter) {
  return parameter.param.kind == DeviceKind::cpu ? "Cpu" : "Cuda";
}

#define VR_ON_EVERY_DEVICE(suite)                                                                  \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, testing::Values(Device{}, Device{DeviceKind::cuda, 0}), \
                           device_name)

}  // namespace vranks
