// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules and programs as JSON: what is written is read back, and what is wrong is named.
#include "collectives/formats/json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>

#include "collectives/interpreters/lower.hpp"
#include "schedules.hpp"

namespace vranks {
namespace {

Schedule schedule_of(std::string_view text) { return std::get<Schedule>(parse_json(text)); }
Program program_of(std::string_view text) { return std::get<Program>(parse_json(text)); }

// The message about that text, without "x.json: "; "" if it is accepted.
std::string problem_of(std::string_view text) {
  try {
    parse_json(text, "x.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("x.json: ")) << message;
    return message.substr(8);
  }
  return "";
}

// The text with its first `from` replaced.
std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// Those of the documentation in json.hpp.
const std::string schedule_text = R"({"vranks": "schedule", "version": 1,
 "collective": "all_reduce", "ranks": 2, "root": 0, "chunks": 1, "scratch_chunks": 0,
 "steps": [
  [["reduce", [0, "output", 0], [1, "input", 0], [0, "input", 0]]],
  [["copy", [1, "output", 0], [0, "output", 0]]]]}
)";

const std::string program_text = R"({"vranks": "program", "version": 1,
 "collective": "all_reduce", "ranks": 2, "root": 0, "chunks": 1, "scratch_chunks": 0,
 "lanes": [
  {"rank": 0, "id": 0, "send_to": 1, "channel": 0,
   "instructions": [["send", ["output", 0], [[1, 0]]]]},
  {"rank": 0, "id": 1, "receive_from": 1, "channel": 0,
   "instructions": [["recv_reduce", ["output", 0], "message", ["input", 0]]]},
  {"rank": 1, "id": 0, "send_to": 0, "channel": 0,
   "instructions": [["send", ["input", 0]]]},
  {"rank": 1, "id": 1, "receive_from": 0, "channel": 0,
   "instructions": [["recv", ["output", 0]]]}]}
)";

TEST(Json, IsWrittenAsDocumented) {
  ScheduleBuilder builder({.ranks = 2});
  builder.add(reduce(output(0, 0), input(1, 0), input(0, 0)));
  builder.end_step();
  builder.add(copy(output(1, 0), output(0, 0)));
  builder.end_step();
  const Schedule schedule = std::move(builder).build();
  EXPECT_EQ(to_json(schedule), schedule_text);
  EXPECT_EQ(to_json(lower(schedule)), program_text);
  EXPECT_EQ(schedule_of(schedule_text), schedule);
  EXPECT_EQ(program_of(program_text), lower(schedule));
}

TEST(Json, LeavesOutWhatIsUsual) {
  EXPECT_EQ(schedule_of(R"({"steps": [], "chunks": 1, "ranks": 3, "collective": "reduce",
                            "version": 1, "vranks": "schedule"})")
                .shape(),
            (ScheduleShape{.collective = Collective::reduce, .ranks = 3}));
  const Program program = program_of(R"({"vranks": "program", "version": 1, "collective": "reduce",
      "ranks": 3, "root": 2, "chunks": 1, "lanes": [{"rank": 2, "id": 4, "instructions": []}]})");
  EXPECT_EQ(program.lanes()[0], (Lane{.rank = 2, .id = 4}));
  EXPECT_EQ(program.size(), 0);
}

TEST(Json, EveryInstruction) {
  ProgramParts parts{.shape = {.ranks = 2, .chunks = 4, .scratch_chunks = 3}};
  parts.add(Lane{.rank = 0, .id = 9, .send_to = 1, .receive_from = 1, .channel = 5});
  parts.add(Instruction{});
  parts.add(Lane{.rank = 0, .id = 2, .send_to = 1, .receive_from = 1});
  for (const InstructionInfo& does : instruction_infos)
    for (const bool own_left : {false, true}) {
      if (own_left && !does.combines_message()) continue;
      Instruction i{.kind = does.kind, .own_left = own_left};
      if (does.kind != InstructionKind::nop) i.count = 2;
      if (does.reads_a) i.a = {1, Slot::input};
      if (does.reads_b) i.b = {2, Slot::output};
      if (does.writes) i.dst = {0, Slot::scratch};
      parts.add(i, {{0, 0}, {1, 1}});
    }
  const Program program(parts);
  EXPECT_EQ(program_of(to_json(program)), program) << to_json(program);
}

TEST(Json, EveryAlgorithm) {
  for (const std::int64_t ranks : {1, 2, 3, 5, 8})
    for_each_schedule(ranks, [](const Schedule& schedule) {
      EXPECT_EQ(schedule_of(to_json(schedule)), schedule);
      const Program program = lower(schedule);
      EXPECT_EQ(program_of(to_json(program)), program);
    });
}

RC_GTEST_PROP(Json, RandomSchedules, ()) {
  const Schedule schedule = random_schedule();
  RC_ASSERT(schedule_of(to_json(schedule)) == schedule);
  RC_ASSERT(program_of(to_json(lower(schedule))) == lower(schedule));
}

TEST(Json, NamesThePlaceInTheText) {
  EXPECT_TRUE(problem_of("").starts_with("at line 1, column 1: syntax error")) << problem_of("");
  EXPECT_TRUE(problem_of("{\n \"vranks\": }").starts_with("at line 2, column 12: syntax error"))
      << problem_of("{\n \"vranks\": }");
  EXPECT_TRUE(problem_of(schedule_text + "x").starts_with("at line 6, column 1: syntax error"))
      << problem_of(schedule_text + "x");
  EXPECT_TRUE(problem_of("{\"a\": \"\xff\"}").starts_with("at line 1, column 8: "))
      << problem_of("{\"a\": \"\xff\"}");
  EXPECT_EQ(problem_of("[[[[[\n[[[[[]]]]]]]]]]"),
            "at line 2, column 4: more than 8 levels of lists and objects");
  EXPECT_NE(problem_of(std::string(10'000'000, '[')).find("levels"), std::string::npos);
  EXPECT_NE(problem_of(std::string(1'000'000, '"')).find("syntax error"), std::string::npos);
  EXPECT_LT(problem_of("{" + std::string(1'000'000, 'a')).size(), 400u);
  EXPECT_NE(problem_of("1e999").find("1e999"), std::string::npos) << problem_of("1e999");
}

TEST(Json, NamesTheWayToAValue) {
  const auto expect = [](const std::string& text, const std::string& problem) {
    EXPECT_EQ(problem_of(text).substr(0, problem.size()), problem) << problem_of(text);
  };
  expect("[]", "at /: an object is needed");
  expect("{}", "at /: there is no key 'vranks'");
  expect(with(schedule_text, "\"schedule\"", "\"shedule\""),
         "at /vranks: \"schedule\" or \"program\" is needed, not 'shedule'");
  expect(with(schedule_text, "\"schedule\"", "3"), "at /vranks: a string is needed, not number");
  expect(with(schedule_text, "\"version\": 1", "\"version\": 2"), "at /version: only version 1");
  expect(with(schedule_text, "all_reduce", "all"), "at /collective: there is no collective 'all'");
  expect(with(schedule_text, "\"ranks\": 2", "\"ranks\": 0"),
         "at /ranks: 0 is not between 1 and 2147483647");
  expect(with(schedule_text, "\"ranks\": 2", "\"ranks\": 2.5"),
         "at /ranks: a whole number is needed, not 2.5");
  expect(with(schedule_text, "\"ranks\": 2", "\"ranks\": 18446744073709551615"),
         "at /ranks: 18446744073709551615 is not between");
  expect(with(schedule_text, "\"ranks\": 2", "\"rank\": 2"),
         "at /: there is no key 'rank'; keys are: vranks version");
  expect(with(schedule_text, "\"ranks\": 2, ", ""), "at /: there is no key 'ranks'");
  expect(with(schedule_text, "\"chunks\": 1", "\"chunks\": 1, \"ranks\": 2"),
         "the key 'ranks' stands twice in one object");
  expect(with(schedule_text, "\"root\": 0", "\"root\": 2"), "at /root: 2 is not between 0 and 1");
  expect(with(schedule_text, "\"all_reduce\", \"ranks\": 2", "\"all_gather\", \"ranks\": 2"),
         "at /: a schedule of all_gather cuts the vector into one block a rank: 1 chunks");
  expect(with(schedule_text, "[1, \"input\", 0]", "[1, \"input\", 1]"),
         "at /steps/0/0: step 0, transfer 0: the left operand has 1 chunks from 1 on");
  expect(with(schedule_text, "[1, \"input\", 0]", "[1, \"input\"]"),
         "at /steps/0/0/2: a list of 3 to 4 values is needed, not of 2");
  expect(with(schedule_text, "[1, \"input\", 0]", "[1, \"in\", 0]"),
         "at /steps/0/0/2/1: there is no slot 'in'");
  expect(with(schedule_text, "[1, \"input\", 0]", "[-1, \"input\", 0]"),
         "at /steps/0/0/2/0: -1 is not between 0");
  expect(with(schedule_text, "[\"copy\"", "[\"move\""),
         "at /steps/1/0/0: there is no action 'move'; actions are: copy reduce");
  expect(with(schedule_text, "[\"copy\"", "[\"reduce\""), "at /steps/1/0: a list of 4 values");
  expect(with(schedule_text, "[[\"copy\", [1, \"output\", 0], [0, \"output\", 0]]]", "[]"),
         "at /steps/1: a step without transfers");

  expect(
      with(program_text, "\"send\"", "\"sent\""),
      "at /lanes/0/instructions/0/0: there is no instruction 'sent'; instructions are: send recv");
  expect(with(program_text, "[[1, 0]]", "[[3, 0]]"),
         "at /lanes/0/instructions/0/2/0: rank 0 has no lane 3");
  expect(with(program_text, "[[1, 0]]", "[[1, 1]]"),
         "at /lanes: rank 0 lane 0 step 0: waits for step 1 of lane 1, which has 1 steps");
  expect(with(program_text, "\"message\"", "[\"input\", 0]"),
         "at /lanes/1/instructions/0/3: one of the two operands is \"message\"");
  expect(with(program_text, "\"message\"", "\"massage\""),
         "at /lanes/1/instructions/0/2: one of the two operands is \"message\"");
  expect(with(program_text, "\"message\", [\"input\", 0]", "\"message\", [\"input\", 0, 2]"),
         "at /lanes/1/instructions/0/3: 2 chunks, but another operand has 1");
  expect(with(program_text, "\"send_to\": 1", "\"send_to\": 0"),
         "at /lanes: rank 0 lane 0 sends to its own rank");
  expect(with(program_text, "\"send_to\": 1", "\"sends_to\": 1"),
         "at /lanes/0: there is no key 'sends_to'");
  expect(with(program_text, "\"rank\": 1, \"id\": 1", "\"rank\": 1, \"id\": 0"),
         "at /lanes: rank 1 has two lanes with the id 0");
}

TEST(Json, AsksForNoMoreMemoryThanTheTextIsWorth) {
  for (const auto& [from, to] : {std::pair("\"ranks\": 2", "\"ranks\": 2000000000"),
                                 std::pair("\"chunks\": 1", "\"chunks\": 2147483647"),
                                 std::pair("\"scratch_chunks\": 0", "\"scratch_chunks\": 1048576")})
    for (const std::string& text : {schedule_text, program_text}) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_NE(problem_of(with(text, from, to)).find("out of proportion to"), std::string::npos);
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    }
  EXPECT_EQ(problem_of(with(schedule_text, "\"scratch_chunks\": 0", "\"scratch_chunks\": 500000")),
            "");
}

}  // namespace
}  // namespace vranks
