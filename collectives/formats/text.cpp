// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/formats/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/interpreters/interpret.hpp"

namespace vranks {

namespace {

std::string plural(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Lines up to a limit, then how many were left out.
class Lines {
 public:
  explicit Lines(std::size_t most) : most_(most) {}

  // Whether there is room; a caller that has none says so with skip().
  bool full() const { return count_ >= most_; }
  void skip(std::int64_t lines) { left_out_ += lines; }
  void add(const std::string& line) {
    if (full()) return skip(1);
    ++count_;
    text_ += line + "\n";
  }
  std::string text(std::string_view what) const {
    if (left_out_ == 0) return text_;
    return text_ + fmt::format("  ... and {}\n", plural(left_out_, what));
  }

 private:
  std::size_t most_, count_ = 0;
  std::int64_t left_out_ = 0;
  std::string text_;
};

// `count` numbers from `first` on, each `growth` above the one before.
struct Range {
  std::int32_t first, growth, count;

  bool is_one() const { return growth == 0 || count == 1; }
};

// "3", "0 to 2", "6 to 0 by -2"; with a width, "4..7" for each number.
std::string to_string(const Range& range, std::int32_t width = 1) {
  const auto one = [&](std::int32_t n) {
    return width == 1 ? std::to_string(n) : fmt::format("{}..{}", n, n + width - 1);
  };
  if (range.is_one()) return one(range.first);
  const std::int32_t last = range.first + (range.count - 1) * range.growth;
  return fmt::format("{} to {}{}", one(range.first), one(last),
                     std::abs(range.growth) == 1 ? "" : fmt::format(" by {}", range.growth));
}

std::string of_ranks(const Range& ranks) {
  return fmt::format("{} {}", ranks.is_one() ? "rank" : "ranks", to_string(ranks));
}

// Transfers whose numbers grow evenly from one to the next.
struct Group {
  Transfer first, second;  // equal if there is one alone
  std::int32_t count = 1;

  std::string chunk(ChunkRef Transfer::*part) const {
    const ChunkRef &a = first.*part, &b = second.*part;
    std::string text = fmt::format("{}[{}]", name(a.slot),
                                   to_string({a.index, b.index - a.index, count}, a.count));
    if (a.rank != first.dst.rank || b.rank != second.dst.rank)
      text += " of " + of_ranks({a.rank, b.rank - a.rank, count});
    return text;
  }
  std::string text() const {
    std::string line = fmt::format(
        "  {}: {} = {}", of_ranks({first.dst.rank, second.dst.rank - first.dst.rank, count}),
        chunk(&Transfer::dst), chunk(&Transfer::a));
    if (first.action == Action::reduce) line += " + " + chunk(&Transfer::b);
    return line;
  }
};

// Whether `c` is to `b` what `b` is to `a`.
bool goes_on(const ChunkRef& a, const ChunkRef& b, const ChunkRef& c) {
  return b.slot == a.slot && c.slot == a.slot && b.count == a.count && c.count == a.count &&
         b.rank - a.rank == c.rank - b.rank && b.index - a.index == c.index - b.index;
}
bool goes_on(const Transfer& a, const Transfer& b, const Transfer& c) {
  return a.action == b.action && b.action == c.action && a.is_message() == b.is_message() &&
         b.is_message() == c.is_message() && goes_on(a.a, b.a, c.a) && goes_on(a.b, b.b, c.b) &&
         goes_on(a.dst, b.dst, c.dst);
}

// Where b isn't a's neighbour, two are no pattern yet.
bool are_neighbours(const Transfer& a, const Transfer& b) {
  const auto near = [](const ChunkRef& x, const ChunkRef& y) {
    return x.slot == y.slot && x.count == y.count && std::abs(x.rank - y.rank) <= 1 &&
           std::abs(x.index - y.index) <= x.count;
  };
  return a.action == b.action && a.is_message() == b.is_message() && near(a.a, b.a) &&
         near(a.b, b.b) && near(a.dst, b.dst);
}

std::vector<Group> groups(std::span<const Transfer> transfers) {
  std::vector<Group> all;
  for (std::size_t i = 0; i < transfers.size();) {
    std::size_t end = i + 1;
    if (end < transfers.size()) {
      const Transfer &a = transfers[i], &b = transfers[end];
      for (++end; end < transfers.size() &&
                  goes_on(transfers[end - 2], transfers[end - 1], transfers[end]);
           ++end) {
      }
      if (end - i == 2 && !are_neighbours(a, b)) --end;
    }
    all.push_back(
        {transfers[i], transfers[end - i > 1 ? i + 1 : i], static_cast<std::int32_t>(end - i)});
    i = end;
  }
  return all;
}

// What the ranks send, by chunks and by the bytes of a rank's input.
std::string sent_text(const ScheduleShape& shape, std::span<const std::int64_t> sent,
                      std::int64_t steps) {
  const auto [least, most] = std::ranges::minmax_element(sent);
  if (*most == 0) return "nothing is sent\n";
  const std::string who = *least == *most
                              ? "each rank sends "
                              : fmt::format("rank {} sends most: ", most - sent.begin());
  const std::string when = fmt::format("messages in {}; ", plural(steps, "step"));
  if (shape.collective == Collective::barrier)
    return fmt::format("{}{}{} without data\n", when, who, plural(*most, "message"));
  const bool starts_at_root = has_root(shape.collective) && !ends_at_root(shape.collective);
  const double inputs = static_cast<double>(*most) / shape.slot_chunks(Slot::input);
  return fmt::format("{}{}{}, {}n bytes; n: bytes of {} input\n", when, who, plural(*most, "chunk"),
                     inputs == 1 ? "" : fmt::format("{:.4g}", inputs),
                     starts_at_root ? "the root's" : "a rank's");
}

std::string numbers_of(const Schedule& schedule) {
  const ScheduleShape& shape = schedule.shape();
  std::vector<std::int64_t> sent(static_cast<std::size_t>(shape.ranks));
  std::int64_t messages = 0, sending_steps = 0;
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    const std::int64_t before = messages;
    schedule.for_each(step, [&](const Transfer& t) {
      if (!t.is_message()) return;
      ++messages;
      sent[static_cast<std::size_t>(t.source())] += t.dst.count;
    });
    sending_steps += messages > before;
  }
  return fmt::format(
      "{}{}: {}, {}, {}, {}, {}\n{}", name(shape.collective),
      has_root(shape.collective)
          ? fmt::format(" {} rank {}", ends_at_root(shape.collective) ? "to" : "from", shape.root)
          : "",
      plural(shape.ranks, "rank"), plural(shape.chunks, "chunk"),
      plural(static_cast<std::int64_t>(schedule.steps()), "step"),
      plural(schedule.transfers(), "transfer"), plural(messages, "message"),
      sent_text(shape, sent, sending_steps));
}

// "on all ranks", "on rank 3", "on ranks 0 to 3, 6, 8 to 9 ..."
std::string on_ranks(const std::vector<std::int32_t>& ranks, std::int32_t all) {
  if (static_cast<std::int32_t>(ranks.size()) == all && all > 1) return "on all ranks";
  std::string text;
  for (std::size_t i = 0, end; i < ranks.size(); i = end) {
    for (end = i + 1; end < ranks.size() && ranks[end] == ranks[end - 1] + 1; ++end) {
    }
    if (text.size() > 60) return "on ranks " + text + " ...";
    text += (i == 0 ? "" : ", ") + to_string(Range{ranks[i], 1, static_cast<int>(end - i)});
  }
  return fmt::format("on {} {}", ranks.size() == 1 ? "rank" : "ranks", text);
}

// Folds that are the same expression, whosever own input is where: those have one line.
class Expressions {
 public:
  explicit Expressions(const ScheduleShape& shape, const FoldGraph& graph)
      : graph_(graph), expressions_(shape.ranks, shape.slot_chunks(Slot::input)) {}

  FoldId of(FoldId fold) {
    if (fold == no_fold) return no_fold;
    // Operands come first, so that those are there.
    for (auto id = static_cast<FoldId>(ids_.size()); id <= fold; ++id)
      ids_.push_back(
          graph_.is_leaf(id)
              ? id
              : expressions_.combine(ids_of(graph_.left(id)), ids_of(graph_.right(id)), Own::none));
    return ids_of(fold);
  }
  std::string text(FoldId expression) const { return to_string(expressions_, expression); }

 private:
  FoldId ids_of(FoldId fold) const {
    return fold == no_fold ? no_fold : ids_[static_cast<std::size_t>(fold)];
  }

  const FoldGraph& graph_;
  FoldGraph expressions_;
  std::vector<FoldId> ids_;
};

// A line for each value that a chunk of the vector has, of those ranks that hold it.
std::vector<std::string> values_of_chunk(const ScheduleShape& shape, const Folds& folds,
                                         Expressions& expressions, std::int32_t chunk) {
  std::vector<std::pair<FoldId, std::vector<std::int32_t>>> values;
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    const std::int32_t index = shape.has_output(rank) ? shape.output_index(rank, chunk) : -1;
    if (index < 0) continue;
    const FoldId fold = expressions.of(folds.output(shape, rank, index));
    auto value = std::ranges::find(values, fold, &std::pair<FoldId, std::vector<int>>::first);
    if (value == values.end()) value = values.insert(value, {fold, {}});
    value->second.push_back(rank);
  }
  std::vector<std::string> lines;
  for (const auto& [fold, ranks] : values)
    lines.push_back(fmt::format("{}   {}", expressions.text(fold), on_ranks(ranks, shape.ranks)));
  return lines;
}

std::string results(const Schedule& schedule, std::size_t most_lines) {
  const ScheduleShape& shape = schedule.shape();
  const Folds folds = interpret(schedule);
  Expressions expressions(shape, folds.graph);
  Lines lines(most_lines);
  std::vector<std::string> values;
  for (std::int32_t chunk = 0, end; chunk < shape.chunks; chunk = end) {
    if (lines.full()) {
      lines.skip(shape.chunks - chunk);
      break;
    }
    if (chunk == 0) values = values_of_chunk(shape, folds, expressions, 0);
    std::vector<std::string> next;
    for (end = chunk + 1; end < shape.chunks; ++end)
      if ((next = values_of_chunk(shape, folds, expressions, end)) != values) break;
    const std::string label = fmt::format("{} {}", end == chunk + 1 ? "chunk" : "chunks",
                                          to_string(Range{chunk, 1, end - chunk}));
    for (const std::string& value : values) lines.add(label + "   " + value);
    values = std::move(next);
  }
  return lines.text("more chunk");
}

std::string text_of(const Program& program, const Place& place) {
  const std::int32_t number = program.number(place);
  const Instruction& i = program.instruction(number);
  const InstructionInfo& does = info(i.kind);
  const auto chunk = [&](const LocalChunk& local) {
    return fmt::format("{}[{}]", name(local.slot), to_string(Range{local.index, 0, 1}, i.count));
  };
  std::string text = fmt::format("{:>5}  {}", place.index, does.name);
  if (does.writes) text += " " + chunk(i.dst);
  if (does.writes && (does.reads_a || does.sends)) text += " =";
  const std::string a = does.reads_a ? chunk(i.a) : "";
  if (does.combines_message())
    text += i.own_left ? fmt::format(" {} + message", a) : fmt::format(" message + {}", a);
  else if (does.reads_a)
    text += " " + a;
  else if (does.writes && does.sends)
    text += " message";
  if (does.reads_b) text += " + " + chunk(i.b);
  const auto waits = program.waits(number);
  for (std::size_t w = 0; w < waits.size(); ++w)
    text +=
        fmt::format("{}lane {} step {}", w == 0 ? "   after " : ", ",
                    program.lanes()[static_cast<std::size_t>(waits[w].lane)].id, waits[w].index);
  return text;
}

}  // namespace

std::string to_text(const Schedule& schedule, const TextOptions& options) {
  Lines lines(options.most_lines);
  std::int64_t shown = 0;
  for (std::size_t step = 0; step < schedule.steps() && !lines.full(); ++step) {
    std::string head = fmt::format("step {}\n", step);
    for (const Group& group : groups(schedule.step(step))) {
      if (lines.full()) break;
      lines.add(std::exchange(head, "") + group.text());
      shown += group.count;
    }
  }
  lines.skip(schedule.transfers() - shown);
  return numbers_of(schedule) + lines.text("more transfer") + results(schedule, options.most_lines);
}

std::string to_text(const Program& program, const TextOptions& options) {
  const ScheduleShape& shape = program.shape();
  const auto lanes = static_cast<std::int32_t>(program.lanes().size());
  std::int64_t messages = 0, waits = 0;
  for (std::int32_t n = 0; n < program.size(); ++n) {
    messages += info(program.instruction(n).kind).sends;
    waits += static_cast<std::int64_t>(program.waits(n).size());
  }
  std::string text = fmt::format("program of {}: {}, {}, {}, {}, {}, {}\n", name(shape.collective),
                                 plural(shape.ranks, "rank"), plural(shape.chunks, "chunk"),
                                 plural(lanes, "lane"), plural(program.size(), "instruction"),
                                 plural(messages, "message"), plural(waits, "wait"));
  Lines lines(options.most_lines);
  for (std::int32_t l = 0; l < lanes; ++l) {
    if (lines.full()) {
      lines.skip(program.size() - program.lane_begin(l));
      break;
    }
    const Lane& lane = program.lanes()[static_cast<std::size_t>(l)];
    std::string head = fmt::format("rank {} lane {}", lane.rank, lane.id);
    std::string_view before = ": ";
    if (lane.send_to != no_rank)
      head += fmt::format("{}sends to rank {}", std::exchange(before, ", "), lane.send_to);
    if (lane.receive_from != no_rank)
      head +=
          fmt::format("{}receives from rank {}", std::exchange(before, ", "), lane.receive_from);
    if (lane.channel != 0) head += fmt::format("{}channel {}", before, lane.channel);
    for (std::int32_t index = 0; index < program.lane_size(l); ++index)
      lines.add(std::exchange(head, "") + (index == 0 ? "\n" : "") + text_of(program, {l, index}));
    if (program.lane_size(l) == 0) lines.add(head);
  }
  return text + lines.text("more instruction");
}

}  // namespace vranks
