// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The one exception type of the project. A message names the rank, the numbers and the rule, and
// what would have been right; the kind says who can act on it.
#pragma once

#include <stdexcept>
#include <string>

namespace vranks {

enum class ErrorKind {
  bad_argument,   // the caller's values break a rule (shape, stride, op, option)
  bad_input,      // a file or text that was read is not what it claims to be
  not_supported,  // well-formed, but not something this library does
  not_available,  // this build or this machine lacks it (no CUDA device, no MPI)
  io,             // the operating system refused (missing folder, full disk)
  device,         // the accelerator reported a failure
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace vranks
