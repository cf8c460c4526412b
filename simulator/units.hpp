// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "simulator/costs.hpp"

namespace vranks {

// The number that "1.5 us", "12 GB/s", "100 Gbit/s", "512 KiB", "0.9" or "8" is, in seconds, bytes
// a second, bytes, or plain; the space may be left out. kB, MB and GB are powers of 1000, KiB, MiB
// and GiB of 1024; sizes are rounded to whole bytes. `what` names it in messages. Throws
// bad_argument for another unit, none, what is no number, one below 0 or beyond 1e-15 to 1e18, less
// than a byte, and a count that isn't whole or is 2^31 or more.
double parse_quantity(Quantity quantity, std::string_view text, std::string_view what);

}  // namespace vranks
