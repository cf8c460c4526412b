// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as a topology file: what is accepted has ranks that reach one another; all else throws
// an Error. Built with clang -fsanitize=fuzzer, or with replay.cpp as its main().
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ranks/error.hpp"
#include "simulator/read_machine.hpp"

using namespace vranks;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto machine =
        read_machine(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
    for (const std::int32_t ranks : {1, 2, 7}) {
      const auto topology = machine->place(ranks);
      std::vector<std::int32_t> route;
      for (std::int32_t to = 1; to < ranks; ++to) topology->route(0, to, route);
      for (const std::int32_t link : route)
        if (link < 0 || static_cast<std::size_t>(link) >= topology->links().size()) std::abort();
    }
  } catch (const Error&) {
  }
  return 0;
}
