// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One collective by the real MPI library over all processes, each of which holds a block of the
// ranks: the yardstick of `vranks check --against mpi`. Nothing here uses our kernels.
//
//   MpiCollective theirs(problem, blocks, process, rows);  // what a process can fail at alone
//   theirs.run(nullptr);                                   // what all do together
//   theirs.row(rank);                                      // what that rank gets
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/openmpi/rules.hpp"
#include "collectives/peers/mpi.hpp"
#include "ranks/npy.hpp"
#include "ranks/tensor.hpp"

namespace vranks {

class OpenMpiForced;

// Whether MPI's call for that collective takes exactly one rank of each process: blocks of ranks
// have no natural call of their own.
bool needs_a_rank_each(Collective collective);

// Whether MPI has that collective at all: not permute.
bool mpi_has(Collective collective);

// "MPI_Reduce_local in each, then MPI_Reduce_scatter": what is called for it over `processes`
// processes. `forced_call` is the one an Open MPI algorithm belongs to; empty: any.
std::string mpi_calls(const Problem& problem, int processes, std::string_view forced_call = {});

class MpiCollective {
 public:
  // `blocks` says which ranks each process holds, `own` are the input rows of this one (CPU memory;
  // of a _v form as long as the longest), `problem` is about all ranks. Throws not_supported for
  // ops and dtypes without mpi_reduces(), and for counts beyond MPI's ints; bad_argument if a
  // process holds more than one rank where needs_a_rank_each(); not_available without MPI.
  MpiCollective(const Problem& problem, std::vector<RankRange> blocks, int process,
                const Rows& own);

  // Every process calls it. `forced`: over its communicator, else over MPI_COMM_WORLD. Throws
  // MpiError.
  void run(const OpenMpiForced* forced);

  // What rank r of this process gets: row_elements(problem, Slot::output, r) elements.
  const std::byte* row(std::int64_t rank) const;

 private:
  std::int64_t input_elements(std::int64_t rank) const;
  std::int64_t output_elements(std::int64_t rank) const;
  std::vector<int> counts_of_processes(Slot slot) const;
  void reduce(const OpenMpiForced* forced);
  void copy(const OpenMpiForced* forced);

  Problem problem_;
  std::vector<RankRange> blocks_;
  int process_, root_process_;
  Tensor sent_;      // rows of this process one behind the other, or combined
  Tensor received_;  // in the dtype that is combined in
  Tensor result_;    // rows of this process; one where all are the same
};

}  // namespace vranks
