// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA backend. It links the CUDA run-time statically, so that the program starts on machines
// without a driver and can say so.
#pragma once

#include "kernels/backend.hpp"

namespace vranks {

const Backend& cuda_backend();

}  // namespace vranks
