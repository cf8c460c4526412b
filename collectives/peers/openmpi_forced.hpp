// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The algorithms of the real Open MPI, forced. Its component coll/tuned reads which one to use
// whenever a communicator is made, from variables that MPI's tool interface can write; it heeds
// them only if it was started with coll_tuned_use_dynamic_rules on.
//
//   let_openmpi_be_forced();                                     // before MPI_Init
//   OpenMpiForced forced(forced_algorithm(problem, "ompi_ring", {}));
//   MPI_Allreduce(..., forced.communicator());
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "collectives/algorithm.hpp"
#include "collectives/openmpi/rules.hpp"
#include "collectives/peers/mpi_call.hpp"

namespace vranks {

// Has an Open MPI that this process initialises later heed forced algorithms, unless the
// environment says something else. Where none is forced, it still goes by its fixed rules.
void let_openmpi_be_forced();

// A call of Open MPI whose algorithms have ids.
struct OpenMpiCall {
  Collective collective;
  std::string_view call;                    // MPI_Allreduce, ...
  std::string_view parameter;               // coll_tuned_<parameter>_algorithm
  bool counts_blocks;                       // MPI_Reduce_scatter_block
  std::span<const std::string_view> names;  // ours, of the algorithms with id 1, 2, ...
};
std::span<const OpenMpiCall> openmpi_calls();
const OpenMpiCall& openmpi_call(const openmpi::Rules& rules);

// An algorithm as Open MPI is told to use it.
struct ForcedAlgorithm {
  const OpenMpiCall* call = nullptr;
  int id = 0;  // 0: by Open MPI's own rules
  int segment_bytes = 0;
  int reduce_id = 0;  // of the MPI_Reduce inside; 0: by the rules
  int fanout = 4;

  // "MPI_Allreduce algorithm 5, segments of 64 bytes".
  std::string text() const;
};

// What forces Open MPI to do as `algorithm` does with those parameters. Throws not_supported,
// naming what there is, for algorithms that no call of Open MPI for that collective has, and for
// parameters that it has no variable for.
ForcedAlgorithm forced_algorithm(const Problem& problem, std::string_view algorithm,
                                 const Parameters& parameters);

#if VRANKS_HAVE_MPI

// Open MPI's variables, through MPI's tool interface, which is open as long as this lives (opening
// it takes Open MPI a while). Must end before MPI does. Throws MpiError.
class OpenMpiVariables {
 public:
  OpenMpiVariables();
  ~OpenMpiVariables();
  OpenMpiVariables(const OpenMpiVariables&) = delete;
  OpenMpiVariables& operator=(const OpenMpiVariables&) = delete;

  bool has(const std::string& name) const;
  // Whole numbers and truth values. Throw not_available if there is no such variable, or if it
  // doesn't keep what is written, naming the library.
  int read(const std::string& name) const;
  void write(const std::string& name, int value) const;
  // What Open MPI calls that value of a variable ("rabenseifner"); empty if it has no names.
  std::string name_of_value(const std::string& name, int value) const;
};

#endif

// A communicator over all processes whose collectives use that algorithm.
class OpenMpiForced {
 public:
  // Every process makes one. Throws not_available, naming the library, if that isn't Open MPI 4.1,
  // if it wasn't started with dynamic rules, or if it lacks a variable; not_supported for one
  // process, for which it has no algorithms; MpiError.
  explicit OpenMpiForced(const ForcedAlgorithm& forced);
  ~OpenMpiForced();
  OpenMpiForced(const OpenMpiForced&) = delete;
  OpenMpiForced& operator=(const OpenMpiForced&) = delete;

  const std::string& library_name() const { return library_name_; }  // of the algorithm
  bool counts_blocks() const { return counts_blocks_; }
#if VRANKS_HAVE_MPI
  MPI_Comm communicator() const { return communicator_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
#endif

 private:
  std::string library_name_;
  bool counts_blocks_ = false;
};

}  // namespace vranks
