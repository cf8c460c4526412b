// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What nccl_bench is asked to measure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ranks/dtype.hpp"

namespace vranks::nccl_bench {

extern const char* const help;

// What NCCL is told to do. Empty: it chooses.
struct Setting {
  std::string algorithm, protocol;  // "ring", "simple"
  std::string text() const {
    if (algorithm.empty()) return "auto";
    return protocol.empty() ? algorithm : algorithm + ":" + protocol;
  }
};

struct Options {
  std::string library = "libnccl.so.2";
  std::vector<Setting> settings = {{"", ""}, {"ring", "simple"}};
  std::vector<std::int64_t> channels = {1, 2, 4}, ranks = {2, 4, 8};
  std::vector<std::int64_t> bytes = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20};
  std::vector<DType> dtypes = {DType::f32, DType::bf16};
  int rounds = 21, timeout = 60;
  std::string output;
  bool is_child = false;  // measures the one setting, channels and ranks, and prints rows of JSON
};

// Throws Error(bad_argument) that names the option.
Options parse(std::span<char*> arguments);

}  // namespace vranks::nccl_bench
