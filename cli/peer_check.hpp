// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One comparison of `vranks check`: the same collective by us, with all ranks in process 0, and by
// the real MPI library over all processes, each of which holds a block of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/peer_data.hpp"
#include "collectives/collectives.hpp"
#include "collectives/exact.hpp"
#include "collectives/peers/openmpi_forced.hpp"
#include "collectives/problem.hpp"

namespace vranks::cli {

struct PeerCase {
  Problem problem;
  CollectiveOptions options;  // of our call, all but its algorithm
  std::string algorithm;
  Device device;  // of our call
  // The algorithm that Open MPI has to use, which is then ours, so that bits are equal; none: the
  // library's own.
  std::optional<ForcedAlgorithm> forced = {};
};

struct PeerFinding {
  Deviation deviation;           // of all processes together
  std::int64_t elements = 0;     // that all processes hold
  std::int64_t worst_rank = -1;  // whose element the worst one is; -1: none is off
  std::string our_bits;          // of the worst element: "3fc00000"; empty: none is off
  std::string their_bits;
  std::int64_t unlike_ranks = 0;  // of ours: those that didn't get the bits rank 0 got
  std::string rule;               // what the elements had to keep to; on process 0 only
  std::string left_out;           // why elements were not compared; on process 0 only
  Provenance provenance;          // of our result; on process 0 only
  std::string calls;              // of MPI
  std::string forced_name;        // what Open MPI calls the algorithm that was forced
  bool is_agreement = false;
};

// Every process calls it with the same arguments, and finds the same or throws the same. `data`
// must hold what `problem` says; `forced` is where the algorithm of the case is forced, or null.
// Process 0 sends its results and bounds to the others, row by row; each compares its own MPI
// results with them. A barrier has no data: its comparison counts returns that came before every
// process had entered.
PeerFinding compare_with_mpi(const Job& job, const PeerCase& check, const PeerData& data,
                             const OpenMpiForced* forced);

}  // namespace vranks::cli
