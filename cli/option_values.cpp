// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace vranks::cli {

namespace {

std::optional<std::int64_t> whole(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end || number < least || number > most) return {};
  return number;
}

}  // namespace

std::int64_t parse_whole(std::string_view what, std::string_view text, std::int64_t least,
                         std::int64_t most) {
  const auto number = whole(text, least, most);
  if (!number)
    throw Error(ErrorKind::bad_argument, fmt::format("{}: '{}' is not a whole number from {} to {}",
                                                     what, text, least, most));
  return *number;
}

std::int64_t parse_rank(std::string_view what, std::string_view text) {
  const auto rank = whole(text, 0, std::numeric_limits<std::int32_t>::max());
  if (!rank)
    throw Error(ErrorKind::bad_argument,
                fmt::format("{}: '{}' is no rank; ranks are 0 to R-1", what, text));
  return *rank;
}

std::vector<std::int64_t> parse_ranges(std::string_view what, std::string_view text,
                                       std::int64_t least, std::int64_t most) {
  constexpr std::size_t most_numbers = 10000;
  std::vector<std::int64_t> numbers;
  for (std::string_view rest = text;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    const std::size_t dots = part.find("..");
    const auto first = whole(part.substr(0, dots), least, most);
    const auto last =
        dots == std::string_view::npos ? first : whole(part.substr(dots + 2), least, most);
    if (!first || !last || *last < *first)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{}: '{}' in '{}' is no number from {} to {}, nor a range such as "
                              "1..17; give them separated by commas",
                              what, part, text, least, most));
    for (std::int64_t number = *first; number <= *last; ++number) {
      if (numbers.size() == most_numbers)
        throw Error(ErrorKind::bad_argument, fmt::format("{}: '{}' stands for more than {} numbers",
                                                         what, text, most_numbers));
      numbers.push_back(number);
    }
    if (comma == rest.size()) return numbers;
    rest.remove_prefix(comma + 1);
  }
}

std::string parse_path(const std::string& text) {
  if (text.empty()) throw Error(ErrorKind::bad_argument, "a file's name can't be empty");
  return text;
}

double parse_seconds(const std::string& text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || !(seconds > 0) || seconds > 1e6)
    throw Error(ErrorKind::bad_argument,
                fmt::format("'{}' is no time: a number of seconds above 0, at most 1e6", text));
  return seconds;
}

}  // namespace vranks::cli
