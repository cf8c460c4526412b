// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Options whose text is JSON: lists of numbers, lists of lists, pairs.
//
//   const auto groups = parse_json_option<Groups>("--groups", "[[0, 2], [1, 3]]");
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/formats/json_value.hpp"
#include "ranks/error.hpp"

namespace vranks::cli {

inline void read_json(const JsonValue& value, std::int32_t& number) { number = value.number(0); }
inline void read_json(const JsonValue& value, std::int64_t& number) { number = value.whole(0); }
inline void read_json(const JsonValue& value, double& number) { number = value.real(); }
template <class T>
void read_json(const JsonValue& value, std::pair<T, T>& pair) {
  value.list(2, 2);
  read_json(value[0], pair.first);
  read_json(value[1], pair.second);
}
template <class T>
void read_json(const JsonValue& value, std::vector<T>& list) {
  value.list();
  list.resize(value.size());
  for (std::size_t i = 0; i < list.size(); ++i) read_json(value[i], list[i]);
}

// Calls read(value) with the document that `text` is. Throws bad_argument, naming the option and
// the place, for what isn't JSON or what `read` refuses.
template <class Read>
void with_json_option(std::string_view option, const std::string& text, Read&& read) {
  try {
    const nlohmann::json document = parse_document(text);
    read(JsonValue(document));
  } catch (const BadJson& bad) {
    throw Error(ErrorKind::bad_argument, fmt::format("{}: {}", option, bad.message));
  }
}

// Numbers in lists and pairs must be whole and not negative, unless T holds doubles.
template <class T>
T parse_json_option(std::string_view option, const std::string& text) {
  T result;
  with_json_option(option, text, [&](const JsonValue& value) { read_json(value, result); });
  return result;
}

}  // namespace vranks::cli
