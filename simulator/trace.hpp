// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A timeline for ui.perfetto.dev and chrome://tracing: the Trace Event Format's JSON.
#pragma once

#include <functional>
#include <string_view>

#include "simulator/sized_program.hpp"
#include "simulator/timeline.hpp"
#include "simulator/topology.hpp"

namespace vranks {

// Ranks are processes, lanes their threads; messages are slices of both lanes with an arrow from
// one to the other, work is a slice; each link that was used has a counter of the messages on it.
// Writes piece by piece what was run of the call.
// Precondition: the events of the timeline were kept.
void write_trace(const Timeline& timeline, const SizedProgram& program, const Topology& topology,
                 const std::function<void(std::string_view)>& write);

}  // namespace vranks
