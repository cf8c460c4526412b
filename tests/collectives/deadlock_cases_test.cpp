// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Public reports of programs that hang, as JSON programs: DLK-1, DLK-4 and DLK-5 of cases.md. None
// hangs here; the prover says who waits for whom, and those without fault give the right values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/formats/json.hpp"
#include "collectives/interpreters/interpret.hpp"
#include "collectives/interpreters/linearize.hpp"
#include "collectives/interpreters/verify.hpp"
#include "ranks/error.hpp"

namespace vranks {
namespace {

Program program_of(const std::string& text) { return std::get<Program>(parse_json(text)); }

std::string all(const Findings& findings) {
  std::string text = std::to_string(findings.total) + " findings\n";
  for (const Finding& finding : findings.list) text += to_string(finding) + "\n";
  return text;
}

using Values = std::vector<std::vector<int>>;

// What each rank's output holds; `inputs[r][c]` is chunk c of rank r's input. Copies alone.
Values outputs_of(const Program& program, std::int32_t depth, const Values& inputs) {
  const ScheduleShape& shape = program.shape();
  const Folds folds = interpret(linearize(program, depth));
  Values values;
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    values.emplace_back();
    for (std::int32_t index = 0; index < shape.slot_chunks(Slot::output); ++index) {
      const FoldId fold = folds.output(shape, rank, index);
      EXPECT_NE(fold, no_fold);
      EXPECT_TRUE(folds.graph.is_leaf(fold));
      values.back().push_back(inputs[static_cast<std::size_t>(folds.graph.leaf_rank(fold))]
                                    [static_cast<std::size_t>(folds.graph.leaf_chunk(fold))]);
    }
  }
  return values;
}

// --- DLK-1: two ranks that both send before they receive; an exchange is no collective of ours, so
// no contract is asked for ---

constexpr std::string_view exchange = R"({"vranks": "program", "version": 1,
  "collective": "all_reduce", "ranks": 2, "chunks": 1, "lanes": [)";

TEST(Cases, DLK_1_BothSendFirst) {
  const Program program = program_of(std::string(exchange) + R"(
    {"rank": 0, "id": 0, "send_to": 1, "receive_from": 1,
     "instructions": [["send", ["input", 0]], ["recv", ["output", 0]]]},
    {"rank": 1, "id": 0, "send_to": 0, "receive_from": 0,
     "instructions": [["send", ["input", 0]], ["recv", ["output", 0]]]}]})");
  const Findings findings = verify_order(program, 0);
  ASSERT_EQ(findings.total, 1) << all(findings);
  const Finding& finding = findings.list[0];
  EXPECT_EQ(finding.kind, FindingKind::cycle);
  EXPECT_EQ(finding.rank, 0);
  EXPECT_EQ(finding.lane, 0);
  EXPECT_EQ(finding.step, 0);
  EXPECT_NE(
      finding.found.find("rank 0 lane 0 step 0 <- rank 1 lane 0 step 1 <- rank 1 lane 0 step 0 "
                         "<- rank 0 lane 0 step 1 <- rank 0 lane 0 step 0"),
      std::string::npos)
      << finding.found;
  EXPECT_THROW(linearize(program, 0), Error);
  // Where a channel holds a message it is fine.
  EXPECT_TRUE(verify_order(program, 1).none());
}

TEST(Cases, DLK_1_Grouped) {
  // A group's sends and receives go on together: each in a lane of its own.
  const Program program = program_of(std::string(exchange) + R"(
    {"rank": 0, "id": 0, "send_to": 1, "instructions": [["send", ["input", 0]]]},
    {"rank": 0, "id": 1, "receive_from": 1, "instructions": [["recv", ["output", 0]]]},
    {"rank": 1, "id": 0, "send_to": 0, "instructions": [["send", ["input", 0]]]},
    {"rank": 1, "id": 1, "receive_from": 0, "instructions": [["recv", ["output", 0]]]}]})");
  EXPECT_TRUE(verify_order(program, 0).none()) << all(verify_order(program, 0));
  EXPECT_EQ(outputs_of(program, 0, {{10}, {20}}), (Values{{20}, {10}}));
}

TEST(Cases, DLK_1_OneReceiveForTwoSends) {
  const Program program = program_of(std::string(exchange) + R"(
    {"rank": 0, "id": 0, "send_to": 1,
     "instructions": [["send", ["input", 0]], ["send", ["input", 0]]]},
    {"rank": 1, "id": 0, "receive_from": 0, "instructions": [["recv", ["output", 0]]]}]})");
  for (const std::int32_t depth : {0, 1, 2}) {
    const Findings findings = verify_order(program, depth);
    ASSERT_EQ(findings.total, 1) << all(findings);
    const Finding& finding = findings.list[0];
    EXPECT_EQ(finding.kind, FindingKind::unmatched_send);
    EXPECT_EQ(finding.rank, 0);
    EXPECT_EQ(finding.step, 1);
    EXPECT_EQ(finding.expected, "a matching receive on rank 1, channel 0");
    EXPECT_EQ(finding.found, "a send 0->1 that nobody receives");
  }
}

// --- DLK-4: an all-gather of which every rank waits before its own send ---

std::string all_gather_of_two(bool send_first) {
  std::string text = R"({"vranks": "program", "version": 1, "collective": "all_gather", "ranks": 2,
                         "chunks": 2, "lanes": [)";
  for (const int rank : {0, 1}) {
    const std::string send = R"(["send", ["input", 0]])";
    const std::string recv = fmt::format(R"(["recv", ["output", {}]])", 1 - rank);
    text += fmt::format(R"({{"rank": {0}, "id": 0, "send_to": {1}, "receive_from": {1},
                             "instructions": [{2}, {3}]}},
                           {{"rank": {0}, "id": 1,
                             "instructions": [["copy", ["output", {0}], ["input", 0]]]}}{4})",
                        rank, 1 - rank, send_first ? send : recv, send_first ? recv : send,
                        rank == 0 ? "," : "]}");
  }
  return text;
}

TEST(Cases, DLK_4_BothReceiveFirst) {
  const Program program = program_of(all_gather_of_two(false));
  for (const std::int32_t depth : {0, 1, 1000}) {
    const Findings findings = verify(program, depth);
    ASSERT_EQ(findings.total, 1) << all(findings);
    EXPECT_EQ(findings.list[0].kind, FindingKind::cycle);
    EXPECT_NE(findings.list[0].found.find(
                  "rank 0 lane 0 step 0 <- rank 1 lane 0 step 1 <- rank 1 lane 0 step 0 "
                  "<- rank 0 lane 0 step 1 <- rank 0 lane 0 step 0"),
              std::string::npos)
        << findings.list[0].found;
  }
}

TEST(Cases, DLK_4_Control) {
  const Program program = program_of(all_gather_of_two(true));
  EXPECT_TRUE(verify(program).none()) << all(verify(program));
  EXPECT_EQ(outputs_of(program, 1, {{7}, {9}}), (Values{{7, 9}, {7, 9}}));
}

// --- DLK-5: three sends before three receives, on channels of 1, 2 and 3 messages ---

std::string three_sends_first() {
  std::string text = R"({"vranks": "program", "version": 1, "collective": "all_gather", "ranks": 2,
                         "chunks": 6, "lanes": [)";
  for (const int rank : {0, 1}) {
    text += fmt::format(R"({{"rank": {0}, "id": 0, "send_to": {1}, "receive_from": {1},
                             "instructions": [["copy", ["output", {2}, 3], ["input", 0, 3]])",
                        rank, 1 - rank, 3 * rank);
    for (int i = 0; i < 3; ++i) text += fmt::format(R"(, ["send", ["input", {}]])", i);
    for (int i = 0; i < 3; ++i)
      text += fmt::format(R"(, ["recv", ["output", {}]])", 3 * (1 - rank) + i);
    text += rank == 0 ? "]}," : "]}]}";
  }
  return text;
}

TEST(Cases, DLK_5_ChannelsAreTooSmall) {
  const Program program = program_of(three_sends_first());
  for (const std::int32_t depth : {1, 2}) {
    const Findings findings = verify(program, depth);
    ASSERT_EQ(findings.total, 1) << all(findings);
    const Finding& finding = findings.list[0];
    const std::int32_t step = depth + 1;
    EXPECT_EQ(finding.kind, FindingKind::blocked);
    EXPECT_EQ(finding.rank, 0);
    EXPECT_EQ(finding.lane, 0);
    EXPECT_EQ(finding.step, step);
    EXPECT_EQ(finding.expected, fmt::format("room for one more message at depth {}", depth));
    EXPECT_TRUE(finding.found.starts_with(fmt::format(
        "blocked: rank 0 lane 0 step {0} for lack of space to rank 1, rank 1 lane 0 step "
        "{0} for lack of space to rank 0; ",
        step)))
        << finding.found;
    EXPECT_THROW(linearize(program, depth), Error);
  }
}

TEST(Cases, DLK_5_ThreeMessagesFit) {
  const Program program = program_of(three_sends_first());
  EXPECT_TRUE(verify(program, 3).none()) << all(verify(program, 3));
  EXPECT_EQ(outputs_of(program, 3, {{1, 2, 3}, {4, 5, 6}}),
            (Values{{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}}));
}

}  // namespace
}  // namespace vranks
