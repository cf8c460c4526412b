// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A JSON document as the readers of formats see it: every value knows the way to it, so that a
// message can name it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ranks/error.hpp"

namespace vranks {

// What is wrong with a document, and where.
struct BadJson {
  std::string message;
};

// Parses a document. Throws BadJson for text that isn't JSON, nesting deeper than 8 levels, and
// keys that stand twice in an object.
nlohmann::json parse_document(std::string_view text);

// A value and the way to it.
class JsonValue {
 public:
  explicit JsonValue(const nlohmann::json& value) : json_(&value) {}

  [[noreturn]] void fail(const std::string& problem) const {
    const std::string path = this->path();
    throw BadJson{fmt::format("at {}: {}", path.empty() ? "/" : path, problem)};
  }

  std::size_t size() const { return json_->size(); }
  bool is_list() const { return json_->is_array(); }
  bool is_text() const { return json_->is_string(); }
  bool has(const char* key) const { return json_->contains(key); }

  JsonValue operator[](std::size_t index) const {
    if (index >= size()) fail(fmt::format("has {} values, but needs more", size()));
    return {(*json_)[index], this, index, nullptr};
  }
  JsonValue key(const char* key) const {
    const auto found = json_->find(key);
    if (found == json_->end()) fail(fmt::format("there is no key '{}'", key));
    return {*found, this, 0, key};
  }

  const JsonValue& list(std::size_t least = 0, std::size_t most = SIZE_MAX) const {
    if (!is_list()) fail(fmt::format("a list is needed, not {}", json_->type_name()));
    if (size() < least || size() > most)
      fail(least == most ? fmt::format("a list of {} values is needed, not of {}", least, size())
                         : fmt::format("a list of {} to {} values is needed, not of {}", least,
                                       most, size()));
    return *this;
  }
  const JsonValue& object(std::initializer_list<std::string_view> keys) const {
    if (!json_->is_object()) fail(fmt::format("an object is needed, not {}", json_->type_name()));
    for (const auto& item : json_->items())
      if (std::ranges::find(keys, item.key()) == keys.end())
        fail(fmt::format("there is no key '{:.60}'; keys are: {}", item.key(),
                         fmt::join(keys, " ")));
    return *this;
  }
  std::string_view text() const {
    if (!is_text()) fail(fmt::format("a string is needed, not {}", json_->type_name()));
    return json_->get_ref<const std::string&>();
  }
  std::int64_t whole(std::int64_t least, std::int64_t most = INT64_MAX) const {
    if (!json_->is_number_integer())
      fail(fmt::format("a whole number is needed, not {}",
                       json_->is_number() ? json_->dump() : json_->type_name()));
    // Above the range of 64 bits with a sign, numbers are kept without one.
    const auto value = json_->get<std::int64_t>();
    if ((json_->is_number_unsigned() && json_->get<std::uint64_t>() > INT64_MAX) || value < least ||
        value > most)
      fail(fmt::format("{} is not between {} and {}", json_->dump(), least, most));
    return value;
  }
  std::int32_t number(std::int32_t least, std::int32_t most = INT32_MAX) const {
    return static_cast<std::int32_t>(whole(least, most));
  }
  double real() const {
    if (!json_->is_number()) fail(fmt::format("a number is needed, not {}", json_->type_name()));
    return json_->get<double>();
  }

  // Calls f(); what it throws happened here.
  template <class F>
  void check(F&& f) const {
    try {
      f();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::not_available) throw;
      fail(error.what());
    }
  }

 private:
  JsonValue(const nlohmann::json& value, const JsonValue* parent, std::size_t index,
            const char* key)
      : json_(&value), parent_(parent), index_(index), key_(key) {}

  std::string path() const {
    if (parent_ == nullptr) return "";
    return parent_->path() + "/" + (key_ != nullptr ? key_ : std::to_string(index_));
  }

  const nlohmann::json* json_;
  const JsonValue* parent_ = nullptr;  // it outlives this one: values are made from the top down
  std::size_t index_ = 0;
  const char* key_ = nullptr;
};

}  // namespace vranks
