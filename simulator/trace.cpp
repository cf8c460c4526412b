// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace vranks {

namespace {

constexpr double us = 1e6;

// Names of links come from files.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else if (c == '"' || c == '\\')
      (result += '\\') += c;
    else
      result += c;
  }
  return result + '"';
}

class Writer {
 public:
  Writer(const Timeline& timeline, const SizedProgram& program, const Topology& topology,
         const std::function<void(std::string_view)>& write)
      : timeline_(timeline), program_(program.program()), topology_(topology), write_(write) {}

  void run() {
    text_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    name_lanes();
    // In the order of their begins on each receiving lane, so that slices don't overlap there.
    std::vector<std::int32_t> order(timeline_.events.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    std::ranges::stable_sort(order, {}, [&](std::int32_t i) { return event(i).begin; });
    received_.assign(program_.lanes().size(), 0);
    for (const std::int32_t i : order) add(i);
    add_links();
    text_ += "\n]}\n";
    write_(text_);
  }

 private:
  const TimedEvent& event(std::int32_t number) const {
    return timeline_.events[static_cast<std::size_t>(number)];
  }
  const Lane& lane(std::int32_t number) const {
    return program_.lanes()[static_cast<std::size_t>(number)];
  }

  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += std::exchange(is_first_, false) ? "\n" : ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    if (text_.size() < (1U << 20)) return;
    write_(text_);
    text_.clear();
  }

  void name_lanes() {
    for (std::int32_t rank = 0; rank < program_.shape().ranks; ++rank)
      line(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"rank {}"}}}})", rank,
           rank);
    for (const Lane& l : program_.lanes()) {
      std::string does = l.send_to != no_rank ? fmt::format(" to {}", l.send_to) : "";
      if (l.receive_from != no_rank) does += fmt::format(" from {}", l.receive_from);
      if (does.empty()) does = " alone";
      line(
          R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"channel {}{}"}}}})",
          l.rank, l.id, l.channel, does);
    }
  }

  void add(std::int32_t number) {
    const TimedEvent& e = event(number);
    const Lane& l = lane(e.lane);
    const InstructionInfo& does = info(program_.instruction(e.instruction).kind);
    const std::string what =
        fmt::format(R"("args":{{"instruction":"{}","step":{},"window":{},"piece":{},"bytes":{}}})",
                    does.name, program_.place(e.instruction).index, e.window, e.piece, e.bytes);
    if (e.kind == TimedEvent::Kind::work) {
      line(R"({{"ph":"X","name":"{}","cat":"work","pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},{}}})",
           does.combines_message() || does.reads_b ? "combine" : "copy", l.rank, l.id, e.begin * us,
           (e.end - e.begin) * us, what);
      return;
    }
    const std::int32_t to = program_.receiver(e.lane);
    const Lane& there = lane(to);
    line(
        R"({{"ph":"X","name":"send to {}","cat":"send","pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},{}}})",
        l.send_to, l.rank, l.id, e.begin * us, (e.end - e.begin) * us, what);
    // Its bytes arrive as they leave, later by the latency; those of the message before come first.
    double& received = received_[static_cast<std::size_t>(to)];
    const double begin = std::max(received, std::min(e.begin + e.arrival - e.end, e.arrival));
    received = e.arrival;
    line(
        R"({{"ph":"X","name":"receive from {}","cat":"receive","pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},{}}})",
        l.rank, there.rank, there.id, begin * us, (e.arrival - begin) * us, what);
    line(R"({{"ph":"s","name":"message","cat":"message","id":{},"pid":{},"tid":{},"ts":{:.6f}}})",
         number, l.rank, l.id, e.begin * us);
    line(
        R"({{"ph":"f","bp":"e","name":"message","cat":"message","id":{},"pid":{},"tid":{},"ts":{:.6f}}})",
        number, there.rank, there.id, e.arrival * us);
    route_.clear();
    topology_.route(l.rank, l.send_to, route_);
    for (const std::int32_t link : route_) {
      changes_.push_back({link, e.begin, 1});
      changes_.push_back({link, e.end, -1});
    }
  }

  void add_links() {
    const std::int32_t process = program_.shape().ranks;
    line(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"links"}}}})", process);
    std::ranges::sort(changes_, [](const Change& a, const Change& b) {
      return std::pair(a.link, a.time) < std::pair(b.link, b.time);
    });
    for (std::size_t i = 0; i < changes_.size();) {
      const std::int32_t link = changes_[i].link;
      const std::string name = quoted(topology_.links()[static_cast<std::size_t>(link)].name);
      int messages = 0;
      while (i < changes_.size() && changes_[i].link == link) {
        const double time = changes_[i].time;
        for (; i < changes_.size() && changes_[i].link == link && changes_[i].time == time; ++i)
          messages += changes_[i].messages;
        line(R"({{"ph":"C","name":{},"pid":{},"ts":{:.6f},"args":{{"messages":{}}}}})", name,
             process, time * us, messages);
      }
    }
  }

  struct Change {
    std::int32_t link;
    double time;
    int messages;
  };

  const Timeline& timeline_;
  const Program& program_;
  const Topology& topology_;
  const std::function<void(std::string_view)>& write_;
  std::string text_;
  bool is_first_ = true;
  std::vector<double> received_;  // by lane: the last arrival
  std::vector<Change> changes_;
  std::vector<std::int32_t> route_;
};

}  // namespace

void write_trace(const Timeline& timeline, const SizedProgram& program, const Topology& topology,
                 const std::function<void(std::string_view)>& write) {
  Writer(timeline, program, topology, write).run();
}

}  // namespace vranks
