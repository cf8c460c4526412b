// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/nccl_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "ranks/error.hpp"

namespace vranks {

namespace {

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::bad_input,
              "NCCL's log: " + fmt::format(format, std::forward<Args>(args)...));
}

// Reads a text from its beginning; what doesn't match is left alone.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void skip_spaces() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  bool word(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  bool number(std::int32_t& value) {
    skip_spaces();
    const auto [end, error] = std::from_chars(text_.begin(), text_.end(), value);
    if (error != std::errc{}) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.begin()));
    return true;
  }
  // Up to the next space, in lower case.
  std::string name() {
    std::string name(text_.substr(0, std::min(text_.find(' '), text_.size())));
    text_.remove_prefix(name.size());
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
  }
  bool is_at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

// What `line` says behind the prefix; nothing if it is no line of NCCL's.
std::string_view message_of(std::string_view line) {
  constexpr std::string_view mark = "NCCL INFO ";
  const std::size_t at = line.find(mark);
  return at == std::string_view::npos ? std::string_view{} : line.substr(at + mark.size());
}

template <class F>
void for_each_message(std::string_view log, F&& f) {
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (const std::string_view message = message_of(line); !message.empty()) f(message);
    log.remove_prefix(std::min(end + 1, log.size()));
  }
}

struct RingLine {
  std::int32_t channel = 0, channels = 0;
  nccl::Ring ring;
};

// "Channel 00/02 : 0 1 2 3"; nothing for others, such as "Channel 00/0 : 0[0] -> 1[0] via P2P".
std::optional<RingLine> ring_line(std::string_view message, std::int64_t ranks) {
  Scanner scan(message);
  RingLine line;
  if (!scan.word("Channel ") || !scan.number(line.channel) || !scan.word("/") ||
      !scan.number(line.channels) || !scan.word(" :"))
    return {};
  for (std::int32_t rank = 0; scan.number(rank);) line.ring.push_back(rank);
  scan.skip_spaces();
  if (message.find("->") != std::string_view::npos) return {};
  if (scan.word("..."))
    refuse("the ring of channel {} is cut off behind {} of {} ranks; check with fewer ranks",
           line.channel, line.ring.size(), ranks);
  if (!scan.is_at_end()) refuse("the ring of channel {} isn't one: '{}'", line.channel, message);
  return line;
}

void take_ring(NcclLists& lists, RingLine line, std::int64_t ranks) {
  if (line.channels < 1 || line.channel < 0 || line.channel >= line.channels)
    refuse("there is a ring of channel {} of {}", line.channel, line.channels);
  if (lists.rings.empty()) lists.rings.resize(static_cast<std::size_t>(line.channels));
  if (lists.channels() != line.channels)
    refuse("there are rings of {} channels and of {}", lists.channels(), line.channels);
  if (static_cast<std::int64_t>(line.ring.size()) != ranks)
    refuse("the ring of channel {} has {} ranks, not {}", line.channel, line.ring.size(), ranks);
  nccl::Ring& ring = lists.rings[static_cast<std::size_t>(line.channel)];
  if (!ring.empty()) refuse("channel {} has two rings: of two communicators?", line.channel);
  ring = std::move(line.ring);
}

// Of a channel, by rank.
using Branches = std::map<std::int32_t, Children>;

// " [0] 1/-1/-1->0->-1 [1] ..." behind "Trees".
void take_branches(std::map<std::int32_t, Branches>& trees, std::string_view message) {
  Scanner scan(message);
  if (!scan.word("Trees")) return;
  while (true) {
    scan.skip_spaces();
    if (scan.is_at_end()) return;
    std::int32_t channel = 0, rank = 0, parent = 0;
    std::int32_t down[3] = {-1, -1, -1};
    if (!scan.word("[") || !scan.number(channel) || !scan.word("] ") || !scan.number(down[0]) ||
        !scan.word("/") || !scan.number(down[1]) || !scan.word("/") || !scan.number(down[2]) ||
        !scan.word("->") || !scan.number(rank) || !scan.word("->") || !scan.number(parent))
      refuse("these are no trees: '{}'", message);
    Children children;
    for (const std::int32_t child : down)
      if (child >= 0) children.push_back(child);
    if (!trees[channel].emplace(rank, children).second)
      refuse("rank {} has two places in the tree of channel {}: of two communicators?", rank,
             channel);
  }
}

}  // namespace

NcclLists parse_nccl_lists(std::string_view log, std::int64_t ranks) {
  NcclLists lists;
  std::map<std::int32_t, Branches> trees;
  for_each_message(log, [&](std::string_view message) {
    if (std::optional<RingLine> line = ring_line(message, ranks))
      take_ring(lists, std::move(*line), ranks);
    take_branches(trees, message);
  });
  if (lists.rings.empty()) refuse("it names no rings ('Channel 00/01 : 0 1 2 3')");
  for (std::int32_t k = 0; k < lists.channels(); ++k) {
    if (lists.rings[static_cast<std::size_t>(k)].empty())
      refuse("channel {} of {} has no ring", k, lists.channels());
    if (trees.empty()) continue;
    nccl::Tree& tree = lists.trees.emplace_back(static_cast<std::size_t>(ranks));
    const Branches& branches = trees[k];
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const auto found = branches.find(rank);
      if (found == branches.end())
        refuse("rank {} has no place in the tree of channel {} ('Trees [0] 1/-1/-1->0->-1')", rank,
               k);
      tree[static_cast<std::size_t>(rank)] = found->second;
    }
    if (static_cast<std::int64_t>(branches.size()) != ranks)
      refuse("the tree of channel {} has {} ranks, not {}", k, branches.size(), ranks);
  }
  return lists;
}

std::string NcclChoice::text() const {
  return first_channel == last_channel
             ? fmt::format("{} {}, channel {}", algorithm, protocol, first_channel)
             : fmt::format("{} {}, channels {} to {}", algorithm, protocol, first_channel,
                           last_channel);
}

std::optional<NcclChoice> parse_nccl_choice(std::string_view log) {
  std::optional<NcclChoice> last;
  for_each_message(log, [&](std::string_view message) {
    constexpr std::string_view mark = " Bytes -> Algo ";
    const std::size_t at = message.find(mark);
    if (at == std::string_view::npos) return;
    Scanner scan(message.substr(at + mark.size()));
    NcclChoice choice;
    choice.algorithm = scan.name();
    if (!scan.word(" proto ")) return;
    choice.protocol = scan.name();
    if (!scan.word(" channel{Lo..Hi}={") || !scan.number(choice.first_channel) ||
        !scan.word("..") || !scan.number(choice.last_channel))
      return;
    last = choice;
  });
  return last;
}

}  // namespace vranks
