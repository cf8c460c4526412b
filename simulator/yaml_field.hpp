// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A value of a YAML file that knows where it stands. What is wrong with it is said with file and
// line.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/costs.hpp"

namespace vranks {

class YamlField {
 public:
  YamlField() = default;
  // `key`: what it is the value of, for messages.
  YamlField(YAML::Node node, std::string file, std::string key)
      : node_(std::move(node)), file_(std::move(file)), key_(std::move(key)) {}

  bool is_there() const { return node_.IsDefined() && !node_.IsNull(); }
  const std::string& file() const { return file_; }
  const std::string& key() const { return key_; }

  // Throws bad_input "file:line: key: problem".
  [[noreturn]] void fail(const std::string& problem) const;

  std::string text() const;
  double quantity(Quantity quantity) const;
  double positive(Quantity quantity) const;  // not 0 either
  double cost(const CostInfo& cost) const;
  std::int64_t whole(std::int64_t least, std::int64_t most) const;
  bool truth() const;
  bool is_map() const { return node_.IsMap(); }
  bool is_list() const { return node_.IsSequence(); }
  std::vector<YamlField> list() const;
  // The pairs of a map. Throws for a key that comes twice and for one that `keys`, names separated
  // by spaces, doesn't have.
  std::vector<YamlField> map(std::string_view keys) const;
  // A value of a map; one that isn't there has is_there() false.
  YamlField operator[](const std::string& key) const;

 private:
  // What parse(text()) gives; what is wrong with it is said with file and line.
  template <class Parse>
  double parsed(Parse parse) const;

  YAML::Node node_;
  std::string file_, key_;
};

inline constexpr std::size_t most_file_bytes = 1 << 20;

// The document of a file. Throws bad_input for what isn't YAML, has several documents, or is
// longer or deeper than any machine needs.
YamlField parse_yaml(std::string_view text, const std::string& file);

}  // namespace vranks
