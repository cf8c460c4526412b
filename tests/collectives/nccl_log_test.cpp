// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Lines of NCCL's log as 2.30.7 writes them, and what is wrong with others.
#include "collectives/peers/nccl_log.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ranks/error.hpp"

namespace vranks {
namespace {

// A log with a line for each text.
std::string log_of(std::initializer_list<std::string_view> messages) {
  std::string log = "NCCL version 2.30.7+cuda13.0\n";
  for (const std::string_view message : messages)
    (log += "node-7:1234:1250 [0] NCCL INFO ").append(message) += '\n';
  return log;
}

TEST(NcclLog, HasRingsAndTrees) {
  const std::string log = log_of(
      {"Channel 00/02 : 0 1 2", "Trees [0] 2/-1/-1->1->0 [1] 2/-1/-1->1->0",
       "Channel 01/02 :  0  2  1", "Channel 00/0 : 0[0] -> 1[0] via P2P/direct pointer",
       "Channel 01 : 1[0] -> 2[0] via SHM/direct", "Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1",
       "Trees [0] -1/-1/-1->2->1 [1] -1/-1/-1->2->1", "Ring 00 : 2 -> 0 -> 1",
       "2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels"});
  const NcclLists lists = parse_nccl_lists(log, 3);
  EXPECT_EQ(lists.channels(), 2);
  EXPECT_EQ(lists.rings, (std::vector<nccl::Ring>{{0, 1, 2}, {0, 2, 1}}));
  EXPECT_EQ(lists.trees, (std::vector<nccl::Tree>(2, nccl::chain(3))));
}

TEST(NcclLog, KeepsTheOrderOfChildren) {
  const std::string log =
      log_of({"Channel 00/01 : 0 1 2 3", "Trees [0] -1/-1/-1->0->1", "Trees [0] 3/0/2->1->-1",
              "Trees [0] -1/-1/-1->2->1", "Trees [0] -1/-1/-1->3->1"});
  EXPECT_EQ(parse_nccl_lists(log, 4).trees, (std::vector<nccl::Tree>{{{}, {3, 0, 2}, {}, {}}}));
}

TEST(NcclLog, HasTheLastChoice) {
  EXPECT_FALSE(parse_nccl_choice(log_of({"comm 0x55 rank 0 nRanks 4"})));
  const auto choice = parse_nccl_choice(
      log_of({"AllReduce: 16 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}",
              "AllReduce: 4194316 Bytes -> Algo TREE proto LL128 channel{Lo..Hi}={0..3} "
              "cgaClusterSize 4"}));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->algorithm, "tree");
  EXPECT_EQ(choice->protocol, "ll128");
  EXPECT_EQ(choice->text(), "tree ll128, channels 0 to 3");
}

// The message with which the log of a communicator over two ranks is refused.
std::string refusal(std::initializer_list<std::string_view> messages) {
  try {
    parse_nccl_lists(log_of(messages), 2);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "accepted";
}

void expect_says(const std::string& message, std::string_view part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

constexpr std::string_view ring = "Channel 00/01 : 0 1";
constexpr std::string_view root = "Trees [0] 1/-1/-1->0->-1";
constexpr std::string_view leaf = "Trees [0] -1/-1/-1->1->0";

TEST(NcclLog, RefusesWhatIsMissing) {
  EXPECT_EQ(refusal({ring, root, leaf}), "accepted");
  expect_says(refusal({}), "names no rings");
  expect_says(refusal({root, leaf}), "names no rings");
  expect_says(refusal({ring, root}), "rank 1 has no place in the tree of channel 0");
  expect_says(refusal({"Channel 00/02 : 0 1", root, leaf}), "channel 1 of 2 has no ring");
  expect_says(refusal({"Channel 00/01 : 0", root, leaf}), "has 1 ranks, not 2");
}

TEST(NcclLog, RefusesWhatIsCutOff) {
  expect_says(refusal({"Channel 00/01 : 0...", root, leaf}), "cut off behind 1 of 2 ranks");
}

TEST(NcclLog, RefusesContradictions) {
  expect_says(refusal({ring, ring, root, leaf}), "channel 0 has two rings");
  expect_says(refusal({ring, root, root, leaf}), "rank 0 has two places");
  expect_says(refusal({ring, "Channel 01/02 : 0 1", root, leaf}), "of 1 channels and of 2");
  expect_says(refusal({"Channel 02/02 : 0 1", root, leaf}), "channel 2 of 2");
  expect_says(refusal({ring, root, leaf, "Trees [0] -1/-1/-1->2->1"}), "has 3 ranks, not 2");
  expect_says(refusal({"Channel 00/01 : 0 1 x", root, leaf}), "isn't one");
  expect_says(refusal({ring, "Trees [0] 1/-1->0->-1", leaf}), "these are no trees");
}

}  // namespace
}  // namespace vranks
