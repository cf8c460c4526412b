// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The textbook algorithms take the steps and bytes that the comments above them say, and their
// schedules are kept small.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/collectives/schedule_contract.hpp"
#include "tests/collectives/variants.hpp"

namespace vranks {
namespace {

Sources shift_up(std::int64_t ranks) { return permutations(ranks)[1].second; }

// Steps that send something, and the whole vectors that the busiest rank sends.
struct Cost {
  double steps = 0, vectors = 0;
};

Cost cost_of(const Schedule& schedule) {
  Cost cost;
  std::vector<std::int64_t> sent(static_cast<std::size_t>(schedule.shape().ranks), 0);
  for (std::size_t s = 0; s < schedule.steps(); ++s) {
    bool sends = false;
    schedule.for_each(s, [&](const Transfer& t) {
      if (!t.is_message()) return;
      sends = true;
      sent[static_cast<std::size_t>(t.source())] += t.dst.count;
    });
    cost.steps += sends;
  }
  cost.vectors = static_cast<double>(std::ranges::max(sent)) / schedule.shape().chunks;
  return cost;
}

double up(double r) { return std::ceil(std::log2(r)); }
double down(double r) { return std::floor(std::log2(r)); }
bool is_power(double r) { return up(r) == down(r); }
bool always(double) { return true; }
bool never(double) { return false; }

// The formulas of the comments above the algorithms, R > 1 and root 0. Bytes are in whole vectors:
// n, or Rn where that is a rank's part (all_gather, gather, all_to_all, permute). Of a barrier they
// are messages, and a permute is the shift up by one rank.
struct Formula {
  std::string_view algorithm;
  Collective collective;
  std::function<double(double ranks)> steps, vectors;
  // The R for which the bytes are just that; at most that for the others.
  bool (*is_exact)(double ranks) = always;
  bool may_save_step = false;  // where the last piece has only blocks that are there already
};

double in_order(double r) { return up(r) + down(r) - 1; }  // steps up an in-order tree
double part(double r) { return (r - 1) / r; }
double cube(double r) { return std::exp2(down(r)); }

double others(double r) { return r - 1; }

void add_copies(std::vector<Formula>& all) {
  using enum Collective;
  const auto number = [](double x) { return [=](double) { return x; }; };
  const auto pieces_down = [](auto&& depth) { return [=](double r) { return depth(r) + 4 - 1; }; };
  all.push_back({"direct", broadcast, number(1), others});
  all.push_back({"linear", broadcast, others, others});
  all.push_back({"binomial_tree", broadcast, up, up});
  all.push_back({"binary_tree", broadcast, pieces_down(in_order),
                 [](double r) { return r > 2 ? 2.0 : 1.0; }});
  all.push_back({"chain", broadcast, pieces_down(others), number(1)});
  all.push_back({"scatter_all_gather", broadcast, [](double r) { return up(r) + r - 1; },
                 [](double r) { return 2 * part(r); }});

  const auto one_of_all = [](double r) { return 1 / r; };
  all.push_back({"direct", gather, number(1), one_of_all});
  all.push_back({"linear", gather, others, one_of_all});
  all.push_back({"binomial_tree", gather, up, number(0.5), is_power});
  all.push_back({"direct", scatter, number(1), part});
  all.push_back({"linear", scatter, others, part});
  all.push_back({"binomial_tree", scatter, up, part});

  const auto a_rank_s_part = [](double r) { return part(r) / r; };
  all.push_back({"direct", all_to_all, number(1), a_rank_s_part});
  all.push_back({"linear", all_to_all, [](double r) { return r; }, a_rank_s_part});
  all.push_back({"pairwise", all_to_all, others, a_rank_s_part});
  all.push_back({"ring", all_to_all, others, [](double r) { return (r - 1) / 2 / r; }});
  all.push_back({"bruck", all_to_all, up, [](double r) {
                   double bits = 0;
                   for (std::uint32_t h = 1; h < static_cast<std::uint32_t>(r); ++h)
                     bits += std::popcount(h);
                   EXPECT_LE(bits, r / 2 * up(r));
                   return bits / r / r;
                 }});

  for (const std::string_view in_one_step : {"direct", "pairwise", "ring"})
    all.push_back({in_one_step, permute, number(1), one_of_all});
  all.push_back({"linear", permute, [](double r) { return r; }, one_of_all});
}

void add_prefixes_and_barriers(std::vector<Formula>& all) {
  using enum Collective;
  const auto number = [](double x) { return [=](double) { return x; }; };
  for (const Collective prefix : {scan, exscan}) {
    for (const std::string_view from_rank_to_rank : {"direct", "linear"})
      all.push_back({from_rank_to_rank, prefix, others, number(1)});
    all.push_back({"recursive_doubling", prefix, up, up});
  }
  const auto up_and_down = [](double r) {
    return r < 3 ? r - 1 : down(r) + std::floor(std::log2(r / 3)) + 1;
  };
  all.push_back({"binomial_tree", scan, up_and_down, down});
  all.push_back({"binomial_tree", exscan, [=](double r) { return up_and_down(r - 1) + 1; },
                 [](double r) { return down(r - 1) + 1; }});

  all.push_back({"direct", barrier, number(2), others});
  all.push_back({"linear", barrier, [](double r) { return 2 * (r - 1); }, others});
  all.push_back({"binomial_tree", barrier, [](double r) { return 2 * up(r); }, up});
  all.push_back({"recursive_doubling", barrier,
                 [](double r) { return down(r) + (is_power(r) ? 0 : 2); },
                 [](double r) { return down(r) + (is_power(r) ? 0 : 1); }});
  all.push_back({"dissemination", barrier, up, up});
}

std::vector<Formula> formulas() {
  using enum Collective;
  const auto number = [](double x) { return [=](double) { return x; }; };
  std::vector<Formula> all;
  for (const std::string_view ring : {"ring", "bidirectional_ring"}) {
    const auto around = [](double r) { return r - 1; };
    all.push_back({ring, all_reduce, [](double r) { return 2 * (r - 1); },
                   [](double r) { return 2 * part(r); }});
    all.push_back({ring, reduce, [](double r) { return r; }, number(1)});
    all.push_back({ring, reduce_scatter, around, part});
    all.push_back({ring, all_gather, around, part});
  }
  for (const std::string_view tree : {"direct", "binomial_tree"}) {
    const auto up_and_down = [](double r) { return 2 * up(r); };
    all.push_back({tree, all_reduce, up_and_down, up});
    all.push_back({tree, reduce, up, number(1)});
    all.push_back({tree, reduce_scatter, [](double r) { return up(r) + 1; }, number(1)});
    all.push_back({tree, all_gather, up_and_down,
                   [](double r) { return is_power(r) ? up(r) - part(r) : up(r); }, is_power});
  }
  for (const auto& [tree, trees] : {std::pair{"binary_tree", 1}, {"double_binary_tree", 2}}) {
    const double most = trees == 1 ? 3 : 2;
    const auto up_and_down = [](double r) { return 2 * in_order(r); };
    all.push_back({tree, all_reduce, [](double r) { return 2 * in_order(r) + 4 - 1; }, number(most),
                   [](double r) { return r > 3; }});
    all.push_back({tree, reduce, [](double r) { return in_order(r) + 4; }, number(1)});
    all.push_back(
        {tree, reduce_scatter,
         [=](double r) { return in_order(r) + std::ceil(std::min(r, 4.0 * trees) / trees); },
         number(1), always, true});
    all.push_back({tree, all_gather, up_and_down, number(most), never, true});
  }
  const auto line = [](double r) { return r - 1; };
  all.push_back({"chain", all_reduce, [](double r) { return 2 * (r - 1) + 4 - 1; },
                 [](double r) { return r > 2 ? 2.0 : 1.0; }});
  all.push_back({"chain", reduce, [](double r) { return r - 1 + 4; }, number(1)});
  all.push_back({"chain", reduce_scatter, [](double r) { return r - 1 + std::min(r, 4.0); },
                 number(1), always, true});
  all.push_back({"chain", all_gather, line, [](double r) { return r > 2 ? (r + 1) / r : 0.5; }});
  const auto with_fold = [](double often, double more) {
    return [=](double r) { return often * down(r) + (is_power(r) ? 0 : more); };
  };
  const auto part_or = [](double most) {
    return [=](double r) { return is_power(r) ? part(r) : most; };
  };
  all.push_back({"recursive_doubling", all_reduce, with_fold(1, 2), with_fold(1, 1)});
  all.push_back({"recursive_doubling", all_gather, with_fold(1, 2), part_or(3), is_power});
  all.push_back({"halving_doubling", all_reduce, with_fold(2, 3),
                 [](double r) { return 2 * part(cube(r)) + (is_power(r) ? 0 : 1.5); }});
  all.push_back({"halving_doubling", reduce, with_fold(2, 2),
                 [](double r) { return part(cube(r)) + (is_power(r) ? 0.5 : 1); }, is_power});
  all.push_back({"halving_doubling", reduce_scatter, with_fold(1, 3), part_or(2), is_power});
  all.push_back({"halving_doubling", all_gather, with_fold(1, 2), part_or(3), is_power});
  all.push_back({"one_shot", all_reduce, number(1), [](double r) { return r - 1; }});
  all.push_back({"one_shot", reduce, number(1), number(1)});
  all.push_back({"two_shot", all_reduce, number(2), [](double r) { return 2 * part(r); }});
  all.push_back({"two_shot", reduce, number(2), number(1)});
  for (const std::string_view shot : {"one_shot", "two_shot"}) {
    all.push_back({shot, reduce_scatter, number(1), part});
    all.push_back({shot, all_gather, number(1), part});
  }
  all.push_back({"bruck", all_gather, up, part});
  all.push_back({"neighbor_exchange", all_gather, [](double r) { return r / 2; }, part});
  add_copies(all);
  add_prefixes_and_barriers(all);
  return all;
}

// An algorithm may refuse some R; none may refuse all.
bool exists(std::string_view algorithm, std::int64_t ranks) {
  return algorithm != "neighbor_exchange" || ranks % 2 == 0;
}

TEST(ScheduleCosts, TakeTheStepsAndBytesOfTheirFormulas) {
  for (const Formula& formula : formulas()) {
    const Algorithm& algorithm = find_algorithm(formula.algorithm, formula.collective);
    for (const std::int64_t ranks : ranks_to_test()) {
      if (ranks == 1 || !exists(formula.algorithm, ranks)) continue;  // 1: nothing is sent
      SCOPED_TRACE(
          fmt::format("{} {} over {} ranks", formula.algorithm, name(formula.collective), ranks));
      Problem problem{.collective = formula.collective, .ranks = ranks};
      if (formula.collective == Collective::permute) problem.sources = shift_up(ranks);
      const Cost real = cost_of(algorithm.build(problem, {}));
      const auto r = static_cast<double>(ranks);
      EXPECT_LE(real.steps, formula.steps(r));
      EXPECT_GE(real.steps, formula.steps(r) - (formula.may_save_step ? 1 : 0));
      EXPECT_LE(real.vectors, formula.vectors(r) + 1e-9);
      EXPECT_GE(real.vectors, formula.is_exact(r) ? formula.vectors(r) - 1e-9 : 0);
    }
  }
}

TEST(ScheduleCosts, FormulasCoverEveryTextbookAlgorithm) {
  for (const Algorithm& algorithm : algorithms()) {
    if (!is_textbook(algorithm)) continue;
    if (algorithm.name == "two_level") continue;  // a sum of others'; tested below
    for (const Collective collective : collectives_of(algorithm)) {
      const std::vector<Formula> all = formulas();
      EXPECT_TRUE(std::ranges::any_of(all,
                                      [&](const Formula& f) {
                                        return f.algorithm == algorithm.name &&
                                               f.collective == collective;
                                      }))
          << algorithm.name << " " << name(collective);
    }
  }
}

// Every root has the same steps, and never more bytes than the comments say.
TEST(ScheduleCosts, OfRootedCollectivesDependLittleOnTheRoot) {
  for (const Formula& formula : formulas()) {
    if (!has_root(formula.collective) || formula.collective == Collective::reduce) continue;
    const Algorithm& algorithm = find_algorithm(formula.algorithm, formula.collective);
    for (const std::int64_t ranks : ranks_to_test())
      for (const Problem& problem : problems_of(formula.collective, ranks, ranks)) {
        if (ranks == 1) continue;
        SCOPED_TRACE(fmt::format("{} {} over {} ranks from {}", formula.algorithm,
                                 name(formula.collective), ranks, problem.root));
        const Cost real = cost_of(algorithm.build(problem, {}));
        const auto r = static_cast<double>(ranks);
        EXPECT_EQ(real.steps, formula.steps(r));
        const bool collects =
            formula.algorithm == "binomial_tree" && formula.collective == Collective::gather;
        EXPECT_LE(real.vectors, (collects ? part(r) : formula.vectors(r)) + 1e-9);
      }
  }
}

// Counted from the sources alone.
TEST(ScheduleCosts, OfPermutesFollowFromTheirMessages) {
  for (const std::int64_t ranks : ranks_to_test())
    for (const auto& [which, sources] : permutations(ranks)) {
      SCOPED_TRACE(fmt::format("{} over {} ranks", which, ranks));
      std::vector<std::int64_t> sent(sources.size(), 0);
      std::set<std::int64_t> distances;
      std::int64_t messages = 0, farthest = 0;
      for (std::int64_t r = 0; r < ranks; ++r) {
        const std::int64_t source = sources[static_cast<std::size_t>(r)];
        if (source < 0 || source == r) continue;
        const std::int64_t up_by = (r - source + ranks) % ranks;
        ++messages;
        ++sent[static_cast<std::size_t>(source)];
        distances.insert(up_by);
        farthest = std::max(farthest, std::min(up_by, ranks - up_by));
      }
      const auto cost = [&, &sources = sources](std::string_view algorithm) {
        return cost_of(
            find_algorithm(algorithm, Collective::permute)
                .build({.collective = Collective::permute, .ranks = ranks, .sources = sources},
                       {}));
      };
      const auto steps = [&](std::string_view algorithm) { return cost(algorithm).steps; };
      EXPECT_EQ(steps("direct"), messages > 0);
      EXPECT_EQ(steps("linear"), static_cast<double>(messages));
      EXPECT_EQ(steps("pairwise"), static_cast<double>(distances.size()));
      EXPECT_EQ(steps("ring"), static_cast<double>(farthest));
      const auto r = static_cast<double>(ranks);
      for (const std::string_view straight : {"direct", "linear", "pairwise"})
        EXPECT_NEAR(cost(straight).vectors, static_cast<double>(std::ranges::max(sent)) / r, 1e-9);
      EXPECT_LE(cost("ring").vectors, part(r) + 1e-9);
      const bool is_shift = distances.size() == 1 && messages == ranks;
      if (!is_shift) continue;
      EXPECT_NEAR(cost("ring").vectors, static_cast<double>(farthest) / r, 1e-9);
    }
}

TEST(ScheduleCosts, TwoLevelCostsWhatItsPartsCost) {
  const Algorithm& two_level = find_algorithm("two_level", Collective::all_reduce);
  for (const auto& [nodes, per_node] : {std::pair{2, 4}, {3, 2}, {4, 4}, {8, 1}, {1, 8}}) {
    const double n = nodes, l = per_node;
    const Cost real =
        cost_of(two_level.build({.ranks = nodes * per_node}, {.ranks_per_node = per_node}));
    EXPECT_EQ(real.steps, 2 * (l - 1) + 2 * (n - 1)) << nodes << " nodes of " << per_node;
    EXPECT_NEAR(real.vectors, 2 * part(l) + 2 * part(n) / l, 1e-9)
        << nodes << " nodes of " << per_node;
  }
}

// Schedules repeat themselves from rank to rank, and are kept as runs.
TEST(ScheduleCosts, OfManyRanksStaySmall) {
  for (const Algorithm& algorithm : algorithms()) {
    if (!is_textbook(algorithm)) continue;
    for (const Collective collective : collectives_of(algorithm)) {
      Problem problem{.collective = collective, .ranks = 512};
      if (collective == Collective::permute) problem.sources = shift_up(problem.ranks);
      const Schedule schedule = algorithm.build(problem, {});
      // XOR makes no long runs.
      const std::size_t most = (algorithm.name == "pairwise" ? 16u : 4u) << 20;
      EXPECT_LT(schedule.memory_bytes(), most) << algorithm.name << " " << name(collective) << ": "
                                               << schedule.transfers() << " transfers";
    }
  }
}

}  // namespace
}  // namespace vranks
