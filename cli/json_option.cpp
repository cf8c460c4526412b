// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/json_option.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ranks/error.hpp"

namespace vranks::cli {

namespace {

using nlohmann::json;

std::string_view rule_of(JsonNumbers numbers) {
  switch (numbers) {
    case JsonNumbers::ranks:
      return "ranks are 0 to R-1";
    case JsonNumbers::counts:
      return "counts are whole numbers from 0 to 2^63 - 1";
    case JsonNumbers::places:
      return "displacements are whole numbers from 0 to 2^63 - 1";
    case JsonNumbers::weights:
      return "weights are numbers";
  }
  __builtin_unreachable();
}

// As much of `text` as a line has room for.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 40;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

std::string text_of(const json& value) {
  // The shortest of all texts that are that number: 1e+23 where dump() says 9.999999999999999e+22.
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return shortened(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

void JsonItem::fail(std::string_view needed) const {
  throw Error(ErrorKind::bad_argument, fmt::format("{}: {}{} is wrong: {}, as in {}", option_.name,
                                                   place_.empty() ? "" : place_ + " = ",
                                                   text_of(json_), needed, option_.example));
}

bool JsonItem::is_list() const { return json_.is_array(); }
std::size_t JsonItem::size() const { return json_.size(); }
JsonItem JsonItem::operator[](std::size_t i) const {
  return {option_, json_[i], fmt::format("{}[{}]", place_, i)};
}

const JsonItem& JsonItem::list(std::size_t count) const {
  if (!is_list()) fail("a list is needed");
  if (count > 0 && size() != count) fail(fmt::format("a list of {} is needed", count));
  return *this;
}

std::int64_t JsonItem::whole(std::int64_t most) const {
  if (!json_.is_number_integer()) fail(rule_of(option_.numbers));
  // Above the range of 64 bits with a sign, numbers are kept without one.
  const bool is_huge = json_.is_number_unsigned() && json_.get<std::uint64_t>() > INT64_MAX;
  const auto number = json_.get<std::int64_t>();
  if (is_huge || number < 0 || number > most) fail(rule_of(option_.numbers));
  return number;
}

double JsonItem::real() const {
  if (!json_.is_number()) fail(rule_of(option_.numbers));
  return json_.get<double>();
}

json parse_json_text(const JsonOption& option, const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::bad_argument, fmt::format("{}: '{}' {}, such as {}", option.name,
                                                     shortened(text), why, option.example));
  };
  constexpr int most_levels = 8;  // so that no text makes a document too deep
  int levels = 0, deepest = 0;
  for (const char c : text) deepest = std::max(deepest, levels += (c == '[') - (c == ']'));
  if (deepest > most_levels) refuse(fmt::format("has more than {} lists in lists", most_levels));
  if (text.empty()) refuse("is empty; give a list");
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    refuse(fmt::format("is no list as JSON writes it, from character {} on; give one",
                       std::max<std::size_t>(error.byte, 1)));
  } catch (const json::exception&) {  // the only other one that parsing throws
    refuse("holds a number beyond the range of f64; give smaller ones");
  }
  return {};
}

}  // namespace vranks::cli
