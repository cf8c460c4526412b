// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// NCCL's orders as schedules: which expression every chunk computes, and who sends to whom. Parts,
// chunks and rounding are in nccl_layout_test.cpp.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>

#include "collectives/algorithm.hpp"
#include "collectives/interpreters/interpret.hpp"
#include "collectives/nccl/trees.hpp"
#include "ranks/error.hpp"

namespace vranks {
namespace {

Schedule build(std::string_view algorithm, Collective collective, std::int64_t ranks,
               const Parameters& parameters = {}, std::int64_t root = 0) {
  Problem problem;
  problem.collective = collective;
  problem.ranks = ranks;
  problem.root = root;
  return find_algorithm(algorithm, collective).build(problem, parameters);
}

// The texts of a rank's output chunks. Nothing may be read that wasn't written.
std::vector<std::string> folds(const Schedule& schedule, std::int32_t rank = 0) {
  const Folds folds = interpret(schedule, [](std::size_t step, const Transfer& t, const ChunkRef&) {
    ADD_FAILURE() << "step " << step << " reads what isn't there: " << to_string(t);
  });
  std::vector<std::string> texts;
  for (std::int32_t c = 0; c < schedule.shape().slot_chunks(Slot::output); ++c)
    texts.push_back(to_string(folds.graph, folds.output(schedule.shape(), rank, c), 10000));
  return texts;
}

Parameters with_channels(std::int32_t channels) {
  Parameters parameters;
  parameters.channels = channels;
  return parameters;
}

Parameters with_trees(std::int32_t channels, std::int32_t ranks_per_node) {
  Parameters parameters = with_channels(channels);
  parameters.ranks_per_node = ranks_per_node;
  return parameters;
}

using Texts = std::vector<std::string>;

// --- rings ---

TEST(NcclRing, AllReduceStartsBehindTheChunksPosition) {
  const Texts expected = {"((x1 + x2) + x3) + x0", "((x2 + x3) + x0) + x1", "((x3 + x0) + x1) + x2",
                          "((x0 + x1) + x2) + x3"};
  const Schedule schedule = build("nccl_ring", Collective::all_reduce, 4);
  for (std::int32_t r = 0; r < 4; ++r) EXPECT_EQ(folds(schedule, r), expected);
}

TEST(NcclRing, EveryChannelHasItsRing) {
  Parameters parameters = with_channels(2);
  parameters.rings = {{0, 1, 2}, {0, 2, 1}};
  const Texts expected = {"(x1 + x2) + x0", "(x2 + x0) + x1", "(x0 + x1) + x2",
                          "(x2 + x1) + x0", "(x1 + x0) + x2", "(x0 + x2) + x1"};
  const Schedule schedule = build("nccl_ring", Collective::all_reduce, 3, parameters);
  for (std::int32_t r = 0; r < 3; ++r) EXPECT_EQ(folds(schedule, r), expected);
}

TEST(NcclRing, RankZeroIsAtPositionZero) {
  Parameters turned, straight;
  turned.rings = {{2, 1, 3, 0}};
  straight.rings = {{0, 2, 1, 3}};
  EXPECT_EQ(build("nccl_ring", Collective::all_reduce, 4, turned),
            build("nccl_ring", Collective::all_reduce, 4, straight));
}

TEST(NcclRing, ReduceScatterEndsAtTheBlocksRank) {
  Parameters parameters = with_channels(2);
  parameters.rings = {{0, 1, 2, 3}, {0, 3, 1, 2}};
  const Schedule schedule = build("nccl_ring", Collective::reduce_scatter, 4, parameters);
  EXPECT_EQ(folds(schedule, 0), (Texts{"((x1 + x2) + x3) + x0", "((x3 + x1) + x2) + x0"}));
  EXPECT_EQ(folds(schedule, 1), (Texts{"((x2 + x3) + x0) + x1", "((x2 + x0) + x3) + x1"}));
  EXPECT_EQ(folds(schedule, 2), (Texts{"((x3 + x0) + x1) + x2", "((x0 + x3) + x1) + x2"}));
  EXPECT_EQ(folds(schedule, 3), (Texts{"((x0 + x1) + x2) + x3", "((x1 + x2) + x0) + x3"}));
}

TEST(NcclRing, ReduceEndsAtTheRoot) {
  for (std::int32_t root = 0; root < 4; ++root)
    EXPECT_EQ(folds(build("nccl_ring", Collective::reduce, 4, {}, root), root)[0],
              folds(build("nccl_ring", Collective::reduce_scatter, 4), root)[0]);
}

TEST(NcclRing, AllGatherCopies) {
  Parameters parameters = with_channels(2);
  parameters.rings = {{0, 1, 2}, {0, 2, 1}};
  const Schedule schedule = build("nccl_ring", Collective::all_gather, 3, parameters);
  for (std::int32_t r = 0; r < 3; ++r)
    EXPECT_EQ(folds(schedule, r), (Texts{"x0", "x0", "x1", "x1", "x2", "x2"}));
}

// In every step every rank sends one chunk a channel, to its successor.
RC_GTEST_PROP(NcclRing, SendsToTheSuccessor, ()) {
  const auto ranks = *rc::gen::inRange(2, 20);
  const auto channels = *rc::gen::inRange(1, 5);
  const auto collective = *rc::gen::element(Collective::all_reduce, Collective::reduce_scatter);
  const Schedule schedule = build("nccl_ring", collective, ranks, with_channels(channels));
  const bool all = collective == Collective::all_reduce;
  RC_ASSERT(schedule.steps() == static_cast<std::size_t>((all ? 2 : 1) * (ranks - 1)));
  RC_ASSERT(schedule.transfers() == static_cast<std::int64_t>(schedule.steps()) * ranks * channels);
  for (std::size_t step = 0; step < schedule.steps(); ++step)
    schedule.for_each(step, [&](const Transfer& t) {
      RC_ASSERT(t.is_message());
      RC_ASSERT(t.dst.rank == (t.source() + 1) % ranks);
      RC_ASSERT(t.a.rank == t.source());  // what was received is on the left
    });
}

// --- trees ---

TEST(NcclTree, OneNodeIsAChain) {
  const Schedule schedule = build("nccl_tree", Collective::all_reduce, 4, with_channels(2));
  for (std::int32_t r = 0; r < 4; ++r)
    EXPECT_EQ(folds(schedule, r), (Texts{"x0 + (x1 + (x2 + x3))", "x0 + (x1 + (x2 + x3))"}));
  EXPECT_EQ(schedule.steps(), 6u);
}

TEST(NcclTree, OneRankANode) {
  using nccl::Tree;
  EXPECT_EQ(nccl::double_tree(3, 1, 0), (Tree{{2}, {}, {1}}));
  EXPECT_EQ(nccl::double_tree(3, 1, 1), (Tree{{2}, {0}, {}}));
  EXPECT_EQ(nccl::double_tree(4, 1, 0), (Tree{{2}, {}, {1, 3}, {}}));
  EXPECT_EQ(nccl::double_tree(4, 1, 1), (Tree{{}, {2, 0}, {}, {1}}));
  EXPECT_EQ(nccl::double_tree(8, 1, 0), (Tree{{4}, {}, {1, 3}, {}, {2, 6}, {}, {5, 7}, {}}));
  EXPECT_EQ(nccl::double_tree(8, 1, 1), (Tree{{}, {2, 0}, {}, {5, 1}, {}, {6, 4}, {}, {3}}));
}

TEST(NcclTree, SeveralRanksANode) {
  using nccl::Tree;
  EXPECT_EQ(nccl::double_tree(3, 2, 0), (Tree{{1, 4}, {}, {3}, {}, {5}, {2}}));
  EXPECT_EQ(nccl::double_tree(3, 2, 1), (Tree{{1}, {4}, {3, 0}, {}, {5}, {}}));
  EXPECT_EQ(nccl::double_tree(4, 2, 0), (Tree{{1, 4}, {}, {3}, {}, {5, 6}, {2}, {7}, {}}));
  EXPECT_EQ(nccl::double_tree(4, 2, 1), (Tree{{1}, {}, {3, 0}, {4}, {5}, {}, {7, 2}, {}}));
}

TEST(NcclTree, FirstHalfOfTheChannelsHasTheFirstTree) {
  for (const std::int32_t channels : {1, 2, 3, 4, 16}) {
    const auto trees = nccl::trees_of(8, with_trees(channels, 1));
    ASSERT_EQ(trees.size(), static_cast<std::size_t>(channels));
    for (std::int32_t k = 0; k < channels; ++k)
      EXPECT_EQ(trees[static_cast<std::size_t>(k)],
                nccl::double_tree(8, 1, 2 * k < channels ? 0 : 1));
  }
}

TEST(NcclTree, AddsChildrenToItsOwnInOrder) {
  const Schedule four = build("nccl_tree", Collective::all_reduce, 4, with_trees(2, 1));
  for (std::int32_t r = 0; r < 4; ++r)
    EXPECT_EQ(folds(four, r), (Texts{"x0 + ((x2 + x1) + x3)", "x3 + ((x1 + x2) + x0)"}));
  const Schedule nodes = build("nccl_tree", Collective::all_reduce, 6, with_trees(2, 2));
  EXPECT_EQ(folds(nodes)[0], "(x0 + x1) + (x4 + (x5 + (x2 + x3)))");
  Parameters given;
  given.trees = {{{}, {3, 0, 2}, {}, {}}};
  EXPECT_EQ(folds(build("nccl_tree", Collective::all_reduce, 4, given))[0],
            "((x1 + x3) + x0) + x2");
}

// Both trees hold all ranks once, and every message is between a child and its parent.
RC_GTEST_PROP(NcclTree, SendsAlongTheTree, ()) {
  const auto nodes = *rc::gen::inRange(1, 20), per_node = *rc::gen::inRange(1, 6);
  const auto channels = *rc::gen::inRange(1, 5);
  const std::int32_t ranks = nodes * per_node;
  const Parameters parameters = with_trees(channels, per_node);
  const auto trees = nccl::trees_of(ranks, parameters);
  Parameters checked = with_channels(channels);
  checked.trees = trees;
  RC_ASSERT(nccl::trees_of(ranks, checked) == trees);  // none was refused

  const Schedule schedule = build("nccl_tree", Collective::all_reduce, ranks, parameters);
  if (ranks == 1) return;
  RC_ASSERT(schedule.transfers() == std::int64_t{2} * (ranks - 1) * channels);
  const auto is_child = [&](std::int32_t child, std::int32_t parent, std::int32_t k) {
    const auto& children = trees[static_cast<std::size_t>(k)][static_cast<std::size_t>(parent)];
    return std::ranges::find(children, child) != children.end();
  };
  for (std::size_t step = 0; step < schedule.steps(); ++step)
    schedule.for_each(step, [&](const Transfer& t) {
      const bool up = t.action == Action::reduce;
      RC_ASSERT(is_child(up ? t.b.rank : t.dst.rank, up ? t.dst.rank : t.a.rank, t.dst.index));
    });
}

// --- PAT ---

TEST(NcclPat, AddsLongDistancesFirst) {
  const Schedule four = build("nccl_pat", Collective::reduce_scatter, 4);
  EXPECT_EQ(folds(four, 0), Texts{"x3 + ((x1 + x2) + x0)"});
  EXPECT_EQ(folds(four, 1), Texts{"x0 + ((x2 + x3) + x1)"});
  // By distance: ((y0 + (y2+y3)) + ((y4 + (y6+y7)) + y5)) + y1, each child on the left.
  EXPECT_EQ(folds(build("nccl_pat", Collective::reduce_scatter, 8)),
            Texts{"x7 + ((x3 + ((x1 + x2) + x4)) + ((x5 + x6) + x0))"});
}

TEST(NcclPat, AllGatherCopies) {
  for (std::int32_t ranks = 1; ranks < 20; ++ranks) {
    const Schedule schedule = build("nccl_pat", Collective::all_gather, ranks);
    Texts expected;
    for (std::int32_t r = 0; r < ranks; ++r) expected.push_back("x" + std::to_string(r));
    for (std::int32_t r = 0; r < ranks; ++r) EXPECT_EQ(folds(schedule, r), expected);
  }
}

TEST(NcclPat, SendsOverPowersOfTwoInFewSteps) {
  for (std::int32_t ranks = 2; ranks < 70; ++ranks) {
    const Schedule schedule = build("nccl_pat", Collective::reduce_scatter, ranks);
    const int log2_up = std::bit_width(static_cast<unsigned>(ranks - 1));
    const int log2_down = std::bit_width(static_cast<unsigned>(ranks)) - 1;
    EXPECT_EQ(schedule.steps(), static_cast<std::size_t>(log2_up + log2_down - 1)) << ranks;
    EXPECT_EQ(schedule.transfers(), std::int64_t{ranks} * (ranks - 1));
    for (std::size_t step = 0; step < schedule.steps(); ++step)
      schedule.for_each(step, [&](const Transfer& t) {
        const auto distance = static_cast<unsigned>((t.dst.rank - t.source() + ranks) % ranks);
        EXPECT_TRUE(std::has_single_bit(distance)) << to_string(t);
      });
  }
}

TEST(NcclPat, RefusesAMean) {
  Problem problem;
  problem.collective = Collective::reduce_scatter;
  problem.ranks = 4;
  problem.elements = 8;
  const Algorithm& pat = find_algorithm("nccl_pat", problem.collective);
  problem.op = ReduceOp::sum;
  EXPECT_EQ(select(pat, problem, {}).algorithm, &pat);
  problem.op = ReduceOp::mean;
  try {
    select(pat, problem, {});
    FAIL() << "a mean was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_supported);
    EXPECT_NE(std::string(error.what()).find("mean"), std::string::npos);
  }
}

// --- what is refused ---

// The message with which building over four ranks is refused.
std::string refusal(std::string_view algorithm, const Parameters& parameters) {
  try {
    build(algorithm, Collective::all_reduce, 4, parameters);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    return error.what();
  }
  return "accepted";
}

void expect_says(const std::string& message, std::string_view part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(NcclBadInput, Rings) {
  Parameters p;
  const auto says = [&](std::string_view part) { expect_says(refusal("nccl_ring", p), part); };
  p.rings = {{0, 1, 2}};
  says("the ring of channel 0 has 3 ranks");
  p.rings = {{0, 1, 2, 4}};
  says("rank 4, but there are ranks 0 to 3");
  p.rings = {{0, 1, 2, -1}};
  says("rank -1");
  p.rings = {{0, 1, 1, 3}};
  says("rank 1 twice");
  p.channels = 2;
  p.rings = {{0, 1, 2, 3}};
  says("1 rings for 2 channels");
  p.rings = {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}};
  says("3 rings for 2 channels");
  p.rings = {};
  for (const std::int32_t channels : {0, -1, 65}) {
    p.channels = channels;
    says("channels, not " + std::to_string(channels));
  }
}

TEST(NcclBadInput, Trees) {
  Parameters p;
  const auto says = [&](std::string_view part) { expect_says(refusal("nccl_tree", p), part); };
  p.trees = {{{1}, {2}, {3}}};
  says("the tree of channel 0 has the children of 3 ranks, not of 4");
  p.trees = {{{1}, {2}, {4}, {}}};
  says("rank 2 has child 4");
  p.trees = {{{1, 2}, {2}, {3}, {}}};
  says("rank 2 is a child of 0 and of 1");
  p.trees = {{{1}, {2}, {}, {}}};
  says("2 roots");
  p.trees = {{{1}, {2}, {3}, {0}}};
  says("0 roots");
  p.trees = {{{1}, {}, {3}, {2}}};
  says("the root doesn't reach rank 2");
  p.trees = {{{}, {1}, {}, {}}};
  says("roots");
  p.channels = 2;
  p.trees = {{{1}, {2}, {3}, {}}};
  says("1 trees for 2 channels");
  p.channels = 1;
  p.ranks_per_node = 2;
  says("give one of both");
  p.trees = {};
  p.ranks_per_node = 3;
  says("4 ranks don't fill nodes of 3");
  p.ranks_per_node = -1;
  says("nodes of -1");
}

TEST(NcclBadInput, TooManyChildren) {
  Parameters p;
  p.trees = {{{1, 2, 3, 4}, {}, {}, {}, {}}};
  try {
    build("nccl_tree", Collective::all_reduce, 5, p);
    FAIL() << "four children were accepted";
  } catch (const Error& error) {
    expect_says(error.what(), "rank 0 has 4 children");
  }
}

}  // namespace
}  // namespace vranks
