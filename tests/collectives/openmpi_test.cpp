// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's algorithms without Open MPI: what their schedules compute, against formulas; how many
// steps, messages and bytes they take.
#include <gtest/gtest.h>

#include <algorithm>

#include "ranks/names.hpp"
#include "tests/collectives/fold_values.hpp"
#include "tests/collectives/openmpi_formulas.hpp"

namespace vranks {
namespace {

using namespace openmpi_formulas;

Problem sum(Collective collective, std::int64_t ranks, std::int64_t elements,
            DType dtype = DType::f32) {
  return {.collective = collective,
          .ranks = ranks,
          .elements = elements,
          .dtype = dtype,
          .op = ReduceOp::sum};
}

template <class T>
void expect_formula(const Case& c) {
  SCOPED_TRACE(
      c.algorithm + " of " + c.parameters.reduce_algorithm + ", " +
      std::string(name(c.problem.collective)) + ", R = " + std::to_string(c.problem.ranks) +
      ", n = " + std::to_string(c.problem.elements) + ", root " + std::to_string(c.problem.root) +
      ", segments of " + std::to_string(c.parameters.segment_bytes));
  FoldValues<T> values(c.problem, select(find_algorithm(c.algorithm, c.problem.collective),
                                         c.problem, c.parameters));
  const auto n = static_cast<std::size_t>(c.problem.elements);
  const auto ranks = static_cast<std::size_t>(c.problem.ranks);
  std::vector<T> right;
  for (std::size_t i = 0; i < n; ++i) {
    Column<T> x;
    for (std::size_t r = 0; r < ranks; ++r)
      x.push_back(spread_value<T>(static_cast<std::int64_t>(r), static_cast<std::int64_t>(i)));
    right.push_back(expected(c, i, x));
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    if (c.problem.collective == Collective::reduce && std::int64_t(r) != c.problem.root) continue;
    std::vector<T> mine = right;
    if (c.problem.collective == Collective::reduce_scatter)
      mine.assign(right.begin() + static_cast<std::ptrdiff_t>(r * n / ranks),
                  right.begin() + static_cast<std::ptrdiff_t>((r + 1) * n / ranks));
    const auto got = values.output(static_cast<std::int32_t>(r));
    EXPECT_TRUE(have_equal_bits(got, mine)) << "rank " << r;
  }
}

void expect_formula_in_both(Case c) {
  c.problem.dtype = DType::f32;
  expect_formula<float>(c);
  c.problem.dtype = DType::f64;
  expect_formula<double>(c);
}

constexpr const char* reduce_algorithms[] = {
    "ompi_linear",   "ompi_chain",           "ompi_pipeline",    "ompi_binary",
    "ompi_binomial", "ompi_in_order_binary", "ompi_rabenseifner"};

// n below, at and off multiples of the ranks.
std::vector<std::int64_t> counts(std::int64_t ranks) {
  return {0, 1, 2, ranks - 1, ranks, ranks + 1, 2 * ranks, 3 * ranks + 2, 37, 64, 101};
}

class OpenMpi : public testing::TestWithParam<int> {};  // ranks
INSTANTIATE_TEST_SUITE_P(Ranks, OpenMpi, testing::Range(1, 10));

TEST_P(OpenMpi, AllReduceFollowsItsFormulas) {
  for (const std::int64_t n : counts(GetParam())) {
    const Problem problem = sum(Collective::all_reduce, GetParam(), n);
    for (const char* algorithm :
         {"ompi_linear", "ompi_recursive_doubling", "ompi_ring", "ompi_rabenseifner"})
      expect_formula_in_both({problem, algorithm, {}});
    for (const std::int64_t bytes : {0, 4, 8, 10, 11, 24, 1000}) {
      Parameters parameters;
      parameters.segment_bytes = bytes;
      expect_formula_in_both({problem, "ompi_segmented_ring", parameters});
    }
  }
}

TEST_P(OpenMpi, ReduceFollowsItsFormulas) {
  for (const std::int64_t n : counts(GetParam()))
    for (std::int64_t root = 0; root < GetParam(); ++root) {
      Problem problem = sum(Collective::reduce, GetParam(), n);
      problem.root = root;
      for (const char* algorithm : reduce_algorithms)
        expect_formula_in_both({problem, algorithm, {}});
      for (const std::int32_t fanout : {1, 2, 3, 100}) {
        Parameters parameters;
        parameters.fanout = fanout;
        expect_formula_in_both({problem, "ompi_chain", parameters});
      }
      Parameters parameters;
      parameters.segment_bytes = 20;
      for (const char* algorithm :
           {"ompi_chain", "ompi_pipeline", "ompi_binary", "ompi_binomial", "ompi_in_order_binary"})
        expect_formula_in_both({problem, algorithm, parameters});
    }
}

TEST_P(OpenMpi, NonoverlappingTakesTheReducesOrder) {
  for (const char* algorithm : reduce_algorithms) {
    Parameters parameters;
    parameters.reduce_algorithm = algorithm;
    for (const std::int64_t n : counts(GetParam()))
      expect_formula_in_both(
          {sum(Collective::all_reduce, GetParam(), n), "ompi_nonoverlapping", parameters});
    for (const std::int64_t block : {0, 1, 2, 3, 5, 16})
      expect_formula_in_both({sum(Collective::reduce_scatter, GetParam(), block * GetParam()),
                              "ompi_nonoverlapping", parameters});
  }
}

TEST_P(OpenMpi, ReduceScatterFollowsItsFormulas) {
  for (const std::int64_t block : {0, 1, 2, 3, 16})
    for (const char* algorithm :
         {"ompi_recursive_halving", "ompi_ring", "ompi_butterfly", "ompi_recursive_doubling"})
      expect_formula_in_both(
          {sum(Collective::reduce_scatter, GetParam(), block * GetParam()), algorithm, {}});
}

TEST_P(OpenMpi, AllGatherGathers) {
  for (const std::int64_t n : {0, 1, 5})
    for (const char* algorithm : {"ompi_linear", "ompi_bruck", "ompi_recursive_doubling",
                                  "ompi_ring", "ompi_neighbor_exchange"}) {
      const Problem problem = sum(Collective::all_gather, GetParam(), n);
      FoldValues<float> values(problem,
                               select(find_algorithm(algorithm, problem.collective), problem, {}));
      std::vector<float> right;
      for (std::int64_t r = 0; r < GetParam(); ++r)
        for (std::int64_t i = 0; i < n; ++i) right.push_back(spread_value<float>(r, i));
      for (std::int32_t r = 0; r < GetParam(); ++r)
        EXPECT_EQ(values.output(r), right) << algorithm << ", rank " << r;
    }
}

// The formulas tell the orders apart: else the tests above could pass with any schedule.
TEST(OpenMpiFormulas, Differ) {
  std::vector<std::vector<float>> sums(9);
  for (std::int64_t i = 0; i < 200; ++i) {
    Column<float> x;
    for (std::int64_t r = 0; r < 7; ++r) x.push_back(spread_value<float>(r, i));
    const float all[] = {falling(x),   rising_from(x, 0), up(x),
                         down(x),      chain(x, 0, 4),    chain(x, 0, 2),
                         binary(x, 0), binomial(x, 3),    in_order(x, 0, 7)};
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k].push_back(all[k]);
  }
  for (std::size_t a = 0; a < sums.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(sums[a], sums[b]) << a << " and " << b;
}

// --- larger R: every rank's value once in every result, nothing unwritten read ---

TEST(OpenMpiSchedules, SumEveryRankOnce) {
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.name.starts_with("ompi_")) continue;
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter})
      for (const std::int64_t ranks : {10, 11, 12, 13, 15, 16, 17, 23, 31, 32, 33}) {
        if (!has_word(algorithm.collectives, name(collective))) continue;
        SCOPED_TRACE(std::string(algorithm.name) + " R = " + std::to_string(ranks));
        Problem problem = sum(collective, ranks, 3 * ranks);
        problem.root = collective == Collective::reduce ? ranks / 3 : 0;
        // Rank r holds 2^r: a sum tells whom it is of.
        const auto inputs = [](std::int32_t r, std::int64_t begin, std::int64_t end) {
          return std::vector<double>(static_cast<std::size_t>(end - begin), std::ldexp(1.0, r));
        };
        FoldValues<double> values(problem, select(algorithm, problem, {}));
        for (std::int32_t r = 0; r < ranks; ++r) {
          if (collective == Collective::reduce && r != problem.root) continue;
          for (const double value : values.output(r, inputs))
            EXPECT_EQ(value, std::ldexp(1.0, int(ranks)) - 1);
        }
      }
  }
}

// --- structure: steps, messages, and what the busiest rank sends ---

struct Structure {
  const char* algorithm;
  Collective collective;
  std::int64_t ranks;
  std::size_t steps;
  std::int64_t messages;
  std::int64_t sent;  // elements by the busiest rank, of 840 R
};

std::int64_t elements_of(const Transfer& t, const ScheduleShape& shape, const Layout& layout) {
  std::int64_t elements = 0;
  for (std::int32_t k = 0; k < t.dst.count; ++k) {
    const ChunkRef* known = &t.dst;
    for (const ChunkRef* ref : {&t.a, &t.b})
      if (ref->slot != Slot::scratch) known = ref;
    // Scratch chunks of these algorithms have the numbers of what they hold.
    elements += layout.length(known->slot == Slot::scratch
                                  ? (known->index + k) % shape.chunks
                                  : shape.whole_chunk(known->rank, known->slot, known->index + k));
  }
  return elements;
}

TEST(OpenMpiSchedules, HaveTheStepsAndBytesTheyDocument) {
  using enum Collective;
  const Structure structures[] = {
      {"ompi_linear", all_reduce, 8, 9, 14, 7 * 6720},
      {"ompi_linear", reduce, 8, 8, 7, 6720},
      {"ompi_recursive_doubling", all_reduce, 8, 3, 24, 3 * 6720},
      {"ompi_recursive_doubling", all_reduce, 7, 4, 14, 3 * 5880},
      {"ompi_ring", all_reduce, 8, 14, 112, 14 * 840},
      {"ompi_ring", all_reduce, 7, 12, 84, 12 * 840},
      {"ompi_rabenseifner", all_reduce, 8, 6, 48, 14 * 840},
      {"ompi_rabenseifner", all_reduce, 7, 7, 28, 3 * 5880},
      {"ompi_rabenseifner", reduce, 8, 6, 31, 7 * 840 + 3360},
      {"ompi_chain", reduce, 8, 5, 7, 6720},
      {"ompi_pipeline", reduce, 8, 7, 7, 6720},
      {"ompi_binary", reduce, 7, 4, 6, 5880},
      {"ompi_binomial", reduce, 8, 3, 7, 6720},
      {"ompi_in_order_binary", reduce, 7, 5, 7, 5880},
      {"ompi_nonoverlapping", all_reduce, 8, 6, 14, 3 * 6720},
      {"ompi_nonoverlapping", reduce_scatter, 8, 4, 14, 6720},
      {"ompi_ring", reduce_scatter, 8, 7, 56, 7 * 840},
      {"ompi_recursive_halving", reduce_scatter, 8, 4, 24, 7 * 840},
      {"ompi_recursive_halving", reduce_scatter, 7, 4, 14, 5880},
      {"ompi_butterfly", reduce_scatter, 8, 4, 28, 6720},
      {"ompi_butterfly", reduce_scatter, 7, 4, 16, 5880},
      {"ompi_recursive_doubling", reduce_scatter, 8, 5, 34, 3 * 6720 - 7 * 840},
      {"ompi_linear", all_gather, 8, 4, 14, 3 * 6720},
      {"ompi_bruck", all_gather, 7, 5, 21, 6 * 840},
      {"ompi_recursive_doubling", all_gather, 8, 4, 24, 7 * 840},
      {"ompi_ring", all_gather, 8, 8, 56, 7 * 840},
      {"ompi_neighbor_exchange", all_gather, 8, 5, 32, 7 * 840},
  };
  for (const Structure& s : structures) {
    SCOPED_TRACE(std::string(s.algorithm) + " " + std::string(name(s.collective)) +
                 " R = " + std::to_string(s.ranks));
    const Problem problem =
        sum(s.collective, s.ranks, s.collective == all_gather ? 840 : 840 * s.ranks);
    const FoldValues<float> values(problem,
                                   select(find_algorithm(s.algorithm, s.collective), problem, {}));
    const Schedule& schedule = values.schedule();
    std::vector<std::int64_t> sent(static_cast<std::size_t>(s.ranks));
    std::int64_t messages = 0;
    for (std::size_t step = 0; step < schedule.steps(); ++step)
      schedule.for_each(step, [&](const Transfer& t) {
        if (!t.is_message()) return;
        ++messages;
        sent[static_cast<std::size_t>(t.source())] +=
            elements_of(t, schedule.shape(), values.layout());
      });
    EXPECT_EQ(schedule.steps(), s.steps);
    EXPECT_EQ(messages, s.messages);
    EXPECT_EQ(std::ranges::max(sent), s.sent);
  }
}

TEST(OpenMpiSchedules, CutSegmentsAndPhases) {
  Parameters parameters;
  parameters.segment_bytes = 18;  // 4 floats and a half: not more than half, so 4
  const FoldValues<float> reduce(sum(Collective::reduce, 4, 10),
                                 select(find_algorithm("ompi_binomial", Collective::reduce),
                                        sum(Collective::reduce, 4, 10), parameters));
  const std::vector<Interval> segments(reduce.layout().chunk(0).begin(),
                                       reduce.layout().chunk(0).end());
  EXPECT_EQ(segments, (std::vector<Interval>{{0, 4, 0}, {4, 8, 4}, {8, 10, 8}}));

  // 29 elements in blocks of 8, 7, 7, 7; rounds of 4 segments of 5: one, and a rest of 9 isn't
  // worth another.
  parameters.segment_bytes = 19;
  const auto phases = [&](std::int64_t elements) {
    const Problem problem = sum(Collective::all_reduce, 4, elements);
    return select(find_algorithm("ompi_segmented_ring", Collective::all_reduce), problem,
                  parameters)
        .parameters.chunks;
  };
  EXPECT_EQ(phases(29), 1);
  EXPECT_EQ(phases(30), 1);
  EXPECT_EQ(phases(31), 2);
  EXPECT_EQ(phases(40), 2);
  const Problem problem = sum(Collective::all_reduce, 4, 31);
  const FoldValues<float> ring(
      problem,
      select(find_algorithm("ompi_segmented_ring", Collective::all_reduce), problem, parameters));
  std::vector<std::int64_t> lengths;
  for (std::int32_t c = 0; c < 8; ++c) lengths.push_back(ring.layout().length(c));
  EXPECT_EQ(lengths, (std::vector<std::int64_t>{4, 4, 4, 4, 4, 4, 4, 3}));
  EXPECT_EQ(ring.schedule().steps(), 9u);
}

}  // namespace
}  // namespace vranks
