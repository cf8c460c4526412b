// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules take the steps and bytes that their algorithms' formulas say; those of the textbook
// algorithms are kept small.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/collectives/cost_formula.hpp"
#include "tests/collectives/schedule_contract.hpp"
#include "tests/collectives/variants.hpp"

namespace vranks {
namespace {

Sources shift_up(std::int64_t ranks) { return permutations(ranks)[1].second; }

// Steps that send something, and what the busiest rank sends: inputs of a rank, messages of a
// barrier.
struct Cost {
  double steps = 0, inputs = 0;
};

Cost cost_of(const Schedule& schedule) {
  const ScheduleShape& shape = schedule.shape();
  Cost cost;
  std::vector<std::int64_t> sent(static_cast<std::size_t>(shape.ranks), 0);
  for (std::size_t s = 0; s < schedule.steps(); ++s) {
    bool sends = false;
    schedule.for_each(s, [&](const Transfer& t) {
      if (!t.is_message()) return;
      sends = true;
      sent[static_cast<std::size_t>(t.source())] += t.dst.count;
    });
    cost.steps += sends;
  }
  cost.inputs = static_cast<double>(std::ranges::max(sent)) / shape.slot_chunks(Slot::input);
  return cost;
}

double part(double r) { return (r - 1) / r; }

// The letters of a schedule's formulas.
Letters letters_of(const Algorithm& algorithm, const Problem& problem,
                   const Parameters& parameters) {
  const std::int64_t ranks = problem.ranks;
  const double on_a_node =
      parameters.ranks_per_node == 0 ? static_cast<double>(ranks) : parameters.ranks_per_node;
  double pieces = parameters.chunks;
  if (pieces == 0)
    pieces = algorithm.name == "double_binary_tree"    ? 8
             : algorithm.name == "ompi_segmented_ring" ? 1
                                                       : 4;
  Letters letters{{'n', 1},
                  {'R', static_cast<double>(ranks)},
                  {'p', static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(ranks)))},
                  {'K', pieces},
                  {'F', 4},
                  {'L', on_a_node},
                  {'N', static_cast<double>(ranks) / on_a_node}};
  std::set<std::int64_t> distances;
  std::int64_t messages = 0, farthest = 0;
  for (std::size_t r = 0; r < problem.sources.size(); ++r) {
    const std::int64_t source = problem.sources[r];
    const std::int64_t up_by = (static_cast<std::int64_t>(r) - source + ranks) % ranks;
    if (source < 0 || up_by == 0) continue;
    ++messages;
    distances.insert(up_by);
    farthest = std::max(farthest, std::min(up_by, ranks - up_by));
  }
  letters['M'] = static_cast<double>(messages);
  letters['D'] = static_cast<double>(distances.size());
  letters['H'] = static_cast<double>(farthest);
  return letters;
}

// What a permute's formulas are about: a message, and no rank sends two.
bool has_messages_of_different_ranks(const Problem& problem) {
  std::set<std::int32_t> senders;
  bool is_any = false;
  for (std::size_t r = 0; r < problem.sources.size(); ++r) {
    const std::int32_t source = problem.sources[r];
    if (source < 0 || source == static_cast<std::int32_t>(r)) continue;
    if (!senders.insert(source).second) return false;
    is_any = true;
  }
  return is_any;
}

// `text` without `before` and `behind`; nothing if it hasn't both.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view behind = "") {
  if (!text.starts_with(before) || !text.ends_with(behind)) return {};
  return text.substr(before.size(), text.size() - before.size() - behind.size());
}

// Compares measured numbers with a formula; remembers whether a bound was ever reached.
class Comparison {
 public:
  void compare(std::string_view formula, const Letters& letters, double measured) {
    const Bound bound = evaluate(formula, letters);
    EXPECT_LE(measured, bound.value + 1e-9) << formula;
    EXPECT_GE(measured, bound.is_exact ? bound.value - 1e-9 : 0) << formula;
    is_reached_ = is_reached_ || measured >= bound.value - 1e-9;
    is_asked_ = true;
  }
  bool is_tight() const { return !is_asked_ || is_reached_; }

 private:
  bool is_asked_ = false, is_reached_ = false;
};

// What a schedule is built of where rules need a size: as `vranks show` does.
std::int64_t usual_elements(std::int64_t ranks) { return 48 * ranks; }

struct Built {
  Schedule schedule;
  Parameters parameters;
};

// The algorithm's own schedule, or one that it makes of another's; nothing where there is none and
// where another algorithm runs instead.
std::optional<Built> build(const Algorithm& algorithm, const Problem& problem,
                           const Parameters& parameters) {
  try {
    return Built{algorithm.build(problem, parameters), parameters};
  } catch (const Error&) {
    if (algorithm.select == nullptr) return {};
  }
  const Selection selection = select(algorithm, problem, parameters);
  if (selection.algorithm->name != "ompi_nonoverlapping") return {};
  return Built{selection.algorithm->build(problem, selection.parameters), selection.parameters};
}

Schedule reduction_of(const Problem& problem, const Parameters& parameters) {
  Problem reduction = problem;
  reduction.collective = Collective::reduce;
  return find_algorithm(parameters.reduce_algorithm, Collective::reduce)
      .build(reduction, {.fanout = parameters.fanout});
}

TEST(ScheduleCosts, FormulasCoverEveryCollective) {
  for (const Algorithm& algorithm : algorithms()) {
    std::vector<Collective> covered;
    for (const Costs& costs : algorithm.costs) {
      std::istringstream words{std::string(costs.collectives)};
      for (std::string word; words >> word;) covered.push_back(parse_collective(word));
    }
    std::vector<Collective> all = collectives_of(algorithm);
    std::ranges::sort(all);
    std::ranges::sort(covered);
    EXPECT_EQ(covered, all) << algorithm.name;
  }
}

// What `vranks list costs` says, of every algorithm and collective.
TEST(ScheduleCosts, TakeTheStepsAndBytesOfTheirFormulas) {
  for (const Algorithm& algorithm : algorithms())
    for (const Collective collective : collectives_of(algorithm)) {
      const Costs& costs = costs_of(algorithm, collective);
      if (costs.steps == "the chosen algorithm's") {
        EXPECT_TRUE(algorithm.name.starts_with("ompi_auto"));
        EXPECT_EQ(costs.bytes, costs.steps);
        continue;
      }
      Comparison steps, bytes;
      for (const std::int64_t ranks : ranks_to_test()) {
        if (ranks == 1) continue;  // nothing is sent
        for (const Problem& problem : problems_of(collective, ranks, usual_elements(ranks)))
          for (const Parameters& parameters : variants(algorithm, ranks)) {
            if (problem.root != 0 || parameters.segment_bytes != 0) continue;
            if (collective == Collective::permute && !has_messages_of_different_ranks(problem))
              continue;
            SCOPED_TRACE(fmt::format("{} {} over {} ranks, {}", algorithm.name, name(collective),
                                     ranks, to_string(parameters)));
            const std::optional<Built> built = build(algorithm, problem, parameters);
            if (!built) continue;
            const Cost real = cost_of(built->schedule);
            const Letters letters = letters_of(algorithm, problem, parameters);
            double measured = real.steps;
            const auto beside = between(costs.steps, "the reduce's + ");
            if (beside) measured -= cost_of(reduction_of(problem, built->parameters)).steps;
            steps.compare(beside.value_or(costs.steps), letters, measured);
            bytes.compare(between(costs.bytes, "0, in ", " messages").value_or(costs.bytes),
                          letters, real.inputs);
            EXPECT_EQ(costs.bytes.starts_with("0"), collective == Collective::barrier);
          }
      }
      // Or it would say less than it could.
      EXPECT_TRUE(steps.is_tight()) << algorithm.name << " " << costs.steps;
      EXPECT_TRUE(bytes.is_tight()) << algorithm.name << " " << costs.bytes;
    }
}

// Every root has the same steps, and never more bytes, but for the gather of a tree over ranks in
// rank order.
TEST(ScheduleCosts, OfRootedCollectivesDependLittleOnTheRoot) {
  for (const Algorithm& algorithm : algorithms())
    for (const Collective collective : collectives_of(algorithm)) {
      if (!is_textbook(algorithm) || !has_root(collective) || collective == Collective::reduce)
        continue;
      const Costs& costs = costs_of(algorithm, collective);
      for (const std::int64_t ranks : ranks_to_test())
        for (const Problem& problem : problems_of(collective, ranks, ranks)) {
          if (ranks == 1) continue;
          SCOPED_TRACE(fmt::format("{} {} over {} ranks from {}", algorithm.name, name(collective),
                                   ranks, problem.root));
          const Cost real = cost_of(algorithm.build(problem, {}));
          const Letters letters = letters_of(algorithm, problem, {});
          EXPECT_EQ(real.steps, evaluate(costs.steps, letters).value);
          const bool collects =
              algorithm.name == "binomial_tree" && collective == Collective::gather;
          EXPECT_LE(real.inputs, (collects ? static_cast<double>(ranks - 1)
                                           : evaluate(costs.bytes, letters).value) +
                                     1e-9);
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
        EXPECT_NEAR(cost(straight).inputs, static_cast<double>(std::ranges::max(sent)), 1e-9);
      EXPECT_LE(cost("ring").inputs, r - 1 + 1e-9);
      const bool is_shift = distances.size() == 1 && messages == ranks;
      if (!is_shift) continue;
      EXPECT_NEAR(cost("ring").inputs, static_cast<double>(farthest), 1e-9);
    }
}

TEST(ScheduleCosts, TwoLevelCostsWhatItsPartsCost) {
  const Algorithm& two_level = find_algorithm("two_level", Collective::all_reduce);
  for (const auto& [nodes, per_node] : {std::pair{2, 4}, {3, 2}, {4, 4}, {8, 1}, {1, 8}}) {
    const double n = nodes, l = per_node;
    const Cost real =
        cost_of(two_level.build({.ranks = nodes * per_node}, {.ranks_per_node = per_node}));
    EXPECT_EQ(real.steps, 2 * (l - 1) + 2 * (n - 1)) << nodes << " nodes of " << per_node;
    EXPECT_NEAR(real.inputs, 2 * part(l) + 2 * part(n) / l, 1e-9)
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
