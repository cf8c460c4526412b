// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every algorithm of the registry, for every collective it has, over many numbers of ranks: its
// schedule does what the collective means, each contribution exactly once, with equal bits on all
// ranks. The textbook algorithms also keep their documented orders.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/interpreters/interpret.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "tests/collectives/schedule_contract.hpp"
#include "tests/collectives/variants.hpp"

namespace vranks {
namespace {

// Problem and parameters of everything that an algorithm is asked for over that many ranks.
struct Case {
  Problem problem;
  Parameters parameters;
};

std::vector<Case> cases_of(const Algorithm& algorithm, Collective collective, std::int64_t ranks) {
  std::vector<Case> cases;
  for (const Problem& problem : problems_of(collective, ranks, 24 * ranks)) {
    cases.push_back({problem, {}});
    if (algorithm.name != "two_level") continue;
    for (std::int32_t node = 1; node <= ranks; ++node)
      if (ranks % node == 0) cases.push_back({problem, {.ranks_per_node = node}});
  }
  return cases;
}

// Which textbook algorithms are for some R only.
bool may_refuse(const Algorithm& algorithm, std::int64_t ranks) {
  return !is_textbook(algorithm) || (algorithm.name == "neighbor_exchange" && ranks % 2 == 1);
}

// Builds it and checks it. Whether it could be built; an algorithm may refuse, but must name R.
bool check_case(const Algorithm& algorithm, const Case& c) {
  try {
    const Schedule schedule = algorithm.build(c.problem, c.parameters);
    EXPECT_EQ(schedule.shape().collective, c.problem.collective);
    EXPECT_EQ(schedule.shape().ranks, c.problem.ranks);
    expect_contract(schedule, is_textbook(algorithm) || algorithm.refine != nullptr);
    const Layout layout = algorithm.layout(c.problem, schedule.shape(), c.parameters);
    EXPECT_EQ(layout.chunks(), schedule.shape().chunks);
    EXPECT_EQ(layout.elements(), whole_elements(c.problem));
    return true;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(may_refuse(algorithm, c.problem.ranks)) << message;
    EXPECT_EQ(error.kind(), ErrorKind::not_supported) << message;
    EXPECT_NE(message.find(std::to_string(c.problem.ranks)), std::string::npos)
        << "the message names no R: " << message;
    return false;
  }
}

TEST(Schedules, OfEveryAlgorithmKeepTheContract) {
  ASSERT_FALSE(algorithms().empty());
  for (const Algorithm& algorithm : algorithms()) {
    ASSERT_FALSE(collectives_of(algorithm).empty()) << algorithm.name;
    for (const Collective collective : collectives_of(algorithm)) {
      int built = 0;
      for (const std::int64_t ranks : ranks_to_test()) {
        for (const Case& c : cases_of(algorithm, collective, ranks)) {
          const Selection chosen = select(algorithm, c.problem, c.parameters);
          SCOPED_TRACE(fmt::format("{} {} over {} ranks, root {}, sources {}, {} a node; runs {}",
                                   algorithm.name, name(collective), ranks, c.problem.root,
                                   fmt::join(c.problem.sources, " "), c.parameters.ranks_per_node,
                                   chosen.algorithm->name));
          built += check_case(*chosen.algorithm, {c.problem, chosen.parameters});
          if (HasFatalFailure()) return;
        }
      }
      EXPECT_GT(built, 0) << algorithm.name << " " << name(collective) << " was never built";
    }
  }
}

// The checker itself: each kind of wrong result is told.
TEST(Schedules, ContractCheckerFindsFaults) {
  const ScheduleShape shape{.collective = Collective::all_reduce, .ranks = 2, .chunks = 2};
  FoldGraph graph(2, 2);
  const FoldId good = graph.combine(graph.leaf(0, 1), graph.leaf(1, 1), Own::none);
  EXPECT_EQ(wrong_with(graph, good, shape, 0, 1), "");
  EXPECT_NE(wrong_with(graph, no_fold, shape, 0, 1), "");
  EXPECT_NE(wrong_with(graph, good, shape, 0, 0), "");
  EXPECT_NE(wrong_with(graph, graph.leaf(0, 1), shape, 0, 1), "");
  EXPECT_NE(wrong_with(graph, graph.combine(good, graph.leaf(1, 1), Own::none), shape, 0, 1), "");
}

TEST(Schedules, ContractCheckerFindsFaultsOfCopiesAndPrefixes) {
  using enum Collective;
  const auto wrong = [](const FoldGraph& graph, FoldId fold, const ScheduleShape& shape,
                        std::int32_t to) {
    return wrong_with(graph, fold, shape, to, wanted_chunk(shape, to, 0)) != "";
  };
  FoldGraph one(3, 1);
  const FoldId x0 = one.leaf(0, 0), x1 = one.leaf(1, 0), x2 = one.leaf(2, 0);
  const FoldId two = one.combine(x0, x1, Own::none), all = one.combine(two, x2, Own::none);
  const ScheduleShape inclusive{.collective = scan, .ranks = 3};
  EXPECT_FALSE(wrong(one, two, inclusive, 1));
  EXPECT_TRUE(wrong(one, x0, inclusive, 1));
  EXPECT_TRUE(wrong(one, all, inclusive, 1));
  EXPECT_TRUE(wrong(one, one.combine(x1, x0, Own::none), inclusive, 1));
  const ScheduleShape exclusive{.collective = exscan, .ranks = 3};
  EXPECT_FALSE(wrong(one, x0, exclusive, 1));
  EXPECT_TRUE(wrong(one, two, exclusive, 1));
  const ScheduleShape from_one{.collective = broadcast, .ranks = 3, .root = 1};
  EXPECT_FALSE(wrong(one, x1, from_one, 2));
  EXPECT_TRUE(wrong(one, x2, from_one, 2));
  EXPECT_TRUE(wrong(one, two, from_one, 2));
  const ScheduleShape turn{.collective = permute, .ranks = 3, .chunks = 3, .sources = {1, 2, 0}};
  EXPECT_FALSE(wrong(one, x1, turn, 0));
  EXPECT_TRUE(wrong(one, x2, turn, 0));
  const ScheduleShape meet{.collective = barrier, .ranks = 3};
  EXPECT_FALSE(wrong(one, one.combine(all, x0, Own::none), meet, 0));
  EXPECT_TRUE(wrong(one, one.combine(two, x0, Own::none), meet, 0));
  FoldGraph three(3, 3);
  const ScheduleShape turned{.collective = all_to_all, .ranks = 3, .chunks = 9};
  EXPECT_FALSE(wrong(three, three.leaf(0, 2), turned, 2));
  EXPECT_TRUE(wrong(three, three.leaf(0, 0), turned, 2));
  EXPECT_TRUE(wrong(three, three.leaf(2, 0), turned, 2));
  const ScheduleShape dealt{.collective = scatter, .ranks = 3, .root = 1, .chunks = 3};
  EXPECT_FALSE(wrong(three, three.leaf(1, 2), dealt, 2));
  EXPECT_TRUE(wrong(three, three.leaf(2, 2), dealt, 2));
  EXPECT_TRUE(wrong(three, three.leaf(1, 1), dealt, 2));
}

std::string order_of(std::string_view algorithm, Problem problem, std::int32_t rank,
                     std::int32_t chunk, const Parameters& parameters = {}) {
  const Schedule schedule =
      find_algorithm(algorithm, problem.collective).build(problem, parameters);
  const Folds folds = interpret(schedule);
  return to_string(folds.graph, folds.output(schedule.shape(), rank, chunk));
}

TEST(Schedules, KeepTheirDocumentedOrders) {
  using enum Collective;
  EXPECT_EQ(order_of("ring", {all_reduce, 4}, 2, 0), "((x0 + x1) + x2) + x3");
  EXPECT_EQ(order_of("ring", {all_reduce, 4}, 0, 2), "((x2 + x3) + x0) + x1");
  EXPECT_EQ(order_of("ring", {reduce_scatter, 4}, 0, 0), "((x1 + x2) + x3) + x0");
  EXPECT_EQ(order_of("bidirectional_ring", {all_reduce, 4}, 0, 2), "((x1 + x2) + x3) + x0");
  EXPECT_EQ(order_of("bidirectional_ring", {all_reduce, 4}, 0, 3), "((x1 + x0) + x3) + x2");
  EXPECT_EQ(order_of("bidirectional_ring", {reduce_scatter, 4}, 2, 0), "((x3 + x0) + x1) + x2");
  EXPECT_EQ(order_of("bidirectional_ring", {reduce_scatter, 4}, 2, 1), "((x1 + x0) + x3) + x2");
  for (const std::string_view in_rank_order : {"chain", "one_shot", "two_shot"})
    for (std::int32_t rank = 0; rank < 5; ++rank) {
      EXPECT_EQ(order_of(in_rank_order, {all_reduce, 5}, rank, 0), "(((x0 + x1) + x2) + x3) + x4");
      EXPECT_EQ(order_of(in_rank_order, {reduce_scatter, 5}, rank, 0),
                "(((x0 + x1) + x2) + x3) + x4");
      EXPECT_EQ(order_of(in_rank_order, {.collective = reduce, .ranks = 5, .root = rank}, rank, 0),
                "(((x0 + x1) + x2) + x3) + x4");
    }
  for (const std::string_view balanced : {"direct", "binomial_tree"})
    for (std::int32_t rank = 0; rank < 7; ++rank) {
      const std::string order = "((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6)";
      EXPECT_EQ(order_of(balanced, {all_reduce, 7}, rank, 0), order);
      EXPECT_EQ(order_of(balanced, {reduce_scatter, 7}, rank, 0), order);
      EXPECT_EQ(order_of(balanced, {.collective = reduce, .ranks = 7, .root = rank}, rank, 0),
                order);
    }
  EXPECT_EQ(order_of("direct", {all_reduce, 6}, 0, 0), "((x0 + x1) + (x2 + x3)) + (x4 + x5)");
  EXPECT_EQ(order_of("binary_tree", {all_reduce, 4}, 0, 0), "((x0 + x1) + x2) + x3");
  EXPECT_EQ(order_of("binary_tree", {all_reduce, 7}, 0, 3),
            "(((x0 + x1) + x2) + x3) + ((x4 + x5) + x6)");
  EXPECT_EQ(order_of("double_binary_tree", {all_reduce, 4}, 0, 3), "((x0 + x1) + x2) + x3");
  EXPECT_EQ(order_of("double_binary_tree", {all_reduce, 4}, 0, 4), "x0 + ((x1 + x2) + x3)");
  EXPECT_EQ(order_of("double_binary_tree", {all_reduce, 7}, 0, 0),
            "(((x0 + x1) + x2) + x3) + ((x4 + x5) + x6)");
  EXPECT_EQ(order_of("double_binary_tree", {all_reduce, 7}, 0, 7),
            "(((x1 + x2) + x3) + x4) + ((x5 + x6) + x0)");
  // The UP tree: 7 = 4 + 3, so ranks 0 to 5 meet in pairs before distance 1.
  const std::string up = "((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6)";
  const std::string up_of_five = "((x0 + x1) + x2) + (x3 + x4)";
  for (std::int32_t rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(order_of("recursive_doubling", {all_reduce, 7}, rank, 0), up);
    EXPECT_EQ(order_of("recursive_doubling", {all_reduce, 5}, rank, 0), up_of_five);
    EXPECT_EQ(order_of("halving_doubling", {all_reduce, 7}, rank, 3), up);
    EXPECT_EQ(order_of("halving_doubling", {all_reduce, 5}, rank, 1), up_of_five);
    EXPECT_EQ(order_of("halving_doubling", {reduce_scatter, 5}, rank, 0), up_of_five);
    EXPECT_EQ(
        order_of("halving_doubling", {.collective = reduce, .ranks = 5, .root = rank}, rank, 2),
        up_of_five);
  }
  EXPECT_EQ(order_of("bruck", {all_gather, 5}, 3, 1), "x1");
  for (const std::string_view left_to_right : {"direct", "linear"}) {
    EXPECT_EQ(order_of(left_to_right, {scan, 7}, 4, 0), "(((x0 + x1) + x2) + x3) + x4");
    EXPECT_EQ(order_of(left_to_right, {exscan, 7}, 4, 0), "((x0 + x1) + x2) + x3");
  }
  EXPECT_EQ(order_of("recursive_doubling", {scan, 8}, 6, 0), up);
  EXPECT_EQ(order_of("recursive_doubling", {exscan, 8}, 7, 0),
            "((x0 + x1) + (x2 + x3)) + ((x4 + x5) + x6)");
  EXPECT_EQ(order_of("recursive_doubling", {exscan, 8}, 6, 0),
            "((x0 + x1) + (x2 + x3)) + (x4 + x5)");
  const std::string blocks_from_the_left = "(((x0 + x1) + (x2 + x3)) + (x4 + x5)) + x6";
  for (const std::int64_t ranks : {7, 8, 13}) {
    EXPECT_EQ(order_of("binomial_tree", {scan, ranks}, 6, 0), blocks_from_the_left);
    if (ranks == 7) continue;
    EXPECT_EQ(order_of("binomial_tree", {exscan, ranks}, 7, 0), blocks_from_the_left);
  }
  const Parameters chains{.ranks_per_node = 3, .inner = "chain", .outer = "chain"};
  EXPECT_EQ(order_of("two_level", {all_reduce, 6}, 4, 0, chains),
            "((x0 + x1) + x2) + ((x3 + x4) + x5)");
  EXPECT_EQ(order_of("two_level", {reduce_scatter, 6}, 4, 0, chains),
            "((x0 + x1) + x2) + ((x3 + x4) + x5)");
}

TEST(Schedules, AnExscanIsTheScanOfTheRankBefore) {
  int compared = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!supports(algorithm, Collective::exscan)) continue;
    for (const std::int64_t ranks : ranks_to_test()) {
      const Schedule scan = algorithm.build({.collective = Collective::scan, .ranks = ranks}, {});
      const Schedule exscan =
          algorithm.build({.collective = Collective::exscan, .ranks = ranks}, {});
      const Folds of_scan = interpret(scan), of_exscan = interpret(exscan);
      for (std::int32_t r = 1; r < ranks; ++r, ++compared)
        EXPECT_EQ(to_string(of_exscan.graph, of_exscan.output(exscan.shape(), r, 0)),
                  to_string(of_scan.graph, of_scan.output(scan.shape(), r - 1, 0)))
            << algorithm.name << " over " << ranks << " ranks";
    }
  }
  EXPECT_GT(compared, 0);
}

// Whether it has schedules over so many ranks without being told a size or a parameter.
bool stands_alone(const Algorithm& algorithm, std::int64_t ranks) {
  try {
    for (const Collective collective : collectives_of(algorithm))
      (void)algorithm.build(problems_of(collective, ranks, ranks).front(), {});
    return true;
  } catch (const Error&) {
    EXPECT_TRUE(may_refuse(algorithm, ranks)) << algorithm.name << " refuses " << ranks << " ranks";
    return false;
  }
}

TEST(Schedules, TwoLevelTakesAnyParts) {
  const std::int32_t nodes = 3, per_node = 4;
  int built = 0;
  for (const Collective collective :
       collectives_of(find_algorithm("two_level", Collective::all_reduce)))
    for (const Algorithm& inner : algorithms())
      for (const Algorithm& outer : algorithms()) {
        const auto fits = [&](const Algorithm& a, std::int64_t ranks) {
          return a.name != "two_level" && has_word(a.collectives, name(collective)) &&
                 stands_alone(a, ranks);
        };
        if (!fits(inner, per_node) || !fits(outer, nodes)) continue;
        SCOPED_TRACE(fmt::format("{} of {} in {}", name(collective), inner.name, outer.name));
        const std::int64_t root = collective == Collective::reduce ? nodes * per_node - 2 : 0;
        expect_contract(
            find_algorithm("two_level", collective)
                .build({.collective = collective, .ranks = nodes * per_node, .root = root},
                       {.ranks_per_node = per_node,
                        .inner = std::string(inner.name),
                        .outer = std::string(outer.name)}),
            false);
        ++built;
        if (HasFatalFailure()) return;
      }
  EXPECT_GT(built, 400);
}

TEST(Schedules, TwoLevelRefusesWhatDoesNotFit) {
  const Algorithm& two_level = find_algorithm("two_level", Collective::all_reduce);
  try {
    (void)two_level.build({.ranks = 10}, {.ranks_per_node = 4});
    ADD_FAILURE() << "10 ranks were put on nodes of 4";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_supported);
    EXPECT_NE(std::string(error.what()).find("10 ranks"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("nodes of 4"), std::string::npos) << error.what();
  }
  EXPECT_THROW((void)two_level.build({.ranks = 8}, {.ranks_per_node = -2}), Error);
  EXPECT_THROW((void)two_level.build({.ranks = 8}, {.inner = "two_level"}), Error);
  EXPECT_THROW((void)two_level.build({.ranks = 8}, {.outer = "no_such"}), Error);
}

TEST(Schedules, PipelinesTakeAnyNumberOfPieces) {
  for (const std::string_view pipeline : {"chain", "binary_tree", "double_binary_tree"}) {
    for (const Collective collective :
         collectives_of(find_algorithm(pipeline, Collective::all_reduce))) {
      const Algorithm& algorithm = find_algorithm(pipeline, collective);
      for (const std::int32_t chunks : {1, 2, 3, 7, 40}) {
        SCOPED_TRACE(fmt::format("{} {} in {}", pipeline, name(collective), chunks));
        expect_contract(algorithm.build({.collective = collective, .ranks = 9}, {.chunks = chunks}),
                        false);
      }
      EXPECT_THROW((void)algorithm.build({.collective = collective, .ranks = 9}, {.chunks = -1}),
                   Error);
    }
  }
}

// The bandwidth of a double tree comes from this: who works inside one tree is a leaf of the other.
TEST(Schedules, InnerRanksOfOneTreeAreLeavesOfTheOther) {
  for (const std::int64_t ranks : ranks_to_test()) {
    const Schedule schedule =
        find_algorithm("double_binary_tree", Collective::all_reduce).build({.ranks = ranks}, {});
    std::set<std::int32_t> inner[2];  // who combines chunks of the first half, and of the second
    for (std::size_t s = 0; s < schedule.steps(); ++s)
      schedule.for_each(s, [&](const Transfer& t) {
        if (t.action == Action::reduce)
          inner[t.dst.index < schedule.shape().chunks / 2 ? 0 : 1].insert(t.dst.rank);
      });
    for (const std::int32_t rank : inner[0])
      EXPECT_FALSE(inner[1].contains(rank)) << "rank " << rank << " of " << ranks;
  }
}

}  // namespace
}  // namespace vranks
