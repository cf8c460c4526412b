// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The prover: faults of every kind, planted into schedules and programs without any, are found and
// named.
#include "collectives/interpreters/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "collectives/interpreters/contract.hpp"
#include "collectives/interpreters/lower.hpp"
#include "edited_program.hpp"
#include "schedules.hpp"

namespace vranks {
namespace {

using Kind = InstructionKind;

constexpr LocalChunk in(std::int32_t index) { return {index, Slot::input}; }
constexpr LocalChunk out(std::int32_t index) { return {index, Slot::output}; }

Schedule ring(std::int64_t ranks) {
  return find_algorithm("ring", Collective::all_reduce).build({.ranks = ranks}, {});
}

std::string all(const Findings& findings) {
  std::string text = std::to_string(findings.total) + " findings\n";
  for (const Finding& finding : findings.list) text += to_string(finding) + "\n";
  return text;
}

// The finding of that kind about that rank and, if given, chunk.
void expect_finding(const Findings& findings, const std::string& text) {
  for (const Finding& finding : findings.list)
    if (to_string(finding).find(text) != std::string::npos) return;
  ADD_FAILURE() << all(findings) << "lacks: " << text;
}

// The schedule with each step changed by f(step, transfers).
Schedule changed(const Schedule& schedule,
                 const std::function<void(std::size_t, std::vector<Transfer>&)>& f) {
  ScheduleBuilder builder(schedule.shape());
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    std::vector<Transfer> transfers = schedule.step(step);
    f(step, transfers);
    for (const Transfer& transfer : transfers) builder.add(transfer);
    builder.end_step();
  }
  return std::move(builder).build();
}

TEST(Contract, SaysWhatEachChunkHolds) {
  const auto shape = [](Collective collective) {
    return ScheduleShape{.collective = collective, .ranks = 3, .chunks = 6};
  };
  EXPECT_EQ(contract(shape(Collective::all_reduce), 2, 4), (Contributions{0, 3, 4}));
  EXPECT_EQ(contract(shape(Collective::reduce), 0, 5), (Contributions{0, 3, 5}));
  EXPECT_EQ(contract(shape(Collective::reduce_scatter), 2, 1), (Contributions{0, 3, 5}));
  EXPECT_EQ(contract(shape(Collective::all_gather), 0, 5), (Contributions{2, 3, 1}));
}

TEST(VerifySchedule, LostTransfer) {
  // Without its third transfer of step 0, rank 2 reduces nothing into chunk 1, and rank 3 reads it.
  const Findings findings = verify(changed(ring(4), [](std::size_t step, auto& transfers) {
    if (step == 0) transfers.erase(transfers.begin() + 2);
  }));
  expect_finding(findings,
                 "unwritten_read: rank 3 step 1, output[1] of rank 2: expected a chunk that an "
                 "earlier step has written; found output[1] of rank 3 = op(output[1] of rank 2, "
                 "input[1] of rank 3)");
  expect_finding(
      findings,
      "missing_contribution: rank 0 step 2, output[1] of rank 0: expected input[1] of the "
      "ranks 0 to 3, each once; found what was made of a chunk that nobody had written");
}

TEST(VerifySchedule, LostContribution) {
  // Rank 1 passes on what it got without adding its own.
  const Findings findings = verify(changed(ring(3), [](std::size_t step, auto& transfers) {
    if (step == 1) transfers[1] = copy(transfers[1].dst, transfers[1].a);
  }));
  EXPECT_EQ(findings.total, 3);
  expect_finding(
      findings,
      "missing_contribution: rank 1 step 1, output[2] of rank 1: expected input[2] of the "
      "ranks 0 to 2, each once; found x2 + x0, which lacks: "
      "input[2] of rank 1");
}

TEST(VerifySchedule, ContributionTwice) {
  const Findings findings = verify(changed(ring(2), [](std::size_t step, auto& transfers) {
    if (step == 1) transfers[0] = reduce(output(0, 0), output(1, 0), input(0, 0));
  }));
  EXPECT_EQ(findings.total, 1);
  expect_finding(findings,
                 "repeated_contribution: rank 0 step 1, output[0] of rank 0: expected input[0] of "
                 "the ranks 0 to 1, each once; found (x0 + x1) + x0, which holds once more: "
                 "input[0] of rank 0");
}

TEST(VerifySchedule, ExponentiallyManyContributions) {
  ScheduleBuilder builder({.ranks = 2});
  builder.add(reduce(output(0, 0), input(0, 0), input(1, 0)));
  builder.end_step();
  for (int i = 0; i < 200; ++i) {
    builder.add(reduce(output(0, 0), output(0, 0), output(0, 0)));
    builder.end_step();
  }
  builder.add(copy(output(1, 0), output(0, 0)));
  builder.end_step();
  const Findings findings = verify(std::move(builder).build());
  EXPECT_EQ(findings.total, 2);
  expect_finding(findings, "repeated_contribution: rank 0 step 200, output[0] of rank 0");
  expect_finding(findings, "repeated_contribution: rank 1 step 201, output[0] of rank 1");
}

TEST(VerifySchedule, WrongChunkAndPlace) {
  const Findings findings = verify(changed(ring(4), [](std::size_t step, auto& transfers) {
    if (step == 5) transfers[0] = copy(output(0, 2), output(0, 0));
  }));
  EXPECT_EQ(findings.total, 2);
  expect_finding(findings, "missing_contribution: rank 0 step 5, output[2] of rank 0");
  expect_finding(findings,
                 "wrong_contribution: rank 0 step 5, output[2] of rank 0: expected input[2] of the "
                 "ranks 0 to 3, each once; found ((x0 + x1) + x2) + x3, which holds what doesn't "
                 "belong there: input[0] of rank 0, input[0] of rank 1");
}

TEST(VerifySchedule, GathersFromTheWrongRank) {
  ScheduleBuilder builder({.collective = Collective::all_gather, .ranks = 2, .chunks = 2});
  for (const int r : {0, 1}) {
    builder.add(copy(output(r, r), input(r, 0)));
    builder.add(copy(output(r, 1 - r), input(r, 0)));
  }
  builder.end_step();
  const Findings findings = verify(std::move(builder).build());
  EXPECT_EQ(findings.total, 4);  // of two chunks: something wrong is there, something right isn't
  expect_finding(
      findings,
      "wrong_contribution: rank 0 step 0, output[1] of rank 0: expected input[0] of rank "
      "1; found x0, which holds what doesn't belong there: input[0] of rank 0");
}

TEST(VerifySchedule, NeverWritten) {
  const Findings findings = verify(changed(ring(3), [](std::size_t step, auto& transfers) {
    if (step == 3) transfers.erase(transfers.begin());
  }));
  ScheduleBuilder empty({.collective = Collective::reduce, .ranks = 3, .root = 1, .chunks = 2});
  const Findings nothing = verify(std::move(empty).build());
  EXPECT_EQ(nothing.total, 2);  // the root's alone
  expect_finding(
      nothing,
      "unwritten_output: rank 1, output[1] of rank 1: expected input[1] of the ranks 0 to "
      "2, each once; found nothing");
  expect_finding(findings, "missing_contribution: rank 0");
}

TEST(VerifySchedule, CountsAllAndKeepsSome) {
  const Findings findings = verify(ScheduleBuilder({.ranks = 64, .chunks = 64}).build());
  EXPECT_EQ(findings.total, 64 * 64);
  EXPECT_EQ(findings.list.size(), findings.most);
}

// --- programs: lane 0 of rank 0 sends to rank 1, lane 1 receives from rank 3; lane 0 of rank 1
// receives from rank 0, lane 1 sends to rank 2; and so on ---

class VerifyProgram : public testing::Test {
 protected:
  Findings findings(std::int32_t depth = 1) const { return verify(program.build(), depth); }
  EditedProgram program{lower(ring(4))};
};

TEST_F(VerifyProgram, IsFineAtFirst) {
  for (const std::int32_t depth : {0, 1, 7})
    EXPECT_TRUE(findings(depth).none()) << all(findings(depth));
  EXPECT_THROW(findings(-1), Error);
}

TEST_F(VerifyProgram, LostReceive) {
  program.drop(1, 0, 5);
  expect_finding(findings(),
                 "unmatched_send: rank 0 lane 0 step 5, output[3] of rank 0: expected a matching "
                 "receive on rank 1, channel 0; found a send 0->1 that nobody receives");
  // Rank 1 keeps what it had before.
  expect_finding(findings(), "missing_contribution: rank 1 lane 0 step 1, output[3] of rank 1");
}

TEST_F(VerifyProgram, LostSend) {
  program.drop(0, 0, 5);
  expect_finding(
      findings(),
      "unmatched_receive: rank 1 lane 0 step 5, output[3] of rank 1: expected a matching "
      "send on rank 0, channel 0; found a receive 0->1 of what nobody sends");
}

TEST_F(VerifyProgram, NobodyAtTheOtherEnd) {
  for (auto& line : program.lane(1, 0).lines) line.instruction = {.kind = Kind::nop};
  expect_finding(findings(0), "unmatched_send: rank 0 lane 0 step 0, input[0] of rank 0");
  EXPECT_EQ(std::ranges::count(findings().list, FindingKind::unmatched_send, &Finding::kind), 6);
}

TEST_F(VerifyProgram, OtherSize) {
  program.line(0, 0, 3).instruction.count = 2;
  program.line(0, 0, 3).instruction.a.index = 0;
  expect_finding(findings(),
                 "message_size: rank 1 lane 0 step 3, output[1] of rank 1: expected a message of 1 "
                 "chunk; found 2 chunks, which rank 0 lane 0 step 3 sends");
}

TEST_F(VerifyProgram, SwappedSends) {
  std::swap(program.line(0, 0, 4).instruction, program.line(0, 0, 5).instruction);
  std::swap(program.line(0, 0, 4).waits, program.line(0, 0, 5).waits);
  const Findings found = findings();
  expect_finding(found, "wrong_contribution: rank 1 lane 0 step 4, output[0] of rank 1");
  expect_finding(found, "missing_contribution: rank 1 lane 0 step 5, output[3] of rank 1");
}

TEST_F(VerifyProgram, WrongChunk) {
  program.line(2, 0, 0).instruction.a = in(2);  // adds its chunk 2 to chunk 1
  expect_finding(
      findings(),
      "wrong_contribution: rank 0 lane 1 step 2, output[1] of rank 0: expected input[1] of "
      "the ranks 0 to 3, each once; found ((x1 + x2) + x3) + x0, which holds what "
      "doesn't belong there: input[2] of rank 2");
}

TEST_F(VerifyProgram, ContributionTwice) {
  auto& instruction = program.line(2, 0, 3).instruction;
  instruction = {.kind = Kind::recv_reduce, .a = in(instruction.dst.index), .dst = instruction.dst};
  expect_finding(findings(), "repeated_contribution: rank 2 lane 0 step 3, output[2] of rank 2");
}

TEST_F(VerifyProgram, LostWaitForAWrite) {
  program.line(0, 0, 2).waits.clear();
  expect_finding(findings(),
                 "write_read_race: rank 0 lane 0 step 2, output[2] of rank 0: expected a wait or "
                 "messages that order it and rank 0 lane 1 step 1; found it reads the chunk, and "
                 "rank 0 lane 1 step 1 writes it, in no order");
}

TEST_F(VerifyProgram, LostWaitForARead) {
  // In the ring, the message that comes around orders the write behind the read.
  program.line(0, 1, 4).waits.clear();
  EXPECT_TRUE(findings().none()) << all(findings());
  // Where two ranks exchange what they overwrite, nothing else does.
  EditedProgram exchange(
      lower(find_algorithm("recursive_doubling", Collective::all_reduce).build({.ranks = 2}, {})));
  EXPECT_TRUE(verify(exchange.build()).none());
  ASSERT_EQ(exchange.line(0, 2, 0).waits, (std::vector<Place>{{0, 0}, {1, 0}}));
  exchange.line(0, 2, 0).waits.pop_back();
  expect_finding(verify(exchange.build()),
                 "write_read_race: rank 0 lane 2 step 0, output[0] of rank 0: expected a wait or "
                 "messages that order it and rank 0 lane 1 step 0; found it writes the chunk, and "
                 "rank 0 lane 1 step 0 reads it, in no order");
}

TEST_F(VerifyProgram, LostWaitBetweenWrites) {
  ProgramParts parts{.shape = {.ranks = 1}};
  for (const int id : {3, 4}) {
    parts.add(Lane{.rank = 0, .id = id});
    parts.add({.kind = Kind::copy, .a = in(0), .dst = out(0)});
  }
  const Findings found = verify(Program(parts));
  EXPECT_EQ(found.total, 1);
  expect_finding(found, "write_write_race: rank 0 lane 4 step 0, output[0] of rank 0");
  parts.waits = {{0, 0}};
  parts.wait_ends = {0, 1};
  EXPECT_TRUE(verify(Program(parts)).none());
}

TEST_F(VerifyProgram, ReadOfWhatNobodyWrote) {
  ProgramParts parts{.shape = {.ranks = 1, .scratch_chunks = 1}};
  parts.add(Lane{.rank = 0, .id = 2});
  parts.add({.kind = Kind::copy, .a = {0, Slot::scratch}, .dst = out(0)});
  const Findings found = verify(Program(parts));
  EXPECT_EQ(found.total, 2);
  expect_finding(
      found,
      "unwritten_read: rank 0 lane 2 step 0, scratch[0] of rank 0: expected a chunk that "
      "was written before; found copy reads it");
  expect_finding(found, "missing_contribution: rank 0 lane 2 step 0, output[0] of rank 0");
}

TEST_F(VerifyProgram, Circle) {
  // Every rank receives before it sends.
  EditedProgram one_lane = program;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const std::int32_t receives = rank == 0 || rank == 3 ? 1 : 0;
    auto& from = one_lane.lane(rank, receives).lines;
    const auto lane =
        static_cast<std::int32_t>(&one_lane.lane(rank, receives) - one_lane.lanes.data());
    one_lane.lane(rank, 1 - receives).lines[0].waits = {
        {lane, static_cast<std::int32_t>(from.size()) - 1}};
  }
  for (const std::int32_t depth : {0, 1, 100}) {
    const Findings found = verify(one_lane.build(), depth);
    EXPECT_EQ(found.total, 1) << all(found);
    EXPECT_EQ(found.list[0].kind, FindingKind::cycle);
    expect_finding(found,
                   "found the circle rank 0 lane 0 step 0 <- rank 0 lane 1 step 5 <- rank 0 lane 1 "
                   "step 0 <- rank 3 lane 0 step 0 <- rank 3 lane 1 step 5 <- rank 3 lane 1 step 0 "
                   "<- rank 2 lane 1 step 0");
    expect_finding(found, "<- rank 0 lane 0 step 0; 8 of 8 lanes wait for ever");
  }
}

TEST_F(VerifyProgram, WaitsForItself) {
  program.line(1, 1, 2).waits.push_back({3, 4});
  expect_finding(findings(), "cycle: rank 1 lane 1 step 2");
  expect_finding(findings(),
                 "rank 1 lane 1 step 2 <- rank 1 lane 1 step 4 <- rank 1 lane 1 step 2;");
}

TEST_F(VerifyProgram, OrderByMessagesAlone) {
  // Rank 0 writes in lane 0 and sends; rank 1 sends back to lane 1, which then writes the same
  // chunk.
  ProgramParts parts{.shape = {.ranks = 2}};
  parts.add(Lane{.rank = 0, .id = 0, .send_to = 1});
  parts.add({.kind = Kind::copy, .a = in(0), .dst = out(0)});
  parts.add({.kind = Kind::send, .a = out(0)});
  parts.add(Lane{.rank = 0, .id = 1, .receive_from = 1});
  parts.add({.kind = Kind::recv, .dst = out(0)});
  parts.add(Lane{.rank = 1, .id = 0, .send_to = 0, .receive_from = 0});
  parts.add({.kind = Kind::recv_reduce_copy_send, .a = in(0), .dst = out(0)});
  EXPECT_TRUE(verify(Program(parts)).none()) << all(verify(Program(parts)));
  // Sent before it is written: no order.
  std::swap(parts.instructions[0], parts.instructions[1]);
  parts.instructions[0].a = in(0);
  expect_finding(verify_order(Program(parts)),
                 "write_write_race: rank 0 lane 1 step 0, output[0] of rank 0");
}

TEST_F(VerifyProgram, AFullChannelIsNoOrder) {
  // At depth 1 the second send waits until the first message is taken, and that happens behind the
  // write of lane 1. With a larger channel it wouldn't.
  ProgramParts parts{.shape = {.ranks = 2}};
  parts.add(Lane{.rank = 0, .id = 0, .send_to = 1});
  for (int i = 0; i < 2; ++i) parts.add({.kind = Kind::send, .a = in(0)});
  parts.add({.kind = Kind::copy, .a = in(0), .dst = out(0)});
  parts.add(Lane{.rank = 0, .id = 1, .send_to = 1, .channel = 1});
  parts.add({.kind = Kind::copy, .a = in(0), .dst = out(0)});
  parts.add({.kind = Kind::send, .a = in(0)});
  parts.add(Lane{.rank = 1, .id = 0, .receive_from = 0});
  parts.add({.kind = Kind::nop}, {{3, 0}});
  for (int i = 0; i < 2; ++i) parts.add({.kind = Kind::recv, .dst = out(0)});
  parts.add(Lane{.rank = 1, .id = 1, .receive_from = 0, .channel = 1});
  parts.add({.kind = Kind::recv, .dst = out(0)});
  const Findings found = verify_order(Program(parts), 1);
  EXPECT_EQ(found.total, 1) << all(found);
  expect_finding(found, "write_write_race: rank 0 lane");
}

// 2 million transfers.
TEST(VerifySchedule, ThousandRanks) {
  const Schedule schedule = ring(1024);
  EXPECT_EQ(schedule.transfers(), 2 * 1023 * 1024);
  EXPECT_TRUE(verify(schedule).none());
  const Program program = lower(schedule);
  EXPECT_LT(program.memory_bytes(), std::size_t{256} << 20);
  EXPECT_TRUE(verify(program).none());
}

}  // namespace
}  // namespace vranks
