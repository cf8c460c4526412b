// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Who passes and combines what lies in several processes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vranks {

// name, other names, who moves and combines what between processes
#define VR_ENGINES(X)                                                                         \
  X(schedule, "", "the algorithm's own messages, by MPI point to point; bits of one process") \
  X(mpi, "",                                                                                  \
    "local ranks are reduced first, then one real MPI collective, in the library's order")    \
  X(nccl, "", "the same by NCCL, of memory on CUDA devices")

enum class Engine : std::uint8_t {
#define X(name, aliases, meaning) name,
  VR_ENGINES(X)
#undef X
};

struct EngineInfo {
  Engine engine;
  std::string_view name;
  std::string_view aliases;
  std::string_view meaning;
};
std::span<const EngineInfo> engines();
std::string_view name(Engine engine);
// Throws bad_argument, naming what there is.
Engine parse_engine(std::string_view text);

}  // namespace vranks
