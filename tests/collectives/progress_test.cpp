// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What the prover says about blocking and order is what trying everything says, on small programs.
#include "collectives/interpreters/progress.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "collectives/interpreters/lower.hpp"
#include "collectives/interpreters/verify.hpp"
#include "edited_program.hpp"
#include "schedules.hpp"

namespace vranks {
namespace {

// A lowered schedule with a fault or two, most often one of order.
EditedProgram random_program() {
  EditedProgram program(lower(random_schedule()));
  const auto below = [](std::size_t n) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, n));
  };
  for (std::size_t faults = below(4); faults > 0 && !program.lanes.empty(); --faults) {
    auto& lines = program.lanes[below(program.lanes.size())].lines;
    const std::size_t at = below(lines.size());
    if (below(3) > 0)
      lines[at].waits.clear();
    else
      std::swap(lines[at], lines[below(lines.size())]);
  }
  return program;
}

// Runs lanes in a random order until none can go on; how far each got.
std::vector<std::int32_t> run_at_random(const Program& program, std::int32_t depth) {
  const std::size_t lanes = program.lanes().size();
  std::vector<std::int32_t> next(lanes), sent(lanes), taken(lanes);
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    std::vector<std::size_t> order(lanes);
    for (std::size_t i = 0; i < lanes; ++i) order[i] = i;
    for (std::size_t i = lanes; i > 1; --i)
      std::swap(order[i - 1],
                order[*rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, i))]);
    for (const std::size_t l : order) {
      const auto lane = static_cast<std::int32_t>(l);
      if (next[l] == program.lane_size(lane)) continue;
      const std::int32_t number = program.number({lane, next[l]});
      const bool waits = std::ranges::any_of(program.waits(number), [&](const Place& wait) {
        return next[static_cast<std::size_t>(wait.lane)] <= wait.index;
      });
      const InstructionInfo& does = info(program.instruction(number).kind);
      // Lowered programs send or receive, never both.
      if (waits) continue;
      if (does.sends) {
        const auto to = static_cast<std::size_t>(program.receiver(lane));
        if (depth > 0 && sent[l] - taken[to] >= depth) continue;
        if (depth == 0) {  // goes on together with the receiver
          const std::int32_t receiver = static_cast<std::int32_t>(to);
          if (next[to] == program.lane_size(receiver)) continue;
          const std::int32_t other = program.number({receiver, next[to]});
          if (std::ranges::any_of(program.waits(other), [&](const Place& wait) {
                return next[static_cast<std::size_t>(wait.lane)] <= wait.index;
              }))
            continue;
          ++taken[to];
          ++next[to];
        }
        ++sent[l];
      } else if (does.receives) {
        if (sent[static_cast<std::size_t>(program.sender(lane))] == taken[l]) continue;
        ++taken[l];
      }
      ++next[l];
      goes_on = true;
    }
  }
  return next;
}

RC_GTEST_PROP(Progress, BlocksWhereARandomRunDoes, ()) {
  const Program program = random_program().build();
  const auto depth = *rc::gen::element(0, 1, 2, unlimited_depth);
  const std::vector<std::int32_t> got = run_at_random(program, depth);
  const Progress run = progress(program, depth);
  std::vector<std::int32_t> expected;
  for (std::int32_t l = 0; l < static_cast<std::int32_t>(got.size()); ++l)
    expected.push_back(program.lane_size(l));
  for (const Stuck& stuck : run.stuck)
    expected[static_cast<std::size_t>(stuck.at.lane)] = stuck.at.index;
  RC_ASSERT(got == expected);
  // A lane that can't go on is always explained.
  if (!run.stuck.empty()) RC_ASSERT(!verify_order(program, depth).none());
}

// All that comes before an instruction, by following every edge.
std::set<std::int32_t> before(const Program& program, const std::vector<std::int32_t>& sender_of,
                              std::int32_t number) {
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> todo{number};
  while (!todo.empty()) {
    const std::int32_t now = todo.back();
    todo.pop_back();
    const auto visit = [&](std::int32_t earlier) {
      if (seen.insert(earlier).second) todo.push_back(earlier);
    };
    if (program.place(now).index > 0) visit(now - 1);
    for (const Place& wait : program.waits(now)) visit(program.number(wait));
    if (sender_of[static_cast<std::size_t>(now)] >= 0)
      visit(sender_of[static_cast<std::size_t>(now)]);
  }
  return seen;
}

RC_GTEST_PROP(Races, AreThoseOfAllPairs, ()) {
  const Program program = random_program().build();
  const Progress run = progress(program, unlimited_depth);
  RC_PRE(run.stuck.empty());
  const WritableChunks chunks(program.shape());
  const std::vector<std::int32_t> sender_of = match_messages(program);
  const auto touches = [&](std::int32_t number, std::size_t chunk, bool writes) {
    const Instruction& i = program.instruction(number);
    const auto has = [&](bool used, const LocalChunk& local) {
      if (!used || local.slot == Slot::input) return false;
      const std::size_t first = chunks.number(program.chunk(program.place(number).lane, local, 1));
      return chunk >= first && chunk < first + static_cast<std::size_t>(i.count);
    };
    const InstructionInfo& does = info(i.kind);
    return writes ? has(does.writes, i.dst) : has(does.reads_a, i.a) || has(does.reads_b, i.b);
  };
  std::set<std::size_t> expected;
  for (std::int32_t a = 0; a < program.size(); ++a) {
    const std::set<std::int32_t> before_a = before(program, sender_of, a);
    for (std::int32_t b = 0; b < program.size(); ++b) {
      if (a == b || before_a.contains(b) || before(program, sender_of, b).contains(a)) continue;
      for (std::size_t c = 0; c < chunks.size(); ++c)
        if (touches(a, c, true) && (touches(b, c, true) || touches(b, c, false)))
          expected.insert(c);
    }
  }
  Findings findings;
  check_races(program, sender_of, run.order, findings);
  std::set<std::size_t> got;
  for (const Finding& finding : findings.list) got.insert(chunks.number(*finding.chunk));
  RC_ASSERT(got == expected);
}

}  // namespace
}  // namespace vranks
