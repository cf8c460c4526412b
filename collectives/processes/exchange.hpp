// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The one real collective over processes between what each process does with its own ranks: by MPI
// or by NCCL. Empty in builds without MPI.
#pragma once

#if VRANKS_HAVE_MPI

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "collectives/processes/process_call.hpp"

namespace vranks {

// How much goes to, or comes from, each process, in elements, one process behind the other.
struct Portions {
  std::vector<int> counts, offsets;
  std::int64_t total = 0;

  explicit Portions(int processes)
      : counts(static_cast<std::size_t>(processes)), offsets(counts.size()) {}
  // Throws not_supported for more than MPI counts.
  void add(int process, std::int64_t elements);
  // Once all are added.
  void place() {
    int at = 0;
    for (std::size_t p = 0; p < counts.size(); ++p) offsets[p] = std::exchange(at, at + counts[p]);
  }
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  // The memory that it passes: the host's, or that of the call's device.
  virtual Device device() const = 0;
  // What has to be done once all processes are ready to go.
  virtual void begin() {}

  // Starts to reduce carried values over processes, for the owner or, if that is -1, for all; two
  // may be under way, in slots 0 and 1. `from` and `to` lie apart.
  virtual void start_reduction(int slot, const std::byte* from, std::byte* to, std::int64_t values,
                               int owner) = 0;
  // Over the processes in front of this one; process 0 gets nothing.
  virtual void start_prefix(int slot, const std::byte* from, std::byte* to,
                            std::int64_t values) = 0;
  virtual void finish(int slot) = 0;

  // Passes elements of the call's dtype as that collective does: what a gather, all-gather or
  // broadcast sends is all for the same processes. Returns when `got` is there.
  virtual void pass(Collective collective, const std::byte* sent, const Portions& sent_portions,
                    std::byte* got, const Portions& got_portions) = 0;
};

// An exchange of either kind for a collective that combines by `rules`, or only copies (null).
// Throw not_supported for what the library lacks.
std::unique_ptr<Exchange> make_mpi_exchange(const ProcessCall& call, const Arithmetic* rules);
std::unique_ptr<Exchange> make_nccl_exchange(const ProcessCall& call, const Arithmetic* rules);

using MakeExchange = std::unique_ptr<Exchange> (*)(const ProcessCall&, const Arithmetic*);
std::unique_ptr<EngineRun> make_reduction(const ProcessCall& call, MakeExchange make);
std::unique_ptr<EngineRun> make_copies(const ProcessCall& call, MakeExchange make);

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
