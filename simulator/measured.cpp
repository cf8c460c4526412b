// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <type_traits>

#include "ranks/error.hpp"

namespace vranks {

namespace {

// So that a wrong file costs little memory.
constexpr std::size_t most_bytes = std::size_t{64} << 20;
constexpr std::size_t most_columns = 64;

enum Column { collective, machine, ranks, nodes, algorithm, protocol, bytes, time, source };

struct ColumnInfo {
  std::string_view name;
  bool is_needed;
};
constexpr std::array<ColumnInfo, 9> columns{{{"collective", true},
                                             {"machine", true},
                                             {"nranks", true},
                                             {"nnodes", false},
                                             {"algo", true},
                                             {"proto", false},
                                             {"size_bytes", true},
                                             {"time_us", true},
                                             {"source", false}}};

// Where in the file something is wrong.
struct Place {
  std::string_view file;
  std::int64_t line;

  [[noreturn]] void refuse(std::string_view rule) const {
    throw Error(ErrorKind::bad_input, fmt::format("{}:{}: {}", file, line, rule));
  }
};

// Cuts a line at its commas into `fields`, which keep their memory from line to line.
void cut(std::string_view line, const Place& place, std::vector<std::string>& fields) {
  std::size_t count = 0;
  for (bool is_last = false; !is_last; ++count) {
    if (count == most_columns) place.refuse(fmt::format("more than {} columns", most_columns));
    if (count == fields.size()) fields.emplace_back();
    std::string& field = fields[count];
    field.clear();
    if (line.starts_with('"')) {
      std::size_t at = 1;
      for (;; ++at) {
        if (at == line.size())
          place.refuse(fmt::format("column {}: a quote that its line doesn't close", count + 1));
        if (line[at] == '"' && (++at == line.size() || line[at] != '"')) break;
        field += line[at];
      }
      if (at < line.size() && line[at] != ',')
        place.refuse(fmt::format("column {}: text behind the closing quote", count + 1));
      is_last = at == line.size();
      line.remove_prefix(std::min(at + 1, line.size()));
    } else {
      const std::size_t end = line.find(',');
      field = line.substr(0, end);
      if (field.find('"') != std::string::npos)
        place.refuse(fmt::format("column {}: a quote inside a field that isn't quoted", count + 1));
      is_last = end == std::string_view::npos;
      line.remove_prefix(is_last ? line.size() : end + 1);
    }
  }
  fields.resize(count);
}

// Which field of a line holds a column; none: -1.
std::array<std::ptrdiff_t, columns.size()> places_of(std::span<const std::string> header,
                                                     const Place& place) {
  std::array<std::ptrdiff_t, columns.size()> found{};
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto at = std::ranges::find(header, columns[c].name);
    found[c] = at == header.end() ? -1 : at - header.begin();
    if (found[c] < 0 && columns[c].is_needed)
      place.refuse(fmt::format("no column '{}' in the first line", columns[c].name));
    if (at != header.end() && std::find(at + 1, header.end(), columns[c].name) != header.end())
      place.refuse(fmt::format("two columns '{}'", columns[c].name));
  }
  return found;
}

template <class Number>
Number parse_number(std::string_view text, Column column, Number least, const Place& place) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string_view what = columns[column].name;
  if (text.empty() || stop != end || error == std::errc::invalid_argument || number != number)
    place.refuse(fmt::format("{} '{}' is no {}number", what, text,
                             std::is_integral_v<Number> ? "whole " : ""));
  if (error != std::errc{} || number > std::numeric_limits<Number>::max())
    place.refuse(fmt::format("{} '{}' is too large", what, text));
  if (number < least) place.refuse(fmt::format("{} {} is below {}", what, text, least));
  return number;
}

// Microseconds as seconds.
std::optional<double> parse_time(std::string_view text, const Place& place) {
  if (text.empty()) return std::nullopt;
  const double microseconds = parse_number<double>(text, time, 0, place);
  if (!(microseconds > 0)) place.refuse("time_us is 0: it must be above");
  if (microseconds < 1e-6 || microseconds > 1e15)
    place.refuse(fmt::format("time_us '{}' is no call's time: 1e-6 to 1e15 is right", text));
  return microseconds * 1e-6;
}

}  // namespace

std::vector<MeasuredRow> parse_measured(std::string_view text, std::string_view name) {
  Place place{name, 1};
  if (text.size() > most_bytes)
    place.refuse(fmt::format("the file has {} bytes; at most {}", text.size(), most_bytes));
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // as spreadsheets write it

  std::vector<MeasuredRow> rows;
  std::vector<std::string> fields;
  std::array<std::ptrdiff_t, columns.size()> at{};
  std::size_t width = 0;  // of the first line
  for (; !text.empty(); ++place.line) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;

    cut(line, place, fields);
    if (width == 0) {
      at = places_of(fields, place);
      width = fields.size();
      continue;
    }
    if (fields.size() != width)
      place.refuse(fmt::format("{} columns; the first line has {}", fields.size(), width));
    const auto field = [&](Column column) {
      return at[column] < 0 ? std::string() : fields[static_cast<std::size_t>(at[column])];
    };
    const std::string nodes_text = field(nodes);
    rows.push_back({
        .line = place.line,
        .collective = field(collective),
        .machine = field(machine),
        .algorithm = field(algorithm),
        .protocol = field(protocol),
        .source = field(source),
        .ranks = parse_number<std::int32_t>(field(ranks), ranks, 1, place),
        .nodes = nodes_text.empty() ? 0 : parse_number<std::int32_t>(nodes_text, nodes, 1, place),
        .bytes = parse_number<std::int64_t>(field(bytes), bytes, 0, place),
        .seconds = parse_time(field(time), place),
    });
  }
  if (width == 0) place.refuse("no first line with the names of the columns");
  return rows;
}

std::vector<MeasuredRow> read_measured(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::io, fmt::format("can't read '{}'", path));
  // One byte too many is enough to refuse it.
  std::string text(most_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw Error(ErrorKind::io, fmt::format("can't read '{}'", path));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_measured(text, path);
}

SizeBand size_band(std::int64_t bytes) {
  if (bytes < std::int64_t{64} << 10) return SizeBand::small;
  return bytes <= std::int64_t{64} << 20 ? SizeBand::mid : SizeBand::large;
}

std::string_view name(SizeBand band) {
  constexpr std::array<std::string_view, 3> names{"small", "mid", "large"};
  return names[static_cast<std::size_t>(band)];
}

}  // namespace vranks
