// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/job_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

namespace vranks::cli {

namespace {

// "process 3", "processes 0, 2-4 and 7".
std::string process_list(const std::vector<int>& processes) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < processes.size();) {
    std::size_t last = i;
    while (last + 1 < processes.size() && processes[last + 1] == processes[last] + 1) ++last;
    if (last < i + 2) last = i;  // two neighbours read better as "2, 3"
    runs.push_back(last == i ? fmt::format("{}", processes[i])
                             : fmt::format("{}-{}", processes[i], processes[last]));
    i = last + 1;
  }
  std::string list = runs[0];
  for (std::size_t i = 1; i < runs.size(); ++i)
    list += (i + 1 == runs.size() ? " and " : ", ") + runs[i];
  return (processes.size() == 1 ? "process " : "processes ") + list;
}

// The processes that said the same thing, in the order of the first process of each.
struct SameText {
  std::string text;
  std::vector<int> processes;
};
std::vector<SameText> groups_of(const std::vector<std::string>& texts) {
  std::vector<SameText> groups;
  std::map<std::string_view, std::size_t> index;
  for (std::size_t p = 0; p < texts.size(); ++p) {
    const auto [at, is_new] = index.try_emplace(texts[p], groups.size());
    if (is_new) groups.push_back({texts[p], {}});
    groups[at->second].processes.push_back(static_cast<int>(p));
  }
  return groups;
}

// The words of what pack() made.
std::vector<std::string> unpack(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    std::size_t length = 0;
    const char* const colon = std::from_chars(text.data(), text.data() + text.size(), length).ptr;
    text.remove_prefix(static_cast<std::size_t>(colon + 1 - text.data()));
    words.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

// "'--op sum'": words first to last, as a user would type them.
std::string quoted(const std::vector<std::string>& words, std::size_t first, std::size_t last) {
  if (first >= last) return "nothing";
  std::string text;
  for (std::size_t i = first; i < last; ++i) (text += i == first ? "'" : " ") += words[i];
  return text + "'";
}

// "process 3 has '--op sum' where process 0 has '--op mean'": what both share in front and behind
// is left out, but for the option whose value differs.
std::string difference(const SameText& other, const std::vector<std::string>& first) {
  const std::vector<std::string> words = unpack(other.text);
  const std::size_t shorter = std::min(words.size(), first.size());
  std::size_t front = 0;
  while (front < shorter && words[front] == first[front]) ++front;
  std::size_t back = 0;
  while (back < shorter - front && words[words.size() - 1 - back] == first[first.size() - 1 - back])
    ++back;
  if (front > 0 && words[front - 1].starts_with("-")) --front;
  return fmt::format("{} {} {} where process 0 has {}", process_list(other.processes),
                     other.processes.size() == 1 ? "has" : "have",
                     quoted(words, front, words.size() - back),
                     quoted(first, front, first.size() - back));
}

}  // namespace

std::string pack(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}:{}", word.size(), word);
  return text;
}

std::string differences(const std::vector<std::string>& texts) {
  const std::vector<SameText> groups = groups_of(texts);
  const std::vector<std::string> first = unpack(groups[0].text);
  std::string all;
  for (std::size_t i = 1; i < groups.size(); ++i)
    all += (i == 1 ? "" : "; ") + difference(groups[i], first);
  return all;
}

JobError error_of(const std::vector<std::string>& problems) {
  char kind = '0';
  std::string message;
  for (const SameText& group : groups_of(problems)) {
    if (group.text.empty()) continue;
    if (message.empty()) kind = group.text[0];
    message += fmt::format("{}{}: {}", message.empty() ? "" : "; ", process_list(group.processes),
                           group.text.substr(1));
  }
  return {static_cast<ErrorKind>(kind - '0'), message};
}

}  // namespace vranks::cli
