// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ranks/error.hpp"

namespace vranks::cli {

std::string json_text(const Value& value) {
  using nlohmann::json;
  if (const List* const list = std::get_if<List>(&value)) {
    std::string text;
    for (const Value& each : *list) (text += text.empty() ? "" : ", ") += json_text(each);
    return "[" + text + "]";
  }
  return std::visit(
      []<class T>(const T& x) -> std::string {
        if constexpr (std::is_same_v<T, List> || std::is_same_v<T, std::monostate>)
          return "null";
        else  // a path may hold bytes that are no UTF-8
          return json(x).dump(-1, ' ', false, json::error_handler_t::replace);
      },
      static_cast<const Value::variant&>(value));
}

namespace {

bool holds_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) ||
         std::holds_alternative<std::uint64_t>(value) || std::holds_alternative<double>(value);
}

// RFC 4180.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void print_csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i)
    (line += i == 0 ? "" : ",") += csv_field(fields[i]);
  fmt::print("{}\n", line);
}

std::vector<std::string> plain_texts(const List& row) {
  std::vector<std::string> texts;
  for (const Value& value : row) texts.push_back(plain_text(value));
  return texts;
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

// How wide each column is: as its longest text, but where a line would be longer than a page, the
// widest columns give way, as far as their words let them.
std::vector<std::size_t> column_widths(const std::vector<std::vector<std::string>>& rows) {
  constexpr std::size_t gap = 2;  // before each column
  const std::size_t columns = rows[0].size();
  std::vector<std::size_t> widths(columns), least(columns);
  std::size_t all = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    for (const auto& row : rows) {
      widths[c] = std::max(widths[c], row[c].size());
      least[c] = std::max(least[c], longest_word(row[c]));
    }
    all += gap + widths[c];
  }
  for (; all > page_columns; --all) {
    std::size_t widest = columns;  // of those that can give way
    for (std::size_t c = 0; c < columns; ++c)
      if (widths[c] > least[c] && (widest == columns || widths[c] > widths[widest])) widest = c;
    if (widest == columns) break;
    --widths[widest];
  }
  return widths;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

void print_row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
               const std::vector<bool>& is_right) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t c = 0; c < row.size(); ++c) {
    cells.push_back(lines_of(wrapped(row[c], widths[c])));
    height = std::max(height, cells[c].size());
  }
  for (std::size_t l = 0; l < height; ++l) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string text = l < cells[c].size() ? cells[c][l] : "";
      line += is_right[c] ? fmt::format("  {:>{}}", text, widths[c])
                          : fmt::format("  {:<{}}", text, widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

void print_table(const Table& table) {
  const std::size_t columns = std::min(table.shown, table.columns.size());
  std::vector<std::vector<std::string>> rows = {table.columns};
  for (const List& row : table.rows) rows.push_back(plain_texts(row));
  for (auto& row : rows) row.resize(columns);
  std::vector<bool> is_number(columns, !table.rows.empty());
  for (std::size_t c = 0; c < columns; ++c)
    for (const List& row : table.rows) is_number[c] = is_number[c] && holds_number(row[c]);
  const std::vector<std::size_t> widths = column_widths(rows);
  fmt::print("{}\n", table.name);
  for (const auto& row : rows) print_row(row, widths, is_number);
  if (!table.note.empty()) fmt::print("\n  {}\n", wrapped(table.note, page_columns - 2, 2));
}

struct Unit {
  double size;
  std::string_view name;
};

// In the largest unit that leaves a number of 1 or more.
std::string with_unit(double quantity, std::initializer_list<Unit> units) {
  for (const Unit& unit : units)
    if (quantity >= unit.size) return fmt::format("{:.4g} {}", quantity / unit.size, unit.name);
  return fmt::format("{:.4g} {}", quantity / (units.end() - 1)->size, (units.end() - 1)->name);
}

}  // namespace

std::string plain_text(const Value& value) {
  if (const List* const list = std::get_if<List>(&value)) {
    std::string text;
    for (const Value& each : *list)
      (text += text.empty() ? "" : " ") +=
          std::holds_alternative<List>(each) ? json_text(each) : plain_text(each);
    return text;
  }
  if (const std::string* const text = std::get_if<std::string>(&value)) return *text;
  if (const double* const x = std::get_if<double>(&value)) return fmt::format("{}", *x);
  if (std::holds_alternative<std::monostate>(value)) return "";
  return json_text(value);
}

Value value_of(const Shape& shape) {
  List list;
  for (const std::int64_t dimension : shape) list.emplace_back(dimension);
  return list;
}

Value value_of(const std::vector<std::vector<std::int64_t>>& lists) {
  List list;
  for (const auto& each : lists) list.push_back(value_of(each));
  return list;
}

Value text_or_null(std::string_view text) { return text.empty() ? Value() : Value(text); }

Value words_of(std::string_view text) {
  List words;
  while (!text.empty()) {
    const auto end = text.find(' ');
    words.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return words;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines;
  while (text.size() > width) {
    const std::size_t space = text.rfind(' ', width);
    if (space == std::string_view::npos || space == 0) break;
    lines += fmt::format("{}\n{:{}}", text.substr(0, space), "", indent);
    text.remove_prefix(space + 1);
  }
  return lines.append(text);
}

void Report::add(std::string key, Value value) {
  keys_.push_back({std::move(key), std::move(value)});
}

void Report::line(std::string label, std::string text) {
  lines_.push_back({std::move(label), std::move(text)});
}

std::string Report::json() const {
  std::string members;
  for (const Key& key : keys_)
    members += fmt::format("{}  {}: {}", members.empty() ? "" : ",\n", json_text(key.name),
                           json_text(key.value));
  return fmt::format("{{\n{}\n}}\n", members);
}

void Report::print(Format format) const {
  if (format == Format::json) {
    fmt::print("{}", json());
  } else if (format == Format::csv) {
    std::vector<std::string> names, values;
    for (const Key& key : keys_) {
      names.push_back(key.name);
      values.push_back(plain_text(key.value));
    }
    print_csv_line(names);
    print_csv_line(values);
  } else {
    std::size_t width = 0;
    for (const Line& line : lines_) width = std::max(width, line.label.size());
    fmt::print("{}\n\n", title_);
    for (const Line& line : lines_) {
      std::string text = line.text;
      for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
        text.insert(at + 1, width + 4, ' ');
      text = fmt::format("  {:<{}}  {}", line.label, width, text);
      text.erase(text.find_last_not_of(' ') + 1);
      fmt::print("{}\n", text);
    }
  }
}

void print_tables(const std::vector<Table>& tables, Format format) {
  if (format == Format::table) {
    for (const Table& table : tables) {
      if (&table != &tables.front()) fmt::print("\n");
      print_table(table);
    }
    return;
  }
  if (format == Format::csv) {
    if (tables.size() != 1)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("a CSV file holds one table, not {} with different columns; name one",
                              tables.size()));
    print_csv_line(tables[0].columns);
    for (const List& row : tables[0].rows) print_csv_line(plain_texts(row));
    return;
  }
  std::string all;
  for (const Table& table : tables) {
    std::string rows;
    for (const List& row : table.rows) {
      std::string members;
      for (std::size_t c = 0; c < row.size(); ++c)
        members += fmt::format("{}{}: {}", c == 0 ? "" : ", ", json_text(table.columns[c]),
                               json_text(row[c]));
      rows += fmt::format("{}    {{{}}}", rows.empty() ? "" : ",\n", members);
    }
    all += fmt::format("{}  {}: [\n{}\n  ]", all.empty() ? "" : ",\n", json_text(table.name), rows);
  }
  fmt::print("{{\n{}\n}}\n", all);
}

void print_markdown(const std::vector<Table>& tables) {
  const auto line = [](const std::vector<std::string>& cells) {
    fmt::print("| {} |\n", fmt::join(cells, " | "));
  };
  for (const Table& table : tables) {
    if (tables.size() > 1) fmt::print("{}## {}\n\n", &table == &tables[0] ? "" : "\n", table.name);
    line(table.columns);
    line(std::vector<std::string>(table.columns.size(), "---"));
    for (const List& row : table.rows) line(plain_texts(row));
    if (!table.note.empty()) fmt::print("\n{}\n", table.note);
  }
}

std::string bytes_text(double bytes) {
  return with_unit(bytes, {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "bytes"}});
}

std::string seconds_text(double seconds) {
  return with_unit(seconds, {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}});
}

}  // namespace vranks::cli
