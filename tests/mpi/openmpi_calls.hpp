// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One reduction by the real Open MPI and by our emulation of it; each process compares what it got
// itself. Every process is a rank and holds spread_value(rank, i).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "collectives/openmpi/rules.hpp"
#include "collectives/peers/mpi.hpp"
#include "collectives/peers/mpi_call.hpp"
#include "tests/collectives/fold_values.hpp"

namespace vranks {

inline std::int32_t process(MPI_Comm communicator = MPI_COMM_WORLD) {
  int process = 0;
  VR_MPI(MPI_Comm_rank(communicator, &process));
  return process;
}
inline std::int32_t processes() {
  int processes = 1;
  VR_MPI(MPI_Comm_size(MPI_COMM_WORLD, &processes));
  return processes;
}

// What is asked of Open MPI, and how.
struct Call {
  const openmpi::Rules* rules = nullptr;  // which call it is
  Problem problem;
  bool is_in_place = false;
};

inline Call call_of(const openmpi::Rules& rules, std::int64_t elements, DType dtype) {
  return {&rules,
          {.collective = rules.collective,
           .ranks = processes(),
           .elements = elements,
           .dtype = dtype,
           .op = ReduceOp::sum},
          false};
}

inline std::string to_string(const Call& call) {
  return std::string(call.rules->call) + " of " + std::to_string(call.problem.elements) + " " +
         std::string(name(call.problem.dtype)) + " over " + std::to_string(call.problem.ranks) +
         " ranks, root " + std::to_string(call.problem.root) +
         (call.is_in_place ? ", in place" : "");
}

inline bool has_result(const Problem& problem) {
  return problem.collective != Collective::reduce || process() == problem.root;
}

// What Open MPI gives this process.
template <class T>
std::vector<T> by_openmpi(const Call& call, MPI_Comm communicator) {
  const MPI_Datatype type = sizeof(T) == 4 ? MPI_FLOAT : MPI_DOUBLE;
  const Problem& problem = call.problem;
  const auto n = static_cast<int>(problem.elements), root = static_cast<int>(problem.root);
  const int block = n / static_cast<int>(problem.ranks);
  const std::vector<T> own = spread_values<T>(process(), 0, n);
  std::vector<T> result = own;
  const bool is_in_place =
      call.is_in_place && (problem.collective != Collective::reduce || process() == root);
  const void* const from = is_in_place ? MPI_IN_PLACE : own.data();
  if (!is_in_place) std::fill(result.begin(), result.end(), T{-77});
  switch (problem.collective) {
    case Collective::all_reduce:
      VR_MPI(MPI_Allreduce(from, result.data(), n, type, MPI_SUM, communicator));
      break;
    case Collective::reduce:
      VR_MPI(MPI_Reduce(from, result.data(), n, type, MPI_SUM, root, communicator));
      break;
    default:
      if (call.rules->counts_blocks) {
        VR_MPI(MPI_Reduce_scatter_block(from, result.data(), block, type, MPI_SUM, communicator));
      } else {
        const std::vector<int> counts(static_cast<std::size_t>(problem.ranks), block);
        VR_MPI(MPI_Reduce_scatter(from, result.data(), counts.data(), type, MPI_SUM, communicator));
      }
      result.resize(static_cast<std::size_t>(block));
  }
  return result;
}

// What we say that it gives.
template <class T>
std::vector<T> by_us(const Problem& problem, std::string_view algorithm,
                     const Parameters& parameters) {
  const Selection selection =
      select(find_algorithm(algorithm, problem.collective), problem, parameters);
  return FoldValues<T>(problem, selection).output(process());
}

// Calls f with a value of the C type of each dtype that both know.
template <class F>
void for_each_float(F&& f) {
  f(float{}, DType::f32);
  f(double{}, DType::f64);
}

// How much was compared, by all processes together.
class Tally {
 public:
  template <class T>
  void expect_equal(const Call& call, MPI_Comm communicator, const std::vector<T>& ours) {
    const std::vector<T> theirs = by_openmpi<T>(call, communicator);
    if (!has_result(call.problem)) return;
    elements_ += static_cast<std::int64_t>(theirs.size());
    EXPECT_TRUE(have_equal_bits(theirs, ours)) << to_string(call);
  }
  void print(const char* what) const {
    std::int64_t all = 0;
    VR_MPI(MPI_Reduce(&elements_, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
    if (process() != 0) return;
    std::printf("%s over %d processes: %lld elements compared\n", what, processes(),
                static_cast<long long>(all));
    EXPECT_GT(all, 0);
  }

 private:
  std::int64_t elements_ = 0;
};

}  // namespace vranks
