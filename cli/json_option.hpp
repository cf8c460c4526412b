// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Options whose text is JSON: lists of numbers, lists of lists, pairs.
//
//   constexpr JsonOption option{"--groups", JsonNumbers::ranks, "[[0,2],[1,3]]"};
//   const auto groups = parse_json_option<Groups>(option, text);
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vranks::cli {

// What the numbers in an option are, whence which are right.
enum class JsonNumbers : std::uint8_t { ranks, counts, places, weights };

struct JsonOption {
  std::string_view name;
  JsonNumbers numbers;
  std::string_view example;
};

// A value in an option's text. Whatever throws is a bad_argument that names the option, the value
// by its indices, such as [1][0], and what would be right.
class JsonItem {
 public:
  JsonItem(const JsonOption& option, const nlohmann::json& value, std::string place = {})
      : option_(option), json_(value), place_(std::move(place)) {}

  [[noreturn]] void fail(std::string_view needed) const;
  bool is_list() const;
  std::size_t size() const;                           // of a list
  JsonItem operator[](std::size_t i) const;           // of a list
  const JsonItem& list(std::size_t count = 0) const;  // throws unless it is one, of `count` > 0
  std::int64_t whole(std::int64_t most = INT64_MAX) const;
  double real() const;

 private:
  const JsonOption& option_;
  const nlohmann::json& json_;
  std::string place_;
};

inline void read_json(const JsonItem& item, std::int32_t& number) {
  number = static_cast<std::int32_t>(item.whole(INT32_MAX));
}
inline void read_json(const JsonItem& item, std::int64_t& number) { number = item.whole(); }
inline void read_json(const JsonItem& item, double& number) { number = item.real(); }
template <class T>
void read_json(const JsonItem& item, std::pair<T, T>& pair) {
  item.list(2);
  read_json(item[0], pair.first);
  read_json(item[1], pair.second);
}
template <class T>
void read_json(const JsonItem& item, std::vector<T>& list) {
  item.list();
  list.resize(item.size());
  for (std::size_t i = 0; i < list.size(); ++i) read_json(item[i], list[i]);
}

// The document that `text` is. Throws bad_argument for what isn't JSON.
nlohmann::json parse_json_text(const JsonOption& option, const std::string& text);

template <class T>
T parse_json_option(const JsonOption& option, const std::string& text) {
  T result;
  const nlohmann::json document = parse_json_text(option, text);
  read_json(JsonItem(option, document), result);
  return result;
}

}  // namespace vranks::cli
