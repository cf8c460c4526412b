// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Run as: smpirun ... simgrid_collective (all_reduce | all_to_all) BYTES
//
// One call on BYTES a rank under SimGrid's SMPI, compiled by smpicc; prints the simulated seconds
// from the common start to the last rank's end.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Neither simulator is to count the arithmetic, and SMPI needn't do it.
static void combine_nothing(void* in, void* in_out, int* elements, MPI_Datatype* type) {
  (void)in, (void)in_out, (void)elements, (void)type;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t bytes = strtoull(argv[2], NULL, 10);
  const int elements = (int)(bytes / sizeof(float));
  void* input = SMPI_SHARED_MALLOC(bytes);  // the same memory for all ranks: nobody reads values
  void* output = SMPI_SHARED_MALLOC(bytes);
  MPI_Op op;
  MPI_Op_create(combine_nothing, 1, &op);

  // All ranks are here at the same simulated time: nothing has been sent yet.
  const double start = MPI_Wtime();
  if (strcmp(argv[1], "all_reduce") == 0)
    MPI_Allreduce(input, output, elements, MPI_FLOAT, op, MPI_COMM_WORLD);
  else
    MPI_Alltoall(input, elements / ranks, MPI_FLOAT, output, elements / ranks, MPI_FLOAT,
                 MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;

  double slowest;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.15g\n", slowest);
  MPI_Op_free(&op);
  SMPI_SHARED_FREE(input);
  SMPI_SHARED_FREE(output);
  MPI_Finalize();
  return 0;
}
