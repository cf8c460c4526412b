// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The clock against times known by formula, and what must hold of any time.
#include "simulator/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "simulator/fair_share.hpp"
#include "tests/ranks/expect_error.hpp"
#include "tests/simulator/test_topologies.hpp"
#include "tests/simulator/timed.hpp"

namespace vranks {
namespace {

constexpr double bandwidth = 25e9, latency = 1.5e-6;
constexpr std::int32_t many_ranks[] = {2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64};

void expect_near(double seconds, double expected, double relative = 1e-12) {
  EXPECT_NEAR(seconds, expected, relative * expected);
}

std::int32_t log2_up(std::int32_t ranks) {
  std::int32_t steps = 0;
  while ((1 << steps) < ranks) ++steps;
  return steps;
}

TEST(Simulate, RingOnARing) {
  for (const std::int32_t ranks : many_ranks) {
    const RingTopology topology(ranks, bandwidth, latency);
    const double chunk = 4.0 * 1000;
    const Problem problem = problem_of(Collective::all_reduce, ranks, 1000 * ranks);
    expect_near(timed(problem, "ring", topology).seconds,
                2 * (ranks - 1) * (latency + chunk / bandwidth));
    // A step also combines, in its first half.
    const double gamma = 10e9;
    expect_near(timed(problem, "ring", topology, {.reduce_bandwidth = gamma}).seconds,
                2 * (ranks - 1) * (latency + chunk / bandwidth) + (ranks - 1) * chunk / gamma);
  }
}

TEST(Simulate, RecursiveDoublingOnASwitch) {
  for (const std::int32_t ranks : {2, 4, 8, 16, 32, 64}) {
    const SwitchTopology topology(ranks, bandwidth, latency);
    expect_near(
        timed(problem_of(Collective::all_reduce, ranks, 1000), "recursive_doubling", topology)
            .seconds,
        log2_up(ranks) * (latency + 4000 / bandwidth));
  }
}

TEST(Simulate, BinomialTreeOnASwitch) {
  for (const std::int32_t ranks : {2, 4, 8, 16, 32, 64}) {
    const SwitchTopology topology(ranks, bandwidth, latency);
    // Small messages: every level costs its latency.
    const double small =
        timed(problem_of(Collective::all_reduce, ranks, 1), "binomial_tree", topology).seconds;
    EXPECT_GE(small, 2 * log2_up(ranks) * latency);
    EXPECT_LE(small, 2 * log2_up(ranks) * latency + 2 * ranks * 4 / bandwidth);
    // A reduce alone: children of one rank that are ready together share its port. Those of the
    // binomial tree come one after the other.
    expect_near(
        timed(problem_of(Collective::reduce, ranks, 1000), "binomial_tree", topology).seconds,
        log2_up(ranks) * (latency + 4000 / bandwidth));
  }
}

// Each of the others sends its part to the root at once: the root's port is what they share.
TEST(Simulate, DirectGatherSharesTheRootsPort) {
  for (const std::int32_t ranks : many_ranks) {
    const SwitchTopology topology(ranks, bandwidth, latency);
    expect_near(timed(problem_of(Collective::gather, ranks, 1000), "linear", topology).seconds,
                latency + (ranks - 1) * 4000 / bandwidth);
  }
}

// TIM-5: 4 nodes of 8 ranks in ring order, latencies alone: few of the 62 steps meet a slow hop.
class NodesTopology : public TestTopology {
 public:
  NodesTopology(std::int32_t ranks, std::int32_t per_node, double inside, double between)
      : TestTopology(ranks, {{"inside", 1e30, inside}, {"between", 1e30, between}}),
        per_node_(per_node) {}
  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& route) const override {
    route.push_back(from / per_node_ == to / per_node_ ? 0 : 1);
  }

 private:
  std::int32_t per_node_;
};

TEST(Simulate, Tim5RingLatencyOverNodes) {
  const NodesTopology nodes(32, 8, 1e-6, 5e-6);
  const Timeline ring = timed(problem_of(Collective::all_reduce, 32, 32), "ring", nodes);
  const auto [first, last] = std::ranges::minmax(ring.ranks);
  expect_near(first, 90e-6, 1e-9);
  expect_near(last, 94e-6, 1e-9);
  const NodesTopology uniform(32, 8, 0.5e-6, 0.5e-6);
  const Problem problem = problem_of(Collective::all_reduce, 32, 32);
  expect_near(timed(problem, "ring", uniform).seconds, 31e-6, 1e-9);
  expect_near(timed(problem, "binomial_tree", uniform).seconds, 5e-6, 1e-9);
  expect_near(timed(problem, "recursive_doubling", uniform).seconds, 2.5e-6, 1e-9);
}

// TIM-3: a grid of two dimensions, each with rings of its own. The time of the phases one after
// another doesn't depend on which dimension comes first.
class GridTopology : public TestTopology {
 public:
  GridTopology(std::int32_t ranks, std::int32_t per_node, double bytes_a_second, double hop)
      : TestTopology(ranks, std::vector<Link>(static_cast<std::size_t>(2 * ranks),
                                              {"hop", bytes_a_second, hop})),
        per_node_(per_node) {}
  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& route) const override {
    route.push_back(from / per_node_ == to / per_node_ ? 2 * from : 2 * from + 1);
  }

 private:
  std::int32_t per_node_;
};

TEST(Simulate, Tim3GridInBothOrders) {
  for (const std::int32_t inner : {2, 8}) {
    const GridTopology grid(16, inner, 200e9, 1e-6);
    expect_near(timed(problem_of(Collective::all_reduce, 16, 40'000'000), "two_level", grid, {},
                      {.ranks_per_node = inner})
                    .seconds,
                1516e-6, 1e-6);
  }
}

// TIM-4: fewer bytes than ranks, and none.
TEST(Simulate, Tim4FewerBytesThanRanks) {
  const SwitchTopology topology(8, bandwidth, latency);
  for (const char* algorithm : {"ring", "halving_doubling"}) {
    double before = 0;
    for (const std::int64_t elements : {0, 1, 2, 7, 8, 9, 16}) {
      const Timeline t =
          timed(problem_of(Collective::all_reduce, 8, elements), algorithm, topology);
      if (elements == 0) {
        EXPECT_EQ(t.seconds, 0);
        EXPECT_EQ(t.messages, 0);
      } else {
        EXPECT_TRUE(std::isfinite(t.seconds));
        EXPECT_GT(t.seconds, 0);
      }
      EXPECT_GE(t.seconds, before) << algorithm << ", " << elements << " elements";
      before = t.seconds;
      for (std::size_t link = 0; link < t.links.size(); link += 2)
        EXPECT_LE(t.links[link].bytes,
                  2.0 * 4 * 7 * std::max(1.0, static_cast<double>(elements) / 4));
    }
  }
}

TEST(Simulate, PiecesMakeAPipeline) {
  const std::int32_t ranks = 9;
  const SwitchTopology topology(ranks, bandwidth, latency);
  const Problem problem = problem_of(Collective::broadcast, ranks, 250'000);  // 1 MB
  const double hops = ranks - 1, piece = 10'000, pieces = 100;
  expect_near(timed(problem, "chain", topology, {.piece_bytes = piece}, {.chunks = 1}).seconds,
              hops * (latency + piece / bandwidth) + (pieces - 1) * piece / bandwidth);
  // One slot: the next piece leaves when the one before it has been taken.
  expect_near(
      timed(problem, "chain", topology, {.piece_bytes = piece, .slots = 1}, {.chunks = 1}).seconds,
      hops * (latency + piece / bandwidth) + (pieces - 1) * (latency + piece / bandwidth));
}

TEST(Simulate, LaneBandwidthBoundsALane) {
  const SwitchTopology topology(4, bandwidth, latency);
  const Problem problem = problem_of(Collective::all_reduce, 4, 4000);
  expect_near(timed(problem, "ring", topology, {.lane_bandwidth = 5e9}).seconds,
              6 * (latency + 4000 / 5e9));
  expect_near(timed(problem, "ring", topology, {.link_efficiency = 0.5}).seconds,
              6 * (latency + 4000 / (bandwidth / 2)));
}

TEST(Simulate, MessageCosts) {
  const SwitchTopology topology(8, bandwidth, latency);
  const auto time = [&](std::int64_t elements, const MessageCosts& costs) {
    return timed(problem_of(Collective::all_reduce, 8, elements), "recursive_doubling", topology,
                 costs)
        .seconds;
  };
  expect_near(time(1000, {.launch = 7e-6}), 7e-6 + 3 * (latency + 4000 / bandwidth));
  EXPECT_EQ(time(1000, {.floor = 1}), 1);
  expect_near(time(1000, {.message_latency = 2e-6}), 3 * (latency + 2e-6 + 4000 / bandwidth));
  expect_near(time(1000, {.message_overhead = 1e-6}), 3 * (latency + 1e-6 + 4000 / bandwidth));
  const MessageCosts eager{.eager_limit = 4000, .eager_bandwidth = 2e9, .rendezvous = 4e-6};
  expect_near(time(1000, eager), 3 * (latency + 4000 / 2e9));
  expect_near(time(1001, eager), 3 * (latency + 4e-6 + 4004 / bandwidth));
  // Beyond the limit an exchange has one direction's bandwidth.
  expect_near(time(10'000, {.exchange_limit = 20'000}), 3 * (latency + 60'000 / bandwidth));
  // Not faster than its lane, and not where one of both is short.
  expect_near(time(10'000, {.exchange_limit = 20'000, .lane_bandwidth = 1e9}),
              3 * (latency + 40'000 / 1e9));
  expect_near(time(1000, {.input_copy_bandwidth = 1e9}), 4e-6 + 3 * (latency + 4000 / bandwidth));
  // The message that is combined needs memory.
  expect_near(time(1000, {.alloc_bandwidth = 1e9}), 4e-6 + 3 * (latency + 4000 / bandwidth));
  expect_near(time(1000, {.alloc_bandwidth = 1e9, .alloc_limit = 4000}),
              3 * (latency + 4000 / bandwidth));
  expect_near(time(1000, {.reduce_bandwidth = 1e9, .cache_bytes = 4000}),
              3 * (latency + 4000 / bandwidth + 0.5 * 4e-6));
  // Of a vector a third as large a tenth is missed.
  expect_near(time(1000, {.reduce_bandwidth = 1e9, .cache_bytes = 12'000}),
              3 * (latency + 4000 / bandwidth + 0.1 * 4e-6));
}

// What must hold of every algorithm on any machine.
TEST(Simulate, TimesAreMonotoneAndLinksAreNotOverfull) {
  for (const std::int32_t ranks : {1, 2, 3, 5, 8, 13}) {
    for (const Algorithm& algorithm : algorithms()) {
      if (!supports(algorithm, Collective::all_reduce)) continue;
      const SwitchTopology fast(ranks, bandwidth, latency), slow(ranks, bandwidth / 2, latency);
      double before = 0;
      for (const std::int64_t elements : {1, 100, 10'000, 1'000'000}) {
        const Problem problem = problem_of(Collective::all_reduce, ranks, elements);
        try {
          const Timeline t = timed(problem, std::string(algorithm.name), fast);
          EXPECT_GE(t.seconds, before) << algorithm.name << ' ' << ranks << ' ' << elements;
          before = t.seconds;
          const Timeline again = timed(problem, std::string(algorithm.name), fast);
          EXPECT_EQ(t.ranks, again.ranks) << algorithm.name;
          EXPECT_LE(t.seconds, timed(problem, std::string(algorithm.name), slow).seconds)
              << algorithm.name;
          for (const LinkUse& link : t.links)
            EXPECT_LE(link.bytes, bandwidth * link.busy * (1 + 1e-9)) << algorithm.name;
        } catch (const Error& error) {
          ASSERT_EQ(error.kind(), ErrorKind::not_supported) << algorithm.name << error.what();
        }
      }
    }
  }
}

// Costs that slow things down do so beside any other one, too. But a message that comes later may
// find its link free where two would have shared it, so that a call is a little faster.
TEST(Simulate, NoFurtherCostHelps) {
  const std::vector<std::pair<const char*, double>> slower = {
      {"launch", 5e-6},           {"floor", 30e-6},         {"message_latency", 3e-6},
      {"message_overhead", 1e-6}, {"rendezvous", 4e-6},     {"exchange_limit", 10'000},
      {"lane_bandwidth", 5e9},    {"link_efficiency", 0.5}, {"slots", 1},
      {"reduce_bandwidth", 4e9},  {"copy_bandwidth", 4e9},  {"input_copy_bandwidth", 8e9},
      {"alloc_bandwidth", 8e9}};
  const SwitchTopology topology(6, bandwidth, latency);
  for (const char* algorithm : {"ring", "recursive_doubling", "binomial_tree", "nccl_tree"})
    for (const std::int64_t elements : {100, 100'000}) {
      const auto time = [&](const MessageCosts& costs) {
        return timed(problem_of(Collective::all_reduce, 6, elements), algorithm, topology, costs)
            .seconds;
      };
      MessageCosts costs;
      costs.piece_bytes = 16 << 10;
      const double alone = time(costs);
      for (const auto& [first, value] : slower) {
        MessageCosts one = costs;
        one.*find_cost(first).member = value;
        const double with_one = time(one);
        EXPECT_GE(with_one, alone * 0.98) << algorithm << ' ' << first;
        for (const auto& [second, other] : slower) {
          if (second == first) continue;
          MessageCosts two = one;
          two.*find_cost(second).member = other;
          EXPECT_GE(time(two), with_one * 0.98)
              << algorithm << ' ' << elements << ": " << second << " beside " << first;
        }
      }
    }
}

// A chunk without a part in a window sends nothing there.
TEST(Simulate, WindowsWithoutAPart) {
  const Problem problem = problem_of(Collective::all_gather, 2, 3000);
  const Selection selection = select(find_algorithm("ring", problem.collective), problem, {});
  const Program program = lower(build_schedule(problem, selection));
  const Layout layout(4000, {{{0, 1000, 0}, {1000, 2000, 0}, {2000, 3000, 0}}, {{3000, 4000, 0}}});
  const SwitchTopology topology(2, 1e9, latency);
  const Timeline t = simulate(SizedProgram(program, layout, 1), topology, {});
  EXPECT_EQ(t.messages, 4);
  expect_near(t.seconds, latency + 3 * 1000 / 1e9);
}

// A nop has no size, but what it waits for counts in every window.
TEST(Simulate, EmptyInstructionsWait) {
  ProgramParts parts;
  parts.shape = {.collective = Collective::broadcast, .ranks = 2, .chunks = 2};
  parts.add(Lane{.rank = 0, .id = 0, .send_to = 1, .channel = 0});
  parts.add({.kind = InstructionKind::send, .a = {0, Slot::input}});
  parts.add(Lane{.rank = 0, .id = 1, .send_to = 1, .channel = 1});
  parts.add({.kind = InstructionKind::nop}, {{0, 0}});  // behind the first lane's
  parts.add({.kind = InstructionKind::send, .a = {1, Slot::input}});
  for (std::int32_t channel = 0; channel < 2; ++channel) {
    parts.add(Lane{.rank = 1, .id = channel, .receive_from = 0, .channel = channel});
    parts.add({.kind = InstructionKind::recv, .dst = {channel, Slot::output}});
  }
  const Program program{parts};
  // Chunk 0 long, chunk 1 short, in two windows: the second lane sends after the first in each.
  const Layout layout(2'200, {{{0, 1000, 0}, {1000, 2000, 0}}, {{2000, 2100, 0}, {2100, 2200, 0}}});
  const SizedProgram sized(program, layout, 1);
  ASSERT_EQ(sized.windows(), 2);
  const SwitchTopology topology(2, 1e9, latency);
  const Timeline t = simulate(sized, topology, {}, {.keep_events = true});
  std::vector<double> begins, ends;
  for (const TimedEvent& event : t.events)
    (event.lane == 0 ? ends : begins).push_back(event.lane == 0 ? event.end : event.begin);
  ASSERT_EQ(begins.size(), 2U);
  ASSERT_EQ(ends.size(), 2U);
  for (std::size_t window = 0; window < 2; ++window) EXPECT_GE(begins[window], ends[window]);
}

TEST(Simulate, BlockedProgramsAreNamed) {
  // Two ranks that both send before they receive, with no room for a message.
  ProgramParts parts;
  parts.shape = {.collective = Collective::all_reduce, .ranks = 2};
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    parts.add(Lane{.rank = rank, .id = 0, .send_to = 1 - rank, .receive_from = 1 - rank});
    for (int i = 0; i < 2; ++i) parts.add({.kind = InstructionKind::send, .a = {0, Slot::input}});
    for (int i = 0; i < 2; ++i)
      parts.add(
          {.kind = InstructionKind::recv_reduce, .a = {0, Slot::input}, .dst = {0, Slot::output}});
  }
  const Program program{parts};
  const Layout layout(4, {{{0, 4, 0}}});
  const SizedProgram sized(program, layout, 4);
  const SwitchTopology topology(2, bandwidth, latency);
  expect_error(ErrorKind::bad_argument,
               {"blocks", "rank 0 lane 0 step 1", "no room", "rank 1", "2 of 2 lanes"},
               [&] { simulate(sized, topology, {.slots = 1}); });
  EXPECT_GT(simulate(sized, topology, {.slots = 2}).seconds, 0);
}

TEST(Simulate, RefusesTooFewRanks) {
  const SwitchTopology topology(3, bandwidth, latency);
  expect_error(ErrorKind::bad_argument, {"3 ranks", "4"},
               [&] { timed(problem_of(Collective::all_reduce, 4, 100), "ring", topology); });
}

TEST(Simulate, EventsTellWhy) {
  const RingTopology topology(4, bandwidth, latency);
  const Timeline t = timed(problem_of(Collective::all_reduce, 4, 4000), "ring", topology, {}, {}, 4,
                           {.keep_events = true});
  ASSERT_EQ(t.events.size(), 24U);  // 6 messages of each rank
  // The chain of causes of the last message goes back to the start of the call.
  std::int32_t event = 0;
  for (std::size_t i = 0; i < t.events.size(); ++i)
    if (t.events[i].arrival > t.events[static_cast<std::size_t>(event)].arrival)
      event = static_cast<std::int32_t>(i);
  expect_near(t.events[static_cast<std::size_t>(event)].arrival, t.seconds);
  int messages = 0;
  for (; event >= 0; event = t.events[static_cast<std::size_t>(event)].cause) ++messages;
  EXPECT_EQ(messages, 6);
}

TEST(FairShare, SmallestShareFirst) {
  // Flow 0 over both links, flow 1 over the first, flow 2 over the second (Bertsekas and Gallager).
  FairShare shares({10, 30}, {0, 1, 0, 1}, {2, 3, 4});
  for (std::int32_t flow = 0; flow < 3; ++flow) shares.start(flow, 100, 1e9, 0);
  std::vector<double> seconds(3);
  const auto note = [&](std::int32_t flow, double s) {
    seconds[static_cast<std::size_t>(flow)] = s;
  };
  shares.solve(0, note);
  EXPECT_EQ(seconds, (std::vector<double>{20, 20, 4}));
  shares.end(2);
  shares.end(1);
  shares.solve(4, note);  // flow 0 alone: 80 bytes are left
  EXPECT_DOUBLE_EQ(seconds[0], 8);
  shares.set_cap(0, 2);
  shares.solve(4, note);
  EXPECT_DOUBLE_EQ(seconds[0], 40);
}

}  // namespace
}  // namespace vranks
