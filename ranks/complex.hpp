// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Storage types without arithmetic of their own: complex numbers, laid out as std::complex and
// C's _Complex are, and truth values of one byte, where any byte but 0 counts as true.
#pragma once

#include <cstdint>

namespace vranks {

template <class T>
struct Complex {
  T re;
  T im;
};

struct Bool {
  std::uint8_t byte;
};

}  // namespace vranks
