// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every reduction algorithm of the real Open MPI, forced, against our schedule of it.
#include <memory>
#include <set>

#include "collectives/peers/openmpi_forced.hpp"
#include "tests/mpi/openmpi_calls.hpp"

namespace vranks {
namespace {

// An algorithm as Open MPI is told to use it, and what is ours.
struct Forced {
  const openmpi::Rules* rules = nullptr;
  int id = 0;
  int segment_bytes = 0;
  int reduce_id = 0;  // of the MPI_Reduce inside; 0: by the rules
  int fanout = 4;

  ForcedAlgorithm theirs() const {
    return {&openmpi_call(*rules), id, segment_bytes, reduce_id, fanout};
  }
  std::string text() const { return theirs().text(); }
  std::string_view algorithm() const {
    if (reduce_id != 0) return "ompi_nonoverlapping";  // which MPI_Reduce is a parameter of it
    return openmpi::with_id(*rules, id, true).algorithm->name;
  }
  Parameters parameters() const {
    Parameters ours;
    ours.segment_bytes = segment_bytes;
    if (reduce_id != 0)
      ours.reduce_algorithm =
          openmpi::with_id(openmpi::reduce_rules(), reduce_id, true).algorithm->name;
    if (algorithm() == "ompi_chain" || ours.reduce_algorithm == "ompi_chain") ours.fanout = fanout;
    return ours;
  }
};

std::vector<Forced> all_reduces() {
  const auto* rules = &openmpi::all_reduce_rules();
  std::vector<Forced> all;
  for (const int id : {1, 3, 4, 6}) all.push_back({.rules = rules, .id = id});
  for (const int bytes : {0, 4, 64, 1000})
    all.push_back({.rules = rules, .id = 5, .segment_bytes = bytes});
  for (const int id : {0, 1, 2, 3, 4, 5, 6, 7})
    all.push_back({.rules = rules, .id = 2, .reduce_id = id});
  all.push_back({.rules = rules, .id = 2, .reduce_id = 2, .fanout = 2});
  return all;
}

std::vector<Forced> reduces() {
  const auto* rules = &openmpi::reduce_rules();
  std::vector<Forced> all;
  for (const int id : {1, 2, 3, 4, 5, 6, 7}) all.push_back({.rules = rules, .id = id});
  all.push_back({.rules = rules, .id = 2, .fanout = 2});
  all.push_back({.rules = rules, .id = 2, .segment_bytes = 100, .fanout = 3});
  for (const int id : {3, 4, 5, 6}) all.push_back({.rules = rules, .id = id, .segment_bytes = 100});
  return all;
}

std::vector<Forced> reduce_scatters(const openmpi::Rules& rules) {
  std::vector<Forced> all;
  for (const int id : {1, 2, 3, 4}) all.push_back({.rules = &rules, .id = id});
  for (const int id : {1, 2, 4, 5, 6, 7})
    all.push_back({.rules = &rules, .id = 1, .reduce_id = id});
  return all;
}

// Below, at and off multiples of the processes; of a reduce-scatter multiples.
std::vector<std::int64_t> element_counts(const openmpi::Rules& rules) {
  const std::int64_t n = processes();
  if (rules.collective == Collective::reduce_scatter)
    return {n, 2 * n, 3 * n, 64 * n, 257 * n, 2047 * n};
  return {1, 2, n - 1, n, n + 1, 2 * n, 3 * n + 2, 64, 257, 1000, 2047, 8191};
}

std::vector<std::int64_t> roots(const openmpi::Rules& rules) {
  const std::int64_t n = processes();
  if (rules.collective != Collective::reduce) return {0};
  const std::set<std::int64_t> all{0, n / 2, n - 1};
  return {all.begin(), all.end()};
}

// What Open MPI gives with algorithms forced one after the other, on data that tells orders apart.
struct Answer {
  Forced forced;
  std::vector<float> theirs, ours;
};

class OpenMpiOrders : public testing::Test {
 protected:
  // Opening them takes Open MPI a while. They must be closed before MPI is.
  static void SetUpTestSuite() { variables_ = std::make_unique<OpenMpiVariables>(); }
  static void TearDownTestSuite() { variables_.reset(); }

  void SetUp() override {
    if (!mpi_library().starts_with("Open MPI 4.1."))
      GTEST_SKIP() << "the algorithms are those of Open MPI 4.1, but this is " << mpi_library();
    if (variables_->read("coll_tuned_use_dynamic_rules") == 0)
      GTEST_SKIP() << "Open MPI heeds forced algorithms only with "
                      "OMPI_MCA_coll_tuned_use_dynamic_rules=1";
  }

  void expect_orders(const std::vector<Forced>& all) {
    Tally tally;
    for (const Forced& forced : all) {
      SCOPED_TRACE(forced.text());
      const OpenMpiForced there(forced.theirs());
      for_each_float([&]<class T>(T, DType dtype) {
        for (const std::int64_t elements : element_counts(*forced.rules))
          for (const std::int64_t root : roots(*forced.rules)) {
            Call call = call_of(*forced.rules, elements, dtype);
            call.problem.root = root;
            std::vector<T> ours;
            if (has_result(call.problem))
              ours = by_us<T>(call.problem, forced.algorithm(), forced.parameters());
            for (const bool is_in_place : {false, true}) {
              call.is_in_place = is_in_place;
              tally.expect_equal(call, there.communicator(), ours);
            }
          }
      });
    }
    tally.print(std::string(all[0].rules->call).c_str());
    expect_apart(all);
  }

 private:
  static inline std::unique_ptr<OpenMpiVariables> variables_;

  // The negative control: Open MPI's answer with one algorithm isn't ours with another, wherever
  // ours differ. So each algorithm that was forced did run, and a wrong order would be noticed.
  static void expect_apart(const std::vector<Forced>& all) {
    std::vector<Answer> answers;
    for (const Forced& forced : all) {
      const OpenMpiForced there(forced.theirs());
      const Call call = call_of(*forced.rules, 192 * processes(), DType::f32);
      answers.push_back({forced, by_openmpi<float>(call, there.communicator()), {}});
      if (has_result(call.problem))
        answers.back().ours = by_us<float>(call.problem, forced.algorithm(), forced.parameters());
    }
    std::set<std::vector<float>> orders;
    for (const Answer& a : answers) {
      orders.insert(a.ours);
      for (const Answer& b : answers) {
        if (a.ours == b.ours) continue;
        EXPECT_FALSE(have_equal_bits(a.theirs, b.ours))
            << a.forced.text() << " and " << b.forced.text();
      }
    }
    if (process() != 0) return;
    std::printf("%s over %d processes: %zu orders told apart\n",
                std::string(all[0].rules->call).c_str(), processes(), orders.size());
    // Two numbers have one sum. From five ranks on, three orders at least are in use.
    EXPECT_GE(orders.size(), processes() == 2 ? 1u : processes() < 5 ? 2u : 3u);
  }
};

TEST_F(OpenMpiOrders, AllReduce) { expect_orders(all_reduces()); }
TEST_F(OpenMpiOrders, Reduce) { expect_orders(reduces()); }
TEST_F(OpenMpiOrders, ReduceScatter) {
  expect_orders(reduce_scatters(openmpi::reduce_scatter_rules()));
}
TEST_F(OpenMpiOrders, ReduceScatterBlock) {
  expect_orders(reduce_scatters(openmpi::reduce_scatter_block_rules()));
}

}  // namespace
}  // namespace vranks
