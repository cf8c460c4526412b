// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "ranks/error.hpp"

namespace vranks::golden {

namespace {

[[noreturn]] void refuse(std::int64_t line, const std::string& problem) {
  throw Error(ErrorKind::bad_input, fmt::format("golden records, line {}: {}", line, problem));
}

// The pieces of `text` between `separator`s.
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t end; (end = text.find(separator)) != std::string_view::npos;) {
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  pieces.push_back(text);
  return pieces;
}

template <class T>
T number(std::string_view text, std::int64_t line, int base = 10) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size())
    refuse(line, fmt::format("'{}' is no number", text));
  return value;
}

// "4 7" is {4, 7}, "-" nothing.
std::vector<std::int32_t> ranks_of(std::string_view text, std::int64_t line) {
  std::vector<std::int32_t> ranks;
  if (text != "-")
    for (const std::string_view rank : split(text, " "))
      ranks.push_back(number<std::int32_t>(rank, line));
  return ranks;
}

// The rings or trees of a communicator's channels.
struct Graph {
  std::vector<std::vector<std::int32_t>> rings;
  std::vector<std::vector<Children>> trees;
};

// "graph 3 rings 0 1 2 | 0 1 2", "graph 4 trees 1, 2, - | ...", "graph 5 none"
Graph graph_of(std::string_view text, std::int64_t line) {
  Graph graph;
  const auto [kind, lists] = [&] {
    const std::size_t space = std::min(text.find(' '), text.size());
    return std::pair(text.substr(0, space), text.substr(std::min(space + 1, text.size())));
  }();
  if (kind == "none") return graph;
  if (kind != "rings" && kind != "trees")
    refuse(line, fmt::format("no graph is called '{}'", kind));
  for (const std::string_view channel : split(lists, " | ")) {
    if (kind == "rings") {
      graph.rings.push_back(ranks_of(channel, line));
      continue;
    }
    std::vector<Children>& tree = graph.trees.emplace_back();
    for (const std::string_view children : split(channel, ", "))
      tree.push_back(ranks_of(children, line));
  }
  return graph;
}

// "setting tree ll 8 4 2 values 57": all that the records behind it share.
GoldenRecord setting_of(const std::vector<std::string_view>& words,
                        const std::vector<Graph>& graphs, std::int64_t line) {
  if (words.size() != 8) refuse(line, "a setting has seven fields");
  GoldenRecord record;
  record.algorithm = "nccl_" + std::string(words[1]);
  record.parameters.protocol = parse_protocol(words[2]);
  record.ranks = number<std::int64_t>(words[3], line);
  record.ranks_per_node = number<std::int64_t>(words[4], line);
  record.parameters.channels = number<std::int32_t>(words[5], line);
  if (words[6] != "values" && words[6] != "special")
    refuse(line, fmt::format("no input is called '{}'", words[6]));
  record.input = words[6] == "values" ? InputKind::values : InputKind::special;
  const auto graph = number<std::size_t>(words[7], line);
  if (graph >= graphs.size()) refuse(line, fmt::format("there is no graph {}", graph));
  record.parameters.rings = graphs[graph].rings;
  record.parameters.trees = graphs[graph].trees;
  return record;
}

}  // namespace

Problem GoldenRecord::problem() const {
  return {.collective = collective,
          .ranks = ranks,
          .elements = elements,
          .dtype = parse_dtype(dtype),
          .op = parse_reduce_op(op),
          .nan = NanPolicy::ignore};
}

std::string GoldenRecord::to_string() const {
  return fmt::format("{} {} {}, {} {}, {} ranks ({} a node), {} channels, {} elements ({})",
                     name(collective), algorithm, name(parameters.protocol), dtype, op, ranks,
                     ranks_per_node, parameters.channels, elements,
                     input == InputKind::values ? "values" : "special");
}

std::vector<GoldenRecord> read_golden(std::istream& text) {
  std::vector<GoldenRecord> records;
  std::vector<Graph> graphs;
  GoldenRecord setting;
  std::string line;
  for (std::int64_t at = 1; std::getline(text, line); ++at) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string_view> words = split(line, " ");
    if (words[0] == "graph" && words.size() >= 3) {
      if (number<std::size_t>(words[1], at) != graphs.size()) refuse(at, "graphs count up from 0");
      graphs.push_back(graph_of(std::string_view(line).substr(7 + words[1].size()), at));
    } else if (words[0] == "setting") {
      setting = setting_of(words, graphs, at);
    } else if (words.size() == 5 && !setting.algorithm.empty()) {
      GoldenRecord& record = records.emplace_back(setting);
      record.collective = parse_collective(words[0]);
      record.dtype = words[1];
      record.op = words[2];
      record.elements = number<std::int64_t>(words[3], at);
      record.hash = number<std::uint64_t>(words[4], at, 16);
    } else {
      refuse(at, fmt::format("'{}' is no graph, no setting and no record of a setting", line));
    }
  }
  return records;
}

}  // namespace vranks::golden
