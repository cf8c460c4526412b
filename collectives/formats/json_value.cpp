// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/formats/json_value.hpp"

#include <set>
#include <vector>

namespace vranks {

namespace {

using nlohmann::json;

constexpr int most_levels = 8;

// Line and column of that place.
std::string describe(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t begin = before.rfind('\n') + 1;  // 0 if there is none
  return fmt::format("line {}, column {}", line, at - begin + 1);
}

// Refuses what is nested too deep, before anything is made of it.
void check_levels(std::string_view text) {
  int levels = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++levels > most_levels)
        throw BadJson{fmt::format("at {}: more than {} levels of lists and objects",
                                  describe(text, i), most_levels)};
    } else if (c == ']' || c == '}') {
      --levels;
    }
  }
}

}  // namespace

json parse_document(std::string_view text) {
  check_levels(text);
  // The library keeps the last of two equal keys.
  std::vector<std::set<std::string>> keys(most_levels + 2);
  const json::parser_callback_t no_key_twice = [&](int depth, json::parse_event_t event,
                                                   json& parsed) {
    const auto level = static_cast<std::size_t>(depth);
    if (event == json::parse_event_t::object_start) keys[level + 1].clear();
    if (event == json::parse_event_t::key && !keys[level].insert(parsed.get<std::string>()).second)
      throw BadJson{fmt::format("the key '{:.60}' stands twice in one object, {} levels deep",
                                parsed.get_ref<const std::string&>(), depth)};
    return true;
  };
  try {
    return json::parse(text, no_key_twice);
  } catch (const json::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: reason"
    const std::string_view what = error.what();
    const std::size_t reason = what.find(": ");
    throw BadJson{fmt::format("at {}: {:.300}", describe(text, error.byte > 0 ? error.byte - 1 : 0),
                              reason == std::string_view::npos ? what : what.substr(reason + 2))};
  } catch (const json::exception& error) {
    throw BadJson{fmt::format("{:.300}", error.what())};
  }
}

}  // namespace vranks
