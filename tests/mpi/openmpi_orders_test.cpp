// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every reduction algorithm of the real Open MPI, forced, against our schedule of it. Which one
// runs is set for each new communicator through MPI's tool interface; Open MPI heeds that only if
// it was started with --mca coll_tuned_use_dynamic_rules 1.
#include <set>

#include "tests/mpi/openmpi_calls.hpp"

namespace vranks {
namespace {

// Open MPI's parameters. The tool interface must be open.
class Variables {
 public:
  // Whether there is such a variable with a whole number; f(handle) if so.
  template <class F>
  bool with(const std::string& name, F&& f) const {
    int index = 0, count = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return false;
    MPI_T_cvar_handle handle;
    VR_MPI(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count));
    f(handle);
    VR_MPI(MPI_T_cvar_handle_free(&handle));
    return count == 1;
  }
  int read(const std::string& name) const {
    int value = 0;
    with(name, [&](MPI_T_cvar_handle handle) {
      bool is_true = false;  // Open MPI's bool variables fill one byte
      if (name.ends_with("use_dynamic_rules"))
        VR_MPI(MPI_T_cvar_read(handle, &is_true)), value = is_true;
      else
        VR_MPI(MPI_T_cvar_read(handle, &value));
    });
    return value;
  }
  void write(const std::string& name, int value) const {
    EXPECT_TRUE(
        with(name, [&](MPI_T_cvar_handle handle) { VR_MPI(MPI_T_cvar_write(handle, &value)); }))
        << "there is no variable " << name;
    EXPECT_EQ(read(name), value) << name;
  }
};

// An algorithm as Open MPI is told to use it.
struct Forced {
  const openmpi::Rules* rules = nullptr;
  int id = 0;
  int segment_bytes = 0;
  int reduce_id = 0;  // of the MPI_Reduce inside; 0: by the rules
  int fanout = 4;

  std::string text() const {
    return std::string(rules->call) + " algorithm " + std::to_string(id) + ", segments of " +
           std::to_string(segment_bytes) + ", MPI_Reduce algorithm " + std::to_string(reduce_id) +
           ", fan-out " + std::to_string(fanout);
  }
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

// A communicator whose collectives use that algorithm.
class Communicator {
 public:
  explicit Communicator(const Forced& forced) {
    const Variables variables;
    for (const openmpi::Rules* rules :
         {&openmpi::all_reduce_rules(), &openmpi::reduce_rules(), &openmpi::reduce_scatter_rules(),
          &openmpi::reduce_scatter_block_rules()}) {
      const std::string name = "coll_tuned_" + std::string(rules->parameter) + "_algorithm";
      const bool is_asked = rules == forced.rules;
      variables.write(name, is_asked                            ? forced.id
                            : rules == &openmpi::reduce_rules() ? forced.reduce_id
                                                                : 0);
      variables.write(name + "_segmentsize", is_asked ? forced.segment_bytes : 0);
    }
    variables.write("coll_tuned_reduce_algorithm_chain_fanout", forced.fanout);
    VR_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_));
  }
  ~Communicator() { MPI_Comm_free(&communicator_); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  MPI_Comm get() const { return communicator_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
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
  // Opening it takes Open MPI a while. It must be closed before MPI is.
  static void SetUpTestSuite() {
    int provided = 0;
    VR_MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  }
  static void TearDownTestSuite() { VR_MPI(MPI_T_finalize()); }

  void SetUp() override {
    if (mpi_library().rfind("Open MPI", 0) != 0)
      GTEST_SKIP() << "the algorithms are Open MPI's, but this is " << mpi_library();
    if (Variables().read("coll_tuned_use_dynamic_rules") == 0)
      GTEST_SKIP() << "Open MPI heeds forced algorithms only with "
                      "OMPI_MCA_coll_tuned_use_dynamic_rules=1";
  }

  void expect_orders(const std::vector<Forced>& all) {
    Tally tally;
    for (const Forced& forced : all) {
      SCOPED_TRACE(forced.text());
      const Communicator communicator(forced);
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
              tally.expect_equal(call, communicator.get(), ours);
            }
          }
      });
    }
    tally.print(std::string(all[0].rules->call).c_str());
    expect_apart(all);
  }

 private:
  // The negative control: Open MPI's answer with one algorithm isn't ours with another, wherever
  // ours differ. So each algorithm that was forced did run, and a wrong order would be noticed.
  static void expect_apart(const std::vector<Forced>& all) {
    std::vector<Answer> answers;
    for (const Forced& forced : all) {
      const Communicator communicator(forced);
      const Call call = call_of(*forced.rules, 192 * processes(), DType::f32);
      answers.push_back({forced, by_openmpi<float>(call, communicator.get()), {}});
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
