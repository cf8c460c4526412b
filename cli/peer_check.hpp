// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One comparison of `vranks check`: the same ranks reduced by us, all of them in process 0, and by
// the real MPI library over all processes, each of which holds a block of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/job.hpp"
#include "collectives/collectives.hpp"
#include "collectives/exact.hpp"
#include "collectives/problem.hpp"
#include "ranks/npy.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

// The ranks that a process holds: blocks in order, the first `ranks` mod `processes` of them one
// rank longer. Throws bad_argument if a process would hold none.
RankRange share_of(std::int64_t ranks, int processes, int process);

// What a process holds of the input.
struct PeerData {
  Shape shape;            // of all ranks: (R, d0, ...)
  Tensor block;           // its share of the ranks
  Tensor whole;           // all ranks; on process 0 only
  bool is_exact = false;  // whole numbers, for which every order is exact
};

struct PeerCase {
  Problem problem;
  std::string algorithm;
  Device device;  // of our reduction
};

struct PeerFinding {
  Deviation deviation;            // of all processes together
  std::int64_t unlike_ranks = 0;  // of ours: those that didn't get the bits rank 0 got
  std::string rule;               // what the elements had to keep to; on process 0 only
  std::string left_out;           // why elements were not compared; on process 0 only
  Provenance provenance;          // of our result; on process 0 only
  bool is_agreement = false;
};

// Every process calls these with the same arguments, and finds the same or throws the same.
PeerData random_data(const Job& job, DType dtype, const Shape& shape, std::uint64_t seed);
PeerData whole_number_data(const Job& job, DType dtype, const Shape& shape, std::uint64_t seed,
                           ReduceOp op);
// Processes read the file for themselves; throws if they find different headers.
PeerData load_data(const Job& job, const std::string& path, std::optional<DType> dtype);

// `data` must hold what `problem` says. Process 0 sends its result and bounds to the others; each
// compares its own MPI result with them.
PeerFinding compare_with_mpi(const Job& job, const PeerCase& check, const PeerData& data);

}  // namespace vranks::cli
