// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI left alone, against ompi_auto and ompi_auto_v: vectors below, at and off multiples of
// the processes, and on both sides of every border of the decision rules.
#include <algorithm>
#include <set>

#include "tests/mpi/openmpi_calls.hpp"

namespace vranks {
namespace {

// The most that a process holds; larger borders are checked in the table alone.
constexpr std::int64_t most_bytes = 5 << 20;

std::set<std::int64_t> element_counts(const openmpi::Rules& rules, std::int64_t bytes_each) {
  const std::int64_t n = processes();
  const std::int64_t ranks_each = rules.counts_blocks ? n : 1;
  std::set<std::int64_t> counts{1, n - 1, n, n + 1, 2 * n, 5 * n + 2, 257};
  std::int32_t band = 0;  // the rows for n ranks
  for (const openmpi::Rule& row : rules.rows) {
    if (n >= row.ranks_below || (band != 0 && row.ranks_below != band)) continue;
    band = row.ranks_below;
    if (row.bytes_below > most_bytes) continue;
    const std::int64_t at = row.bytes_below / bytes_each * ranks_each;
    for (const std::int64_t elements : {at - ranks_each, at})
      if (elements * bytes_each <= most_bytes) counts.insert(elements);
  }
  std::set<std::int64_t> fitting;
  for (const std::int64_t elements : counts) {
    const bool scatters = rules.collective == Collective::reduce_scatter;
    const std::int64_t whole = scatters ? (elements + n - 1) / n * n : elements;
    if (whole > 0) fitting.insert(whole);
    if (scatters && whole > n) fitting.insert(whole - n);
  }
  return fitting;
}

void expect_rules(const openmpi::Rules& rules, const char* algorithm) {
  if (mpi_library().rfind("Open MPI 4.1.", 0) != 0)
    GTEST_SKIP() << "the decision rules are those of Open MPI 4.1, but this is " << mpi_library();
  Tally tally;
  for_each_float([&]<class T>(T, DType dtype) {
    for (const std::int64_t elements : element_counts(rules, sizeof(T))) {
      Call call = call_of(rules, elements, dtype);
      const bool is_rooted = rules.collective == Collective::reduce;
      for (const std::int64_t root : std::set<std::int64_t>{0, is_rooted ? processes() - 1 : 0}) {
        call.problem.root = root;
        std::vector<T> ours;
        if (has_result(call.problem)) ours = by_us<T>(call.problem, algorithm, {});
        for (const bool is_in_place : {false, true}) {
          call.is_in_place = is_in_place;
          tally.expect_equal(call, MPI_COMM_WORLD, ours);
        }
      }
    }
  });
  tally.print(algorithm);
}

TEST(OpenMpiRules, AllReduce) { expect_rules(openmpi::all_reduce_rules(), "ompi_auto"); }
TEST(OpenMpiRules, Reduce) { expect_rules(openmpi::reduce_rules(), "ompi_auto"); }
TEST(OpenMpiRules, ReduceScatter) { expect_rules(openmpi::reduce_scatter_rules(), "ompi_auto_v"); }
TEST(OpenMpiRules, ReduceScatterBlock) {
  expect_rules(openmpi::reduce_scatter_block_rules(), "ompi_auto");
}

}  // namespace
}  // namespace vranks
