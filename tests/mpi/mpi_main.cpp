// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// main() of tests that run under mpirun. Process 0 prints as always; the others print only what
// failed, behind their number. Every process ends with the worst result of all.
#include <gtest/gtest.h>
#include <omp.h>

#include <cstdio>

#include "collectives/peers/mpi_call.hpp"

namespace {

class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int process) : process_(process) {}

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const char* const file = result.file_name();
    std::fprintf(stderr, "process %d: %s:%d: %s\n", process_, file ? file : "?",
                 result.line_number(), result.summary());
  }

 private:
  int process_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  VR_MPI(MPI_Init(&argc, &argv));
  // There are more processes than cores; threads would only wait for each other.
  omp_set_num_threads(1);
  int process = 0;
  VR_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &process));
  if (process != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(process));
  }
  const int mine = RUN_ALL_TESTS();
  int worst = mine;
  VR_MPI(MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  VR_MPI(MPI_Finalize());
  return worst;
}
