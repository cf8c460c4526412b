// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/processes/engine.hpp"

#include "ranks/names.hpp"

namespace vranks {

namespace {

constexpr EngineInfo rows[] = {
#define X(name, aliases, meaning) {Engine::name, #name, aliases, meaning},
    VR_ENGINES(X)
#undef X
};

}  // namespace

std::span<const EngineInfo> engines() { return rows; }

std::string_view name(Engine engine) { return rows[static_cast<std::size_t>(engine)].name; }

Engine parse_engine(std::string_view text) {
  return find_by_name(engines(), text, "engine").engine;
}

}  // namespace vranks
