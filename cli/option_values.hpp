// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How the texts behind options become values. Each throws bad_argument, naming what was given and
// what would be right.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ranks/error.hpp"

namespace vranks::cli {

// An option whose text `parse` turns into `target`. What is wrong with it is said by `parse`.
template <class Target, class Parse>
boost::program_options::typed_value<std::string>* parsed(Target& target, Parse parse,
                                                         const char* value_name) {
  return boost::program_options::value<std::string>()
      ->value_name(value_name)
      ->notifier([&target, parse](const std::string& text) { target = parse(text); });
}

// A whole number from `least` to `most`; `what` names it in the message: "--channels".
std::int64_t parse_whole(std::string_view what, std::string_view text, std::int64_t least,
                         std::int64_t most);

// A rank, of a number of ranks that is not known yet.
std::int64_t parse_rank(std::string_view what, std::string_view text);

// "1..4,8": 1 2 3 4 8, of numbers from `least` to `most`.
std::vector<std::int64_t> parse_ranges(std::string_view what, std::string_view text,
                                       std::int64_t least, std::int64_t most);

// The name of a file.
std::string parse_path(const std::string& text);

// Any text, as it is.
inline std::string parse_text(const std::string& text) { return text; }

// What parse(text) gives, or nothing for that word, such as "auto" or "all".
template <class Parse>
auto parse_or(const char* word, Parse parse) {
  return [word, parse](const std::string& text) -> std::optional<decltype(parse(text))> {
    if (text == word) return {};
    try {
      return parse(text);
    } catch (const Error& error) {  // it ends with the list of names
      throw Error(error.kind(), fmt::format("{} {}", error.what(), word));
    }
  };
}

// "A,B": what `parse` gives for each part.
template <class Parse>
auto parse_list(Parse parse) {
  return [parse](const std::string& text) {
    std::vector<decltype(parse(text))> values;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      values.push_back(parse(text.substr(begin, end - begin)));
      begin = end + 1;
    }
    return values;
  };
}

// A time above 0 and at most 1e6. Throws bad_argument.
double parse_seconds(const std::string& text);
// What --timeout says of jobs of several processes.
inline constexpr const char* timeout_help =
    "without any message, after which a process is taken for lost and all end";

}  // namespace vranks::cli
