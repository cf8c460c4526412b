// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "collectives/interpreters/access_log.hpp"
#include "collectives/interpreters/contract.hpp"
#include "collectives/interpreters/verify.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

Finding at(const Program& program, FindingKind kind, const Place& place) {
  const Lane& lane = program.lanes()[static_cast<std::size_t>(place.lane)];
  return {.kind = kind, .rank = lane.rank, .lane = lane.id, .step = place.index};
}

std::string chunks(std::int32_t count) {
  return fmt::format("{} {}", count, count == 1 ? "chunk" : "chunks");
}

// Each message has one sender and one receiver of the same size; false if a size differs.
bool check_messages(const Program& program, const std::vector<std::int32_t>& sender_of,
                    Findings& findings) {
  std::vector<bool> is_received(sender_of.size());
  for (const std::int32_t sender : sender_of)
    if (sender >= 0) is_received[static_cast<std::size_t>(sender)] = true;
  bool sizes_fit = true;
  const auto lanes = static_cast<std::int32_t>(program.lanes().size());
  for (std::int32_t l = 0; l < lanes; ++l) {
    const Lane& lane = program.lanes()[static_cast<std::size_t>(l)];
    for (std::int32_t index = 0; index < program.lane_size(l); ++index) {
      const Place place{l, index};
      const std::int32_t number = program.number(place);
      const Instruction& i = program.instruction(number);
      const InstructionInfo& does = info(i.kind);
      if (does.sends && !is_received[static_cast<std::size_t>(number)])
        findings.add([&] {
          Finding finding = at(program, FindingKind::unmatched_send, place);
          if (does.reads_a && !does.receives) finding.chunk = program.chunk(l, i.a, i.count);
          finding.expected =
              fmt::format("a matching receive on rank {}, channel {}", lane.send_to, lane.channel);
          finding.found =
              fmt::format("a send {}->{} that nobody receives", lane.rank, lane.send_to);
          return finding;
        });
      if (!does.receives) continue;
      const std::int32_t sender = sender_of[static_cast<std::size_t>(number)];
      if (sender < 0) {
        findings.add([&] {
          Finding finding = at(program, FindingKind::unmatched_receive, place);
          if (does.writes) finding.chunk = program.chunk(l, i.dst, i.count);
          finding.expected = fmt::format("a matching send on rank {}, channel {}",
                                         lane.receive_from, lane.channel);
          finding.found =
              fmt::format("a receive {}->{} of what nobody sends", lane.receive_from, lane.rank);
          return finding;
        });
      } else if (program.instruction(sender).count != i.count) {
        sizes_fit = false;
        findings.add([&] {
          Finding finding = at(program, FindingKind::message_size, place);
          if (does.writes) finding.chunk = program.chunk(l, i.dst, i.count);
          finding.expected = fmt::format("a message of {}", chunks(i.count));
          finding.found =
              fmt::format("{}, which {} sends", chunks(program.instruction(sender).count),
                          program.describe(program.place(sender)));
          return finding;
        });
      }
    }
  }
  return sizes_fit;
}

// "rank 0 lane 0 step 0 <- rank 1 lane 0 step 1 <- ...": each needs the one behind the arrow first.
std::string describe_circle(const Program& program, const std::vector<const Stuck*>& circle) {
  constexpr std::size_t most = 32;  // links that are printed
  std::string text = program.describe(circle[0]->at);
  for (std::size_t c = 0; c < circle.size(); ++c) {
    if (c == most) return text + fmt::format(" <- ... ({} lanes in all)", circle.size());
    const Place& next = circle[(c + 1) % circle.size()]->at;
    text += " <- " + program.describe(circle[c]->needs);
    if (next != circle[c]->needs) text += " <- " + program.describe(next);
  }
  return text;
}

// Lanes that wait for one another. Every lane that is stuck waits for one other lane, so each group
// of them has one circle, or ends at a message that is never sent or received. With `room`, circles
// in which channels lack room, else the others.
void check_circles(const Program& program, const std::vector<Stuck>& stuck, std::int32_t depth,
                   bool room, Findings& findings) {
  std::vector<const Stuck*> of_lane(program.lanes().size());
  for (const Stuck& s : stuck) of_lane[static_cast<std::size_t>(s.at.lane)] = &s;
  std::vector<const Stuck*> seen_from(program.lanes().size());
  for (const Stuck& start : stuck) {
    const Stuck* now = &start;
    const auto seen = [&](const Stuck* s) -> const Stuck*& {
      return seen_from[static_cast<std::size_t>(s->at.lane)];
    };
    while (now != nullptr && seen(now) == nullptr) {
      seen(now) = &start;
      now = now->needs.lane < 0 ? nullptr : of_lane[static_cast<std::size_t>(now->needs.lane)];
    }
    if (now == nullptr || seen(now) != &start) continue;  // no circle, or one that was reported
    std::vector<const Stuck*> circle;
    for (const Stuck* s = now; circle.empty() || s != now;
         s = of_lane[static_cast<std::size_t>(s->needs.lane)])
      circle.push_back(s);
    const auto lowest =
        std::ranges::min_element(circle, {}, [](const Stuck* s) { return s->at.lane; });
    std::rotate(circle.begin(), lowest, circle.end());
    const bool lacks_room =
        std::ranges::any_of(circle, [](const Stuck* s) { return s->lack == Lack::room; });
    if (lacks_room != room) continue;
    findings.add([&] {
      // In a full channel's case the send that finds it full is the one to name.
      const Stuck* const first =
          room ? *std::ranges::find(circle, Lack::room, &Stuck::lack) : circle[0];
      const bool full = room && depth > 0;
      Finding finding = at(program, full ? FindingKind::blocked : FindingKind::cycle, first->at);
      finding.expected = full ? fmt::format("room for one more message at depth {}", depth)
                         : room
                             ? std::string("sends and receives that meet at depth 0 (rendezvous)")
                             : std::string("instructions that can be put in an order");
      std::string senders;
      for (const Stuck* s : circle)
        if (full && s->lack == Lack::room && senders.size() < 400)
          senders += fmt::format("{}{} for lack of space to rank {}", senders.empty() ? "" : ", ",
                                 program.describe(s->at),
                                 program.lanes()[static_cast<std::size_t>(s->at.lane)].send_to);
      finding.found =
          fmt::format("{}{}the circle {}; {} of {} lanes wait for ever", full ? "blocked: " : "",
                      full ? senders + "; " : "", describe_circle(program, circle), stuck.size(),
                      program.lanes().size());
      return finding;
    });
  }
}

void check_values(const Program& program, const std::vector<Place>& order, Findings& findings) {
  const Folds folds = interpret(program, order, [&](const Place& place, const ChunkRef& chunk) {
    findings.add([&] {
      Finding finding = at(program, FindingKind::unwritten_read, place);
      finding.chunk = chunk;
      finding.expected = "a chunk that was written before";
      finding.found =
          fmt::format("{} reads it", info(program.instruction(program.number(place)).kind).name);
      return finding;
    });
  });
  const WritableChunks writable(program.shape());
  std::vector<LastWrite> last_writes;  // made when the first one is asked for
  const auto last_write = [&](const ChunkRef& chunk) {
    if (last_writes.empty()) {
      last_writes.resize(writable.size());
      for (const Place& place : order) {
        const Instruction& i = program.instruction(program.number(place));
        const std::int32_t lane = program.lanes()[static_cast<std::size_t>(place.lane)].id;
        if (info(i.kind).writes)
          std::fill_n(&last_writes[writable.number(program.chunk(place.lane, i.dst, 1))], i.count,
                      LastWrite{lane, place.index});
      }
    }
    return last_writes[writable.number(chunk)];
  };
  check_contract(program.shape(), folds, last_write, findings);
}

// Checks all but values; gives the order in which instructions take effect if the program runs to
// its end, with messages of the sizes that are expected.
std::optional<std::vector<Place>> check_order(const Program& program, std::int32_t depth,
                                              Findings& findings) {
  if (depth < 0)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("a channel can't hold {} messages; the least is 0 (rendezvous)", depth));
  const std::vector<std::int32_t> sender_of = match_messages(program);
  const bool sizes_fit = check_messages(program, sender_of, findings);
  Progress run = progress(program, depth);
  if (!run.stuck.empty()) {
    check_circles(program, run.stuck, depth, true, findings);
    // What else is wrong shows where channels are never full.
    run = progress(program, unlimited_depth);
    check_circles(program, run.stuck, unlimited_depth, false, findings);
  }
  check_races(program, sender_of, run.order, findings);
  if (!run.stuck.empty() || !sizes_fit) return {};
  return std::move(run.order);
}

}  // namespace

Findings verify_order(const Program& program, std::int32_t depth) {
  Findings findings;
  check_order(program, depth, findings);
  return findings;
}

Findings verify(const Program& program, std::int32_t depth) {
  Findings findings;
  const auto order = check_order(program, depth, findings);
  if (order) check_values(program, *order, findings);
  return findings;
}

}  // namespace vranks
