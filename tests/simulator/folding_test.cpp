// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that do alike, run by one of them: the times are those of running all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "collectives/symmetry.hpp"
#include "ranks/error.hpp"
#include "simulator/clock.hpp"
#include "simulator/critical_path.hpp"
#include "simulator/read_machine.hpp"
#include "tests/simulator/timed.hpp"

namespace vranks {
namespace {

// Nodes of two, so that neighbours differ, and costs of all kinds but those of cores.
constexpr const char* pairs = R"(name: pairs
nodes: 32
node:
  ranks: 2
  switches: [{name: memory, bandwidth: 30 GB/s, latency: 50 ns}]
  links: [{from: rank, to: memory, bandwidth: 20 GB/s, latency: 0.2 us}]
network: {kind: switch, bandwidth: 10 GB/s, latency: 3 us}
costs:
  launch: 2 us
  message_latency: 1 us
  lane_bandwidth: 6 GB/s
  alloc_limit: 1 KiB
  alloc_bandwidth: 9 GB/s
  eager_limit: 8 KiB
  rendezvous: 2 us
  tile_bytes: 64 KiB
  piece_bytes: 16 KiB
  slots: 16
)";
constexpr const char* cores =
    "  message_overhead: 0.3 us\n  reduce_bandwidth: 8 GB/s\n  copy_bandwidth: 12 GB/s\n";

struct Compared {
  std::int32_t copies = 1;  // of the ranks that were run
  Timeline folded, whole;
};

Compared compare(const std::shared_ptr<const Machine>& machine, const Problem& problem,
                 const Algorithm& algorithm) {
  Clock clock(machine, static_cast<std::int32_t>(problem.ranks));
  clock.least_folded = 0;
  TimedCall call{select(algorithm, problem, {})};
  call.options.keep_events = true;
  Compared result;
  result.folded = clock.time(problem, call);
  call.folds = false;
  result.whole = clock.time(problem, call);
  const std::size_t run = result.folded.events.size(), all = result.whole.events.size();
  if (run > 0) result.copies = static_cast<std::int32_t>(all / run);
  EXPECT_EQ(run * static_cast<std::size_t>(result.copies), all);
  return result;
}

std::shared_ptr<const Machine> machine_of(const std::string& name) {
  if (name == "pairs") return read_machine(pairs, "pairs.yaml");
  if (name == "cores") return read_machine(std::string(pairs) + cores, "cores.yaml");
  return find_machine(name);
}

// What comes to a rank's core at the same time it takes in the order of lanes, which isn't the same
// for all ranks: only there may times differ.
TEST(Folding, EveryAlgorithm) {
  std::int32_t folded = 0;
  for (const std::string name :
       {"switch", "ring", "torus", "fully_connected", "fat_tree", "pairs", "cores"}) {
    const double allowed = name == "cores" ? 0.1 : 1e-9;
    for (const std::int32_t ranks : {2, 3, 8, 12, 16})
      for (const CollectiveInfo& collective : collectives())
        for (const Algorithm& algorithm : algorithms()) {
          if (!supports(algorithm, collective.collective) || algorithm.is_in_network ||
              collective.collective == Collective::permute || collective.name.ends_with("_v"))
            continue;
          const Problem problem = problem_of(collective.collective, ranks, 48 * 1024);
          Compared both;
          try {
            both = compare(machine_of(name), problem, algorithm);
          } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::not_supported) << error.what();
            continue;
          }
          const std::string what = fmt::format("{} of {} over {} ranks on {}", algorithm.name,
                                               collective.name, ranks, name);
          if (both.copies == 1) continue;
          ++folded;
          EXPECT_NEAR(both.folded.seconds / both.whole.seconds, 1, allowed) << what;
          EXPECT_NEAR(both.folded.messages, both.whole.messages, 0.5) << what;
          ASSERT_EQ(both.folded.links.size(), both.whole.links.size());
          for (std::size_t l = 0; l < both.whole.links.size(); ++l)
            EXPECT_NEAR(both.folded.links[l].bytes, both.whole.links[l].bytes, 1)
                << what << ' ' << l;
          const CriticalPath path = critical_path(both.folded), other = critical_path(both.whole);
          EXPECT_NEAR(path.start, other.start, allowed * both.whole.seconds) << what;
          EXPECT_NEAR(path.links + path.latency + path.work + path.waiting,
                      other.links + other.latency + other.work + other.waiting,
                      allowed * both.whole.seconds)
              << what;
          for (std::size_t r = 0; r < both.whole.ranks.size(); ++r)
            EXPECT_NEAR(both.folded.ranks[r] / both.whole.ranks[r], 1, allowed) << what << ' ' << r;
        }
  }
  EXPECT_GT(folded, 300);
}

TEST(Folding, OneRankOfARing) {
  for (const char* const name : {"ring", "ompi_ring", "bidirectional_ring"})
    for (const std::int32_t ranks : {3, 8, 17})
      EXPECT_EQ(compare(find_machine("switch"), problem_of(Collective::all_reduce, ranks, 1 << 20),
                        find_algorithm(name, Collective::all_reduce))
                    .copies,
                ranks)
          << name;
  // Of nodes of two, two.
  EXPECT_EQ(compare(machine_of("pairs"), problem_of(Collective::all_reduce, 16, 1 << 20),
                    find_algorithm("ring", Collective::all_reduce))
                .copies,
            8);
  EXPECT_EQ(compare(find_machine("switch"), problem_of(Collective::all_to_all, 16, 1 << 20),
                    find_algorithm("pairwise", Collective::all_to_all))
                .copies,
            16);
}

// On a line the ends differ, and so do ranks that combine in an order of their own.
TEST(Folding, NothingWhereRanksDiffer) {
  const Problem problem = problem_of(Collective::all_reduce, 8, 1 << 20);
  const auto copies = [&](const char* machine, const char* algorithm) {
    return compare(find_machine(machine), problem, find_algorithm(algorithm, problem.collective))
        .copies;
  };
  EXPECT_EQ(copies("mesh", "ring"), 1);
  EXPECT_EQ(copies("switch", "binomial_tree"), 1);
  EXPECT_EQ(copies("switch", "two_shot"), 1);
}

// Parts that differ by an element are taken to be as long as the longest.
TEST(Folding, UnevenParts) {
  for (const std::int64_t elements : {1, 7, 8, 1001, 1'000'003}) {
    const Compared both =
        compare(find_machine("switch"), problem_of(Collective::all_reduce, 8, elements),
                find_algorithm("ring", Collective::all_reduce));
    EXPECT_EQ(both.copies, 8) << elements;
    const double element = 14 * 4 / 25e9;  // in each of 2 (R - 1) steps
    EXPECT_NEAR(both.folded.seconds, both.whole.seconds, element * 1.001) << elements;
    EXPECT_GE(both.folded.seconds, both.whole.seconds * (1 - 1e-9)) << elements;
  }
}

}  // namespace
}  // namespace vranks
