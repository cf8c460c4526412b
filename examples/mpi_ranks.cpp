// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Four virtual ranks in two processes: mpirun -np 2 mpi_ranks
#include <collectives/processes/communicator.hpp>
#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    vranks::Communicator ranks(MPI_COMM_WORLD, 2);  // two of them in each process
    const auto first = static_cast<float>(ranks.first_rank());
    float x[2][3] = {{1 + first, 10, 0.1f}, {2 + first, 20, 0.2f}}, y[2][3];
    const auto in = vranks::view(&x[0][0], {2, 3}), out = vranks::view(&y[0][0], {2, 3});

    // Each process reduces its ranks, and one MPI_Iallreduce does the rest.
    ranks.run(vranks::Collective::all_reduce, in, out);
    if (ranks.process() == 0) std::printf("mean %g %g %g\n", y[1][0], y[1][1], y[1][2]);

    // The ring's own messages, with the bits that one process computes.
    const vranks::CollectiveOptions ring{.op = vranks::ReduceOp::sum, .algorithm = "ring"};
    const auto how =
        ranks.run(vranks::Collective::all_reduce, in, out, ring, vranks::Engine::schedule);
    if (ranks.process() == 0)
      std::printf("%s of %d ranks in %d processes: %g %g %g\n", how.algorithm.c_str(),
                  static_cast<int>(ranks.ranks()), ranks.processes(), y[0][0], y[0][1], y[0][2]);
  }
  MPI_Finalize();
}

// Prints:
// mean 2.5 15 0.15
// ring of 4 ranks in 2 processes: 10 60 0.6
