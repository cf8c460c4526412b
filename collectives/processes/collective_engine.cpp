// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Engines that leave what happens between processes to one collective of a library.
#include <fmt/format.h>

#include "collectives/processes/exchange.hpp"
#include "ranks/error.hpp"

#if VRANKS_HAVE_MPI

namespace vranks {

void Portions::add(int process, std::int64_t elements) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  int& count = counts[static_cast<std::size_t>(process)];
  if (elements > most - count || (total += elements) > most)
    throw Error(ErrorKind::not_supported,
                fmt::format("a process passes at most {} elements at once, and {} for process {} "
                            "are more; --engine schedule has no limit",
                            most, count + elements, process));
  count += static_cast<int>(elements);
}

std::unique_ptr<EngineRun> make_collective_engine(const ProcessCall& call, Engine engine) {
  const Collective collective = call.key.problem.collective;
  if (!call.key.groups.empty())
    throw Error(ErrorKind::not_supported,
                fmt::format("engine {} is about one group of all ranks; --engine schedule takes "
                            "groups",
                            name(engine)));
  if (find_algorithm(call.key.algorithm, collective).name != "direct")
    throw Error(ErrorKind::not_supported,
                fmt::format("engine {} leaves the order to the library; --engine schedule runs {}",
                            name(engine), call.key.algorithm));
  // One rank's bits are kept, whatever they are.
  if (call.key.problem.ranks == 1) return make_schedule_engine(call);
  const MakeExchange make = engine == Engine::nccl ? make_nccl_exchange : make_mpi_exchange;
  return reduces(collective) ? make_reduction(call, make) : make_copies(call, make);
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
