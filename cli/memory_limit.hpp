// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules grow with the square of R, and a system that hands out more memory than it has ends a
// program that uses it. Here such a program is told instead.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "ranks/error.hpp"

namespace vranks::cli {

// From now on allocations fail that need more memory than the machine has free at this moment.
// Nothing happens where the system doesn't say how much that is.
void limit_memory();

// What f() gives. Throws not_available, naming `what`, if there is no memory for it.
template <class F>
auto with_memory_for(const std::string& what, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // of a vector that no memory could hold
  }
  throw Error(ErrorKind::not_available, "this machine has no memory for " + what);
}

}  // namespace vranks::cli
