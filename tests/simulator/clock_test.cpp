// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls by name: lanes spread over channels and instances, many windows from a few, channels that
// do alike.
#include "simulator/clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "collectives/interpreters/lower.hpp"
#include "collectives/interpreters/verify.hpp"
#include "collectives/plan.hpp"
#include "simulator/critical_path.hpp"
#include "simulator/read_machine.hpp"
#include "simulator/spread_lanes.hpp"
#include "tests/ranks/expect_error.hpp"
#include "tests/simulator/timed.hpp"

namespace vranks {
namespace {

TimedCall call_of(const Problem& problem, const std::string& algorithm,
                  const Parameters& parameters = {}) {
  return {select(find_algorithm(algorithm, problem.collective), problem, parameters),
          parameters.protocol,
          {}};
}

// Links so fast that blocks alone count.
constexpr const char* blocks = R"(name: blocks
node:
  ranks: 8
  links: [{from: rank, to: rank, bandwidth: 100000 GB/s}]
costs: {lane_bandwidth: 1 GB/s, tile_bytes: 4 KiB, piece_bytes: 2 KiB, slots: 8, channels: 4}
)";

// An MSCCL ring: chunk i goes by channel i mod channels, and a block does its steps in order. In
// units of the time that a block needs for a tile a tile takes 7 with one channel (each block
// sends seven) and 1 with eight; with two and four a block waits for its own earlier chunk, so that
// it is more than 7 / channels.
TEST(Clock, RingOverChannels) {
  Clock clock(read_machine(blocks, "blocks.yaml"), 8);
  const std::int64_t tiles = 400;
  const Problem problem = problem_of(Collective::all_gather, 8, tiles * 1024);
  const double tile = 4096 / 1e9;
  const auto period = [&](std::int32_t channels) {
    TimedCall call = call_of(problem, "ring");
    call.channels = channels;
    return clock.time(problem, call).seconds / (tile * static_cast<double>(tiles));
  };
  EXPECT_NEAR(period(1), 7, 0.1);
  EXPECT_NEAR(period(8), 1, 0.1);
  for (const std::int32_t channels : {2, 4}) {
    EXPECT_GT(period(channels), 7.0 / channels * 1.05) << channels;
    EXPECT_LT(period(channels), 7) << channels;
  }
  EXPECT_GT(period(2), period(4));
}

TEST(Clock, InstancesShareTheWork) {
  Clock clock(read_machine(blocks, "blocks.yaml"), 8);
  const Problem problem = problem_of(Collective::all_gather, 8, 1 << 20);
  TimedCall call = call_of(problem, "ring");
  call.channels = 1;
  const double one = clock.time(problem, call).seconds;
  call.instances = 4;
  EXPECT_NEAR(clock.time(problem, call).seconds, one / 4, 0.02 * one);
}

TEST(Clock, SpreadProgramsAreProvedLikeOthers) {
  const auto prove = [](Collective collective, const char* algorithm, std::int32_t ranks) {
    const Problem problem = problem_of(collective, ranks, 24 * ranks);
    const Program program = lower(build_schedule(problem, call_of(problem, algorithm).selection));
    for (const std::int32_t channels : {0, 1, 2, 3, 8})
      for (const std::int32_t instances : {1, 2}) {
        const Program spread = spread_lanes(program, channels, instances);
        EXPECT_TRUE(verify(spread, 8).none())
            << algorithm << ' ' << ranks << ' ' << channels << ' ' << instances;
        EXPECT_EQ(spread.shape().chunks, program.shape().chunks * instances);
      }
  };
  for (const std::int32_t ranks : {2, 3, 8}) {
    prove(Collective::all_gather, "ring", ranks);
    prove(Collective::all_gather, "one_shot", ranks);
    prove(Collective::all_reduce, "two_shot", ranks);
    prove(Collective::all_reduce, "ring", ranks);
    prove(Collective::reduce_scatter, "ring", ranks);
    prove(Collective::all_to_all, "linear", ranks);
    for (const auto& [collective, algorithm] :
         {std::pair(Collective::all_to_all, "pairwise"), std::pair(Collective::scan, "linear"),
          std::pair(Collective::gather, "linear"), std::pair(Collective::barrier, "linear")}) {
      const Problem problem = problem_of(collective, ranks, 24 * ranks);
      const Program turns =
          lower(build_schedule(problem, call_of(problem, algorithm).selection), true);
      EXPECT_TRUE(verify(turns, 1).none()) << algorithm << ' ' << ranks;
      EXPECT_TRUE(verify(turns, 0).none()) << algorithm << ' ' << ranks;
    }
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
      const Problem problem = problem_of(collective, ranks, 24 * ranks);
      const Program sums =
          separate_sums(lower(build_schedule(problem, call_of(problem, "nvls").selection)));
      EXPECT_TRUE(verify(sums, 8).none()) << ranks;
    }
  }
  const Problem problem = problem_of(Collective::all_gather, 8, 64);
  expect_error(ErrorKind::not_supported, {"rank 0 lane", "chunks", "instances"}, [&] {
    spread_lanes(lower(build_schedule(problem, call_of(problem, "recursive_doubling").selection)),
                 1, 2);
  });
}

// An exchange begins when a rank has ended the one before, so each costs its latency; a root serves
// one rank after the other, each with all of its bandwidth.
TEST(Clock, RanksThatTakeTurns) {
  const char* const star =
      "name: star\nnode: {ranks: 1}\nnodes: 64\n"
      "network: {kind: switch, bandwidth: 10 GB/s, latency: 3 us}\n";
  const char* const cuts[] = {"", "costs: {tile_bytes: 64 KiB, piece_bytes: 16 KiB}\n"};
  for (const std::int32_t ranks : {2, 3, 7, 8, 16}) {
    Clock clock(read_machine(std::string(star) + cuts[ranks % 2], "star.yaml"), ranks);
    const std::int64_t block = 1 << 20;  // bytes
    const double one = block / 10e9, latency = 3e-6, turns = ranks - 1;
    const auto time = [&](Collective collective, const char* algorithm) {
      const std::int64_t parts = collective == Collective::broadcast ? 1 : ranks;
      const Problem problem = problem_of(collective, ranks, parts * block / 4);
      return clock.time(problem, call_of(problem, algorithm)).seconds;
    };
    EXPECT_NEAR(time(Collective::all_to_all, "pairwise"), turns * (one + latency), 1e-12) << ranks;
    EXPECT_NEAR(time(Collective::all_to_all, "direct"), turns * one + latency, 1e-12) << ranks;
    // The root goes on when its message has left; the last one still has to arrive.
    EXPECT_NEAR(time(Collective::broadcast, "linear"), turns * one + latency, 1e-12) << ranks;
    EXPECT_NEAR(time(Collective::scatter, "linear"), turns * one + latency, 1e-12) << ranks;
  }
  // Messages stay whole, however small tiles and pieces are.
  Clock whole(read_machine(star, "star.yaml"), 8);
  Clock cut(read_machine(std::string(star) + cuts[1], "star.yaml"), 8);
  for (const auto& [collective, algorithm] :
       {std::pair(Collective::all_to_all, "pairwise"), std::pair(Collective::scan, "linear"),
        std::pair(Collective::broadcast, "scatter_all_gather")}) {
    const Problem problem = problem_of(collective, 8, 1 << 21);
    const TimedCall call = call_of(problem, algorithm);
    EXPECT_NEAR(cut.time(problem, call).seconds / whole.time(problem, call).seconds, 1, 1e-9)
        << algorithm;
  }
}

constexpr const char* summing = R"(name: summing
nodes: 2
node:
  ranks: 8
  switches: [plane]
  links:
    - {from: rank, to: plane, bandwidth: 10 GB/s, latency: 1 us}
  in_network: {switch: plane, efficiency: 0.5, latency: 3 us, tile_bytes: 64 KiB}
network: {kind: switch, bandwidth: 1 GB/s, latency: 1 us}
)";

std::string with_tiles_of(const std::string& bytes) {
  std::string text = summing;
  return text.replace(text.find("64 KiB"), 6, bytes);
}

// A rank sends its input up to the switch, and the block that it has summed; down come that block
// and the results: (R + 1)/R of the vector each way, where a ring sends 2 (R - 1)/R.
TEST(Clock, SwitchesThatSum) {
  const double tile = 64 << 10, bandwidth = 0.5 * 10e9, latency = 2e-6 + 3e-6;
  for (const std::int32_t ranks : {1, 2, 3, 7, 8}) {
    Clock clock(read_machine(summing, "summing.yaml"), ranks);
    const auto time = [&](Collective collective, std::int64_t elements) {
      const Problem problem = problem_of(collective, ranks, elements);
      return clock.time(problem, call_of(problem, "nvls"));
    };
    const double n = ranks, vector = n * tile;  // a tile of each rank
    const auto elements = static_cast<std::int64_t>(vector) / 4;
    if (ranks == 1) {
      EXPECT_EQ(time(Collective::all_reduce, elements).seconds, 0);
      continue;
    }
    const Timeline once = time(Collective::all_reduce, elements);
    EXPECT_NEAR(once.seconds, 2 * (vector / bandwidth + latency), 1e-12 * once.seconds) << ranks;
    for (std::size_t link = 0; link < static_cast<std::size_t>(2 * ranks); ++link)
      EXPECT_EQ(once.links[link].bytes, (n + 1) / n * vector) << ranks << ' ' << link;
    // A rank of a gather sends its part up once, and gets all of them.
    EXPECT_NEAR(time(Collective::reduce_scatter, elements).seconds, vector / bandwidth + latency,
                1e-12);
    EXPECT_NEAR(time(Collective::all_gather, elements / ranks).seconds,
                vector / bandwidth + latency, 1e-12);
    // Tile after tile the sums of one pass beside the copies of the one before.
    const Timeline many = time(Collective::all_reduce, 64 * elements);
    EXPECT_NEAR(many.seconds, 64 * (n + 1) / n * vector / bandwidth,
                2 * (vector / bandwidth + latency))
        << ranks;
    for (const LinkUse& link : many.links)
      EXPECT_LE(link.bytes, bandwidth * many.seconds * (1 + 1e-9)) << ranks;
  }
  // What isn't run takes no less than its bytes do.
  Clock tiny(read_machine(with_tiles_of("100 B"), "summing.yaml"), 8);
  const Problem large = problem_of(Collective::all_reduce, 8, 10'000'000);
  const Timeline timeline = tiny.time(large, call_of(large, "nvls"));
  EXPECT_GT(timeline.counted, 0);
  for (const LinkUse& link : timeline.links)
    EXPECT_LE(link.bytes, bandwidth * timeline.seconds * (1 + 1e-9));
  // More bus bandwidth than links have: that is what sums on the way are for.
  Clock clock(find_machine("nvswitch_h100"), 8);
  const Problem problem = problem_of(Collective::all_reduce, 8, std::int64_t{1} << 28);
  const double seconds = clock.time(problem, call_of(problem, "nvls")).seconds;
  EXPECT_GT(2.0 * 7 / 8 * static_cast<double>(1 << 30) / seconds, 1.2 * 367e9);
}

// What a rank's core would do switches do; a rank has two messages to send, whoever gets them.
TEST(Clock, CoresLeaveSumsToSwitches) {
  Clock clock(read_machine(with_tiles_of("1 GiB"), "summing.yaml"), 8);
  const Problem problem = problem_of(Collective::all_reduce, 8, 1 << 20);
  const TimedCall call = call_of(problem, "nvls");
  const double seconds = clock.time(problem, call).seconds;
  MessageCosts& costs = clock.software().costs;
  costs.reduce_bandwidth = costs.copy_bandwidth = costs.input_copy_bandwidth = 1e6;
  costs.alloc_bandwidth = 1e6;
  EXPECT_EQ(clock.time(problem, call).seconds, seconds);
  costs.message_overhead = 1e-3;
  EXPECT_GT(clock.time(problem, call).seconds, 2e-3);
  EXPECT_LE(clock.time(problem, call).seconds, seconds + 2e-3);
}

TEST(Clock, SwitchesThatDontSum) {
  const auto refuse = [](std::shared_ptr<const Machine> machine, std::int32_t ranks,
                         std::initializer_list<const char*> words) {
    Clock clock(std::move(machine), ranks);
    const Problem problem = problem_of(Collective::all_reduce, ranks, 1000);
    expect_error(ErrorKind::not_supported, words,
                 [&] { clock.time(problem, call_of(problem, "nvls")); });
  };
  refuse(find_machine("nvswitch_a100"), 8, {"nvls", "nvswitch_a100", "in_network"});
  refuse(read_machine(summing, "summing.yaml"), 9, {"nvls", "9 ranks", "2 nodes"});
}

// One of NCCL's channels run for all of them takes about as long as all. Few short parts differ by
// up to half in length, which one that stands for all doesn't show.
TEST(Clock, ChannelsThatDoAlike) {
  Clock clock(find_machine("switch"), 6);
  MessageCosts& costs = clock.software().costs;
  costs.slots = 8;
  costs.piece_bytes = 128 << 10;
  for (const char* algorithm : {"nccl_ring", "nccl_tree"})
    for (const std::int64_t elements : {1, 1000, 1 << 16, 1 << 20, 3 << 22}) {
      const Problem problem = problem_of(Collective::all_reduce, 6, elements);
      TimedCall call = call_of(problem, algorithm, {.channels = 6});
      const double folded = clock.time(problem, call).seconds;
      call.options.keep_events = true;  // runs all
      const double all = clock.time(problem, call).seconds;
      EXPECT_NEAR(folded / all, 1, elements < 1 << 20 ? 0.3 : 0.05) << algorithm << ' ' << elements;
    }
}

// A rank's core works for all channels.
TEST(Clock, WorkOfAllChannels) {
  Clock clock(find_machine("switch"), 6);
  clock.software().costs.reduce_bandwidth = 2e9;
  const Problem problem = problem_of(Collective::all_reduce, 6, 1 << 20);
  TimedCall call = call_of(problem, "nccl_ring", {.channels = 6});
  const double seconds = clock.time(problem, call).seconds;
  EXPECT_GT(seconds, 5.0 / 6 * 4 * (1 << 20) / 2e9);
  call.options.keep_events = true;
  EXPECT_DOUBLE_EQ(clock.time(problem, call).seconds, seconds);
}

// What is counted for many windows is what running them takes.
TEST(Clock, ManyWindowsFromAFew) {
  const auto machine = read_machine(blocks, "blocks.yaml");
  Clock clock(machine, 8);
  const Problem problem = problem_of(Collective::all_gather, 8, 500 * 1024 + 77);
  const TimedCall call = call_of(problem, "ring");
  const SizedProgram whole(clock.program(problem, call), clock.layout(problem, call), 4, 4096);
  EXPECT_EQ(whole.windows(), 501);
  const double run = simulate(whole, clock.topology(), clock.costs(Protocol::simple)).seconds;
  EXPECT_NEAR(clock.time(problem, call).seconds / run, 1, 0.003);
}

// Of a long program few windows are run.
TEST(Clock, ManyWindowsOfALongProgram) {
  Clock clock(find_machine("switch"), 192);
  MessageCosts& costs = clock.software().costs;
  costs.tile_bytes = 64 << 10;
  costs.piece_bytes = 32 << 10;
  costs.slots = 8;
  const Problem problem = problem_of(Collective::all_reduce, 192, 192 * 20 * (16 << 10));
  TimedCall call = call_of(problem, "ring");
  call.folds = false;
  const SizedProgram whole(clock.program(problem, call), clock.layout(problem, call), 4, 64 << 10);
  ASSERT_EQ(whole.windows(), 20);
  const Timeline timeline = clock.time(problem, call);
  EXPECT_GT(timeline.counted, 0);
  const Timeline run = simulate(whole, clock.topology(), costs);
  EXPECT_NEAR(timeline.seconds / run.seconds, 1, 0.01);
  EXPECT_NEAR(timeline.messages / run.messages, 1, 0.01);
}

TEST(Clock, SizesBeyondAllThatIsRun) {
  Clock clock(find_machine("switch"), 4);
  const Problem problem = problem_of(Collective::all_reduce, 4, std::int64_t{1} << 40);  // 4 TiB
  const double bytes = 4.0 * std::ldexp(1, 40);
  EXPECT_NEAR(clock.time(problem, call_of(problem, "ring")).seconds,
              6 * (1.5e-6 + bytes / 4 / 25e9), 1e-9 * bytes / 25e9);
}

TEST(Clock, PartsOfATimeAddUp) {
  for (const char* machine : {"mare_nostrum5", "mi300x", "nvswitch_h100", "shared_memory_i7"})
    for (const char* algorithm :
         {"ring", "recursive_doubling", "ompi_rabenseifner", "direct", "nccl_ring", "nccl_tree"})
      for (const std::int64_t elements : {1, 5000, 4'000'000}) {
        Clock clock(find_machine(machine), 7);
        const Problem problem = problem_of(Collective::all_reduce, 7, elements);
        TimedCall call = call_of(problem, algorithm);
        call.protocol = Protocol::ll;  // of mi300x, small tiles
        call.options.keep_events = true;
        const Timeline timeline = clock.time(problem, call);
        const CriticalPath path = critical_path(timeline);
        EXPECT_NEAR(
            (path.start + path.links + path.latency + path.work + path.waiting + path.counted) /
                timeline.device_seconds,
            1, 1e-9)
            << machine << ' ' << algorithm << ' ' << elements;
        EXPECT_GE(path.waiting, 0);
        EXPECT_GT(path.messages, 0);
      }
}

TEST(Clock, RefusesProgramsTooLong) {
  Clock clock(find_machine("switch"), 5);
  clock.most_transfers = 39;
  const Problem problem = problem_of(Collective::all_reduce, 5, 5);
  expect_error(ErrorKind::not_supported, {"ring over 5 ranks", "40 transfers", "at most 39"},
               [&] { clock.time(problem, call_of(problem, "ring")); });
}

}  // namespace
}  // namespace vranks
