// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs: their rules; schedules lowered to programs and made schedules again.
#include "collectives/program.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collectives/formats/text.hpp"
#include "collectives/interpreters/linearize.hpp"
#include "collectives/interpreters/lower.hpp"
#include "collectives/interpreters/verify.hpp"
#include "schedules.hpp"

namespace vranks {
namespace {

using Kind = InstructionKind;

constexpr LocalChunk in(std::int32_t index) { return {index, Slot::input}; }
constexpr LocalChunk out(std::int32_t index) { return {index, Slot::output}; }

std::string message_of(const ProgramParts& parts) {
  try {
    Program{parts};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    return error.what();
  }
  return "";
}

std::string all(const Findings& findings) {
  std::string text = std::to_string(findings.total) + " findings\n";
  for (const Finding& finding : findings.list) text += to_string(finding) + "\n";
  return text;
}

// Two ranks that add up one chunk on rank 0 and send it back.
ProgramParts small() {
  ProgramParts parts{.shape = {.ranks = 2}};
  parts.add(Lane{.rank = 0, .id = 0, .send_to = 1, .receive_from = 1});
  parts.add({.kind = Kind::recv_reduce_copy_send, .a = in(0), .dst = out(0)});
  parts.add(Lane{.rank = 1, .id = 7, .send_to = 0, .receive_from = 0});
  parts.add({.kind = Kind::send, .a = in(0)});
  parts.add({.kind = Kind::recv, .dst = out(0)});
  return parts;
}

TEST(Program, RunsAndVerifies) {
  const Program program(small());
  for (const std::int32_t depth : {0, 1, 8})
    EXPECT_TRUE(verify(program, depth).none()) << all(verify(program, depth));
  const Schedule schedule = linearize(program);
  EXPECT_EQ(schedule.step(0), std::vector{reduce(output(0, 0), input(1, 0), input(0, 0))});
  EXPECT_EQ(schedule.step(1), std::vector{copy(output(1, 0), output(0, 0))});
  EXPECT_EQ(schedule.steps(), 2u);
}

TEST(Program, RefusesWhatMakesNoSense) {
  EXPECT_EQ(message_of(small()), "");
  const auto changed = [](auto&& change) {
    ProgramParts parts = small();
    change(parts);
    return message_of(parts);
  };
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  };
  expect(changed([](auto& p) { p.lanes[1].rank = 2; }),
         "lane 7 is on rank 2, but there are ranks 0 to 1");
  expect(changed([](auto& p) { p.lanes[0].send_to = 0; }), "rank 0 lane 0 sends to its own rank");
  expect(changed([](auto& p) { p.lanes[0].send_to = no_rank; }),
         "rank 0 lane 0 step 0: recv_reduce_copy_send in a lane that sends to no rank");
  expect(changed([](auto& p) { p.lanes[1].receive_from = no_rank; }),
         "rank 1 lane 7 step 1: recv in a lane that receives from no rank");
  expect(changed([](auto& p) { p.lanes[0].channel = -1; }), "rank 0 lane 0 uses channel -1");
  expect(changed([](auto& p) { p.lanes[0].id = -2; }), "rank 0 has a lane with the id -2");
  expect(changed([](auto& p) {
           p.lanes[1].rank = 0, p.lanes[1].id = 0, p.lanes[1].send_to = 1,
           p.lanes[1].receive_from = 1;
         }),
         "rank 0 has two lanes with the id 0");
  expect(changed([](auto& p) { p.add(Lane{.rank = 1, .id = 8, .send_to = 0}); }),
         "rank 1 lane 7 and rank 1 lane 8 both send on channel 0 from rank 1 to rank 0");
  expect(changed([](auto& p) { p.instructions[1].a = in(1); }),
         "rank 1 lane 7 step 0: the operand has 1 chunks from 1 on, but the input of a rank has 1");
  expect(changed([](auto& p) { p.instructions[2].dst = in(0); }), "an input is written");
  expect(changed([](auto& p) { p.instructions[2].dst.index = -1; }), "from -1 on");
  expect(changed([](auto& p) { p.instructions[1].count = 0; }), "0 chunks");
  expect(changed([](auto& p) { p.instructions[1].count = INT32_MAX; }), "has 2147483647 chunks");
  expect(changed([](auto& p) { p.instructions[1].dst = out(0); }), "send has no destination");
  expect(changed([](auto& p) { p.instructions[1].own_left = true; }), "combines no message");
  expect(changed([](auto& p) { p.shape.collective = Collective::reduce; }),
         "rank 1 has no output in a reduce to rank 0");
  expect(changed([](auto& p) { p.shape.chunks = 0; }), "at least one chunk");
  expect(changed([](auto& p) {
           p.add({.kind = Kind::nop}, {{0, 0}});
         }),
         "rank 1 lane 7 step 2: waits for rank 0 lane 0: only messages order");
  expect(changed([](auto& p) {
           p.add({.kind = Kind::nop}, {{1, 3}});
         }),
         "waits for step 3 of lane 7, which has 3 steps");
  expect(changed([](auto& p) { p.add({.kind = Kind::nop}, {{2, 0}}); }), "the lane at place 2");
  expect(changed([](auto& p) { p.lane_ends.pop_back(); }), "don't fit");
  expect(changed([](auto& p) { p.wait_ends.back() = 1; }), "don't fit");
  expect(changed([](auto& p) { p.lane_ends = {2, 1}; }), "don't fit");
}

TEST(Program, NamesPlaces) {
  const Program program(small());
  EXPECT_EQ(program.place(0), (Place{0, 0}));
  EXPECT_EQ(program.place(2), (Place{1, 1}));
  EXPECT_EQ(program.describe({1, 1}), "rank 1 lane 7 step 1");
  EXPECT_EQ(program.sender(0), 1);
  EXPECT_EQ(program.receiver(0), 1);
}

// Lowered, every algorithm is without fault at every depth that holds messages, and the way back
// gives the same folds. At depth 0 some block, all of them in a circle of receives that wait for
// sends of the same step.
TEST(Lower, EveryAlgorithm) {
  int calls = 0, blocked = 0;
  for (const std::int64_t ranks : {1, 2, 3, 4, 5, 7, 8, 16})
    calls += for_each_schedule(ranks, [&](const Schedule& schedule) {
      const Folds folds = interpret(schedule);
      EXPECT_TRUE(verify(schedule, folds).none()) << all(verify(schedule, folds));
      const Program program = lower(schedule);
      for (const std::int32_t depth : {1, 2, unlimited_depth})
        EXPECT_TRUE(verify(program, depth).none()) << all(verify(program, depth));
      EXPECT_TRUE(same_folds(folds, interpret(linearize(program))));
      const Findings rendezvous = verify(program, 0);
      blocked += !rendezvous.none();
      for (const Finding& finding : rendezvous.list)
        EXPECT_EQ(finding.kind, FindingKind::cycle) << to_string(finding);
    });
  EXPECT_GT(calls, 200);
  EXPECT_GT(blocked, 0);
  EXPECT_LT(blocked, calls / 2);
}

TEST(Lower, RingRunsAtDepth0) {
  for (const std::int64_t ranks : {2, 3, 8}) {
    const Schedule schedule =
        find_algorithm("ring", Collective::all_reduce).build({.ranks = ranks}, {});
    EXPECT_TRUE(verify(lower(schedule), 0).none()) << all(verify(lower(schedule), 0));
  }
}

RC_GTEST_PROP(Lower, KeepsFoldsOfRandomSchedules, ()) {
  const Schedule schedule = random_schedule();
  const Program program = lower(schedule);
  const Findings order = verify_order(program, 1);
  if (!order.none()) RC_FAIL(all(order) + to_text(schedule) + to_text(program));
  const Folds folds = interpret(schedule);
  RC_ASSERT(same_folds(folds, interpret(program, progress(program, 1).order)));
  const Schedule again = linearize(program);
  if (!same_folds(folds, interpret(again)))
    RC_FAIL(to_text(schedule) + to_text(program) + to_text(again));
  // What is wrong stays wrong in the same way, seen from a step or from a lane.
  const auto kinds = [](const Findings& findings) {
    std::vector<std::pair<FindingKind, std::string>> all;
    for (const Finding& finding : findings.list)
      if (finding.chunk) all.emplace_back(finding.kind, to_string(*finding.chunk));
    return all;
  };
  RC_ASSERT(kinds(verify(schedule)) == kinds(verify(program)));
}

TEST(Lower, SavesChunksThatChangePlaces) {
  // Two chunks of a rank change places in one step.
  ScheduleBuilder builder({.collective = Collective::all_reduce, .ranks = 1, .chunks = 2});
  builder.add(copy(output(0, 0), input(0, 0)));
  builder.add(copy(output(0, 1), input(0, 1)));
  builder.end_step();
  builder.add(copy(output(0, 0), output(0, 1)));
  builder.add(copy(output(0, 1), output(0, 0)));
  builder.end_step();
  const Schedule schedule = std::move(builder).build();
  const Program program = lower(schedule);
  EXPECT_EQ(program.shape().scratch_chunks, 1);
  EXPECT_EQ(program.size(), 5);
  EXPECT_TRUE(same_folds(interpret(schedule), interpret(linearize(program))));
}

TEST(Lower, CrossedMessagesOfOneStepRunAtDepth1) {
  // Both ranks send two chunks, and receive into those that the other way around come last.
  ScheduleBuilder builder({.collective = Collective::all_reduce, .ranks = 2, .chunks = 2});
  for (const int r : {0, 1}) builder.add(copy(output(r, 0, 2), input(r, 0, 2)));
  builder.end_step();
  for (const int r : {0, 1}) {
    builder.add(copy(output(r, 1), output(1 - r, 0)));
    builder.add(copy(output(r, 0), output(1 - r, 1)));
  }
  builder.end_step();
  const Schedule schedule = std::move(builder).build();
  const Program program = lower(schedule);
  EXPECT_TRUE(verify_order(program, 1).none()) << all(verify_order(program, 1));
  EXPECT_TRUE(same_folds(interpret(schedule), interpret(linearize(program))));
}

TEST(Linearize, KeepsWhatOnlyMessagesHold) {
  // Rank 0 sends its output twice and overwrites it before rank 1 takes the first: two messages
  // under way hold two values that no chunk holds any more.
  ProgramParts parts{.shape = {.ranks = 2, .chunks = 2}};
  parts.add(Lane{.rank = 0, .id = 0, .send_to = 1});
  for (const int i : {0, 1, 0}) {
    parts.add({.kind = Kind::copy, .a = in(i), .dst = out(0)});
    parts.add({.kind = Kind::send, .a = out(0)});
  }
  parts.add({.kind = Kind::copy, .a = in(1), .dst = out(1)});
  parts.add(Lane{.rank = 1, .id = 0, .receive_from = 0});
  parts.add({.kind = Kind::copy, .a = in(0), .dst = out(0)});
  for (int i = 0; i < 3; ++i)
    parts.add({.kind = Kind::recv_reduce, .own_left = i == 1, .a = out(0), .dst = out(0)});
  parts.add({.kind = Kind::copy, .a = out(0), .dst = out(1)});
  const Program program(std::move(parts));
  const Progress run = progress(program, 3);
  const Folds folds = interpret(program, run.order);
  const Schedule schedule = linearize(program, 3);
  EXPECT_GT(schedule.shape().scratch_chunks, 0);
  EXPECT_TRUE(same_folds(folds, interpret(schedule)));
  const FoldGraph& graph = folds.graph;
  EXPECT_EQ(to_string(graph, folds.output(program.shape(), 1, 1)), "x0 + ((x0 + x1) + x0)");
}

TEST(Linearize, RefusesWhatMayBlockOrRace) {
  ProgramParts parts = small();
  std::swap(parts.instructions[1], parts.instructions[2]);
  try {
    linearize(Program(parts));
    FAIL() << "a cycle has no schedule";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_NE(std::string(error.what()).find("cycle: rank 0 lane 0 step 0"), std::string::npos)
        << error.what();
  }
}

TEST(Text, PrintsSchedules) {
  const Schedule schedule = find_algorithm("ring", Collective::all_reduce).build({.ranks = 4}, {});
  const std::string text = to_text(schedule);
  EXPECT_TRUE(text.starts_with(
      "all_reduce: 4 ranks, 4 chunks, 6 steps, 24 transfers, 24 messages\n"
      "messages in 6 steps; each rank sends 6 chunks, 1.5n bytes; n: bytes of a rank's input\n"
      "step 0\n"
      "  rank 0: output[3] = input[3] of rank 3 + input[3]\n"
      "  ranks 1 to 3: output[0 to 2] = input[0 to 2] of ranks 0 to 2 + input[0 to 2]\n"))
      << text;
  EXPECT_TRUE(
      text.ends_with("chunk 0   ((x0 + x1) + x2) + x3   on all ranks\n"
                     "chunk 1   ((x1 + x2) + x3) + x0   on all ranks\n"
                     "chunk 2   ((x2 + x3) + x0) + x1   on all ranks\n"
                     "chunk 3   ((x3 + x0) + x1) + x2   on all ranks\n"))
      << text;
  const std::string cut = to_text(schedule, {.most_lines = 2});
  EXPECT_NE(cut.find("... and 20 more transfers\n"), std::string::npos) << cut;
  EXPECT_NE(cut.find("... and 2 more chunks\n"), std::string::npos) << cut;
}

TEST(Text, SaysWhatRanksSend) {
  const auto line = [](std::string_view algorithm, Collective collective, std::int64_t ranks) {
    const std::string text = to_text(find_algorithm(algorithm, collective)
                                         .build({.collective = collective, .ranks = ranks}, {}));
    const auto begin = text.find('\n') + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(line("direct", Collective::all_gather, 8),
            "messages in 6 steps; rank 4 sends most: 17 chunks, 17n bytes; n: bytes of a rank's "
            "input");
  EXPECT_EQ(line("one_shot", Collective::all_reduce, 8),
            "messages in 1 step; each rank sends 7 chunks, 7n bytes; n: bytes of a rank's input");
  EXPECT_EQ(line("direct", Collective::scatter, 4),
            "messages in 1 step; rank 0 sends most: 3 chunks, 0.75n bytes; n: bytes of the root's "
            "input");
  EXPECT_EQ(line("dissemination", Collective::barrier, 8),
            "messages in 3 steps; each rank sends 3 messages without data");
  EXPECT_EQ(line("ring", Collective::all_reduce, 1), "nothing is sent");
}

// Ranks that combine the same in the same order differ in whose own input is where.
TEST(Text, PrintsAnExpressionOnce) {
  for (const Algorithm& algorithm : algorithms()) {
    if (!has_word(algorithm.collectives, "all_reduce") || algorithm.select != nullptr) continue;
    for (const std::int64_t ranks : {4, 6, 7})
      EXPECT_EQ(
          to_text(algorithm.build({.ranks = ranks}, {}), {.most_lines = 1000}).find(" on ranks "),
          std::string::npos)
          << algorithm.name << " over " << ranks << " ranks";
  }
  EXPECT_TRUE(
      to_text(
          find_algorithm("ompi_recursive_doubling", Collective::all_reduce).build({.ranks = 4}, {}))
          .ends_with("chunk 0   (x3 + x2) + (x1 + x0)   on all ranks\n"));
}

TEST(Text, PrintsPrograms) {
  EXPECT_EQ(
      to_text(Program(small())),
      "program of all_reduce: 2 ranks, 1 chunk, 2 lanes, 3 instructions, 2 messages, 0 waits\n"
      "rank 0 lane 0: sends to rank 1, receives from rank 1\n"
      "    0  recv_reduce_copy_send output[0] = message + input[0]\n"
      "rank 1 lane 7: sends to rank 0, receives from rank 0\n"
      "    0  send input[0]\n"
      "    1  recv output[0]\n");
}

}  // namespace
}  // namespace vranks
