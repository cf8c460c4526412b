// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives whose virtual ranks live in several processes: each owns a block of them, and the
// same call runs in all.
//
//   MPI_Init(&argc, &argv);
//   vranks::Communicator communicator(MPI_COMM_WORLD, 8);       // 8 virtual ranks in each process
//   communicator.run(vranks::Collective::all_reduce, x, y);     // x, y: (8, ...) in each process
//
// Needs <mpi.h>; empty in builds without MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "collectives/collectives.hpp"
#include "collectives/processes/engine.hpp"

#if VRANKS_HAVE_MPI

#include "collectives/peers/mpi_call.hpp"

namespace vranks {

struct CommunicatorOptions {
  // Seconds without any message after which a process is taken for lost. A process that computes
  // between two calls for longer needs more.
  double timeout = 600;
  // Bytes of a message of the engine `schedule`, and of the pieces in which the engine `mpi` passes
  // a large tensor, so that one is combined while another travels.
  std::int64_t piece_bytes = 256 << 10;
  // Of engine nccl: the library, loaded when it is first asked for; and an ncclComm_t of the caller
  // with the same processes in the same order, whose device the tensors are on. Null: the library
  // makes one.
  std::string nccl_library = "libnccl.so.2";
  void* nccl_communicator = nullptr;
};

class Communicator {
 public:
  // Every process of `communicator`, which stays the caller's, makes one, and says how many virtual
  // ranks it owns (at least 1): process 0 the first ones, process 1 the next ones. Collective.
  // Throws bad_argument for fewer than 1 and not_supported for 2^31 or more in all.
  Communicator(MPI_Comm communicator, std::int64_t ranks_here,
               const CommunicatorOptions& options = {});
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  int process() const;
  int processes() const;
  std::int64_t ranks() const;       // of all processes
  std::int64_t first_rank() const;  // of this process
  std::int64_t ranks_here() const;
  // "NCCL 2.30.7", once engine nccl has been used; else empty.
  std::string nccl_version() const;
  // The process that owns that rank.
  int process_of(std::int64_t rank) const;

  // The collective over the ranks of all processes; every process calls it with the same arguments
  // but for the tensors' places and devices.
  //   in   (ranks_here(), d0, ...): its ranks' slices
  //   out  (ranks_here(), ...) of what one call over all ranks would have as (R, ...). Where only
  //        the root has an output: the root's process gives that, of several groups one slice for
  //        each whose root it owns; others an empty view.
  // Roots, counts, weights, groups, permutations in `options` are those of all ranks; options.ranks
  // has out's shape; no workspace and no stream are taken. `in` and `out` may be the same memory
  // or apart. Returns when all is done here.
  //
  // Engine::schedule: bits of run() on one process, for every algorithm.
  // Engine::mpi: as `direct` carries and rounds, in the order of the MPI library. A mean of 8- and
  // 16-bit floats is carried in f32 over processes; integers exactly. No groups.
  // Engine::nccl: the same, of tensors on CUDA devices, one for each process. No scan; of ops sum,
  // mean, prod, premul_sum, min and max alone, those of floats with NanPolicy::ignore, as NCCL's.
  //
  // Throws, on all processes, as run(); bad_argument if arguments differ, naming the process and
  // both; ProcessError if another process is silent or fails in the middle, after which nothing
  // can be called any more.
  Provenance run(Collective collective, const TensorView& in, const TensorView& out,
                 const CollectiveOptions& options = {}, Engine engine = Engine::mpi);

 private:
  class Processes;
  std::unique_ptr<Processes> processes_;
};

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
