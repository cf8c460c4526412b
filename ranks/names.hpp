// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Look-up by name in the tables that hold everything users can name. A row has `name` and
// `aliases` (separated by spaces).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ranks/error.hpp"

namespace vranks {

// Whether `text` is one of the words of `words`, which are separated by single spaces.
inline bool has_word(std::string_view words, std::string_view text) {
  while (!words.empty()) {
    const auto end = words.find(' ');
    if (words.substr(0, end) == text) return true;
    words = end == std::string_view::npos ? std::string_view{} : words.substr(end + 1);
  }
  return false;
}

// The names of all rows, separated by spaces.
template <class Row>
std::string names(std::span<const Row> rows) {
  std::string all;
  for (const Row& row : rows) (all += all.empty() ? "" : " ") += row.name;
  return all;
}

// The row called `text`; `what` is the word for such a thing in the message.
template <class Row>
const Row& find_by_name(std::span<const Row> rows, std::string_view text, std::string_view what) {
  for (const Row& row : rows)
    if (row.name == text || has_word(row.aliases, text)) return row;
  throw Error(ErrorKind::bad_argument, "there is no " + std::string(what) + " '" +
                                           std::string(text) + "'; there are: " + names(rows));
}

}  // namespace vranks
