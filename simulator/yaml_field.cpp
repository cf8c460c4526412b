// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/yaml_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "simulator/units.hpp"

namespace vranks {

namespace {

constexpr int most_depth = 32;
constexpr std::size_t most_values = 200'000;

[[noreturn]] void refuse(const std::string& file, int line, const std::string& problem) {
  throw Error(ErrorKind::bad_input, line < 0 ? fmt::format("{}: {}", file, problem)
                                             : fmt::format("{}:{}: {}", file, line + 1, problem));
}

// Aliases make a small file large, and yaml-cpp follows nesting by calling itself.
void check_nesting(std::string_view text, const std::string& file) {
  int depth = 0, line = 0;
  std::ptrdiff_t indent = 0;
  bool is_start = true, has_content = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      indent = 0;
      is_start = true;
      const std::string_view rest = text.substr(i + 1);
      // The first may say where the document begins.
      if (rest.starts_with("...") || (rest.starts_with("---") && has_content))
        refuse(file, line, "a second document begins here; one is right");
      continue;
    }
    has_content = has_content || (c != ' ' && c != '#');
    if (is_start && (c == ' ' || c == '-' || c == '?' || c == ':')) {
      if (++indent > 200) refuse(file, line, "is indented by more than 200 columns");
      continue;
    }
    // In a comment brackets are text.
    if (is_start && c == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\n')) {
      i = std::min(text.find('\n', i), text.size()) - 1;
      continue;
    }
    is_start = false;
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth > most_depth)
      refuse(file, line, fmt::format("brackets are nested more than {} deep", most_depth));
  }
}

void count_values(const YAML::Node& node, const std::string& file, int depth, std::size_t& count) {
  if (depth > most_depth || ++count > most_values)
    refuse(file, node.Mark().line,
           depth > most_depth ? fmt::format("values are nested more than {} deep", most_depth)
                              : fmt::format("there are more than {} values", most_values));
  if (node.IsSequence())
    for (const YAML::Node& each : node) count_values(each, file, depth + 1, count);
  if (node.IsMap())
    for (const auto& pair : node) {
      count_values(pair.first, file, depth + 1, count);
      count_values(pair.second, file, depth + 1, count);
    }
}

}  // namespace

void YamlField::fail(const std::string& problem) const {
  refuse(file_, node_.IsDefined() ? node_.Mark().line : -1,
         key_.empty() ? problem : fmt::format("{}: {}", key_, problem));
}

std::string YamlField::text() const {
  if (!node_.IsDefined() || !node_.IsScalar()) fail("a text or number is needed here");
  return node_.Scalar();
}

template <class Parse>
double YamlField::parsed(Parse parse) const {
  const std::string value = text();
  try {
    return parse(value);
  } catch (const Error& error) {
    refuse(file_, node_.Mark().line, error.what());
  }
}

double YamlField::quantity(Quantity quantity) const {
  return parsed([&](const std::string& text) { return parse_quantity(quantity, text, key_); });
}

double YamlField::cost(const CostInfo& cost) const {
  return parsed([&](const std::string& text) { return parse_cost(cost, text, key_); });
}

double YamlField::positive(Quantity quantity) const {
  const double value = this->quantity(quantity);
  if (!(value > 0)) fail(fmt::format("{} is not above 0", text()));
  return value;
}

std::int64_t YamlField::whole(std::int64_t least, std::int64_t most) const {
  const std::string value = text();
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || at != end || number < least || number > most)
    fail(fmt::format("'{}' is no whole number from {} to {}", value, least, most));
  return number;
}

bool YamlField::truth() const {
  const std::string value = text();
  if (value != "true" && value != "false")
    fail(fmt::format("'{}' is neither true nor false", value));
  return value == "true";
}

std::vector<YamlField> YamlField::list() const {
  if (!node_.IsSequence()) fail("a list is needed here");
  std::vector<YamlField> result;
  for (const YAML::Node& each : node_) result.emplace_back(each, file_, key_);
  return result;
}

std::vector<YamlField> YamlField::map(std::string_view keys) const {
  if (!node_.IsMap()) fail(fmt::format("keys with values are needed here: {}", keys));
  std::vector<YamlField> result;
  std::set<std::string> seen;
  for (const auto& pair : node_) {
    const YamlField field(pair.second, file_,
                          pair.first.IsScalar() ? pair.first.Scalar() : std::string());
    const YamlField at(pair.first, file_, "");
    if (!pair.first.IsScalar() || !has_word(keys, field.key()))
      at.fail(fmt::format("there is no key '{}' here; there are: {}", field.key(), keys));
    if (!seen.insert(field.key()).second) at.fail(fmt::format("{} is there twice", field.key()));
    result.push_back(field);
  }
  return result;
}

YamlField YamlField::operator[](const std::string& key) const {
  if (!node_.IsMap()) return {YAML::Node(YAML::NodeType::Undefined), file_, key};
  for (const auto& pair : node_)
    if (pair.first.IsScalar() && pair.first.Scalar() == key) return {pair.second, file_, key};
  return {YAML::Node(YAML::NodeType::Undefined), file_, key};
}

YamlField parse_yaml(std::string_view text, const std::string& file) {
  if (text.size() > most_file_bytes)
    refuse(file, -1,
           fmt::format("has {} bytes; at most {} are read", text.size(), most_file_bytes));
  check_nesting(text, file);
  try {
    const YAML::Node document = YAML::Load(std::string(text));
    std::size_t count = 0;
    count_values(document, file, 0, count);
    return {document, file, ""};
  } catch (const YAML::Exception& error) {
    refuse(file, error.mark.is_null() ? -1 : error.mark.line, error.msg);
  }
}

}  // namespace vranks
