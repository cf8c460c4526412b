// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The CPU backend: Highway for vectors, OpenMP for threads.
#pragma once

#include "kernels/backend.hpp"

namespace vranks {

const Backend& cpu_backend();

}  // namespace vranks
