// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as a topology file: on what is accepted ranks reach one another both ways, by links that
// are there, none twice, and a ring over them ends; all else throws an Error. Built with clang
// -fsanitize=fuzzer, or with replay.cpp as its main().
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>
#include <vector>

#include "ranks/error.hpp"
#include "simulator/clock.hpp"
#include "simulator/read_machine.hpp"

using namespace vranks;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_route(const Topology& topology, std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> route;
  topology.route(from, to, route);
  for (const std::int32_t link : route)
    require(link >= 0 && static_cast<std::size_t>(link) < topology.links().size());
  require(std::set(route.begin(), route.end()).size() == route.size());
}

void use(const std::shared_ptr<const Machine>& machine, std::int32_t ranks,
         std::int32_t ranks_per_node) {
  const auto topology = machine->place(ranks, ranks_per_node);
  for (std::int32_t r = 0; r < ranks; ++r) {
    check_route(*topology, r, (r + 1) % ranks);
    check_route(*topology, (r + 1) % ranks, r);
  }
  Problem problem;
  problem.ranks = ranks;
  problem.elements = 1000;
  problem.op = ReduceOp::sum;
  const TimedCall call{
      select(find_algorithm("ring", Collective::all_reduce), problem, {}), Protocol::ll, {}};
  Clock clock(machine, ranks, ranks_per_node);
  require(std::isfinite(clock.time(problem, call).seconds));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto machine =
        read_machine(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
    for (const auto& [ranks, per_node] : {std::pair{2, 0}, {3, 1}, {5, 2}}) {
      try {
        use(machine, ranks, per_node);
      } catch (const Error&) {
        // too few places
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
