// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What a command found, printed as an aligned table for people, or as JSON or CSV for programs.
// Everything goes to standard output; a write that fails throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/options.hpp"
#include "ranks/shape.hpp"

namespace vranks::cli {

// What a terminal or a page shows of a line.
inline constexpr std::size_t page_columns = 100;

// A JSON value that is no object. NaN and infinities become null: JSON has no such numbers.
struct Value;
using List = std::vector<Value>;
struct Value
    : std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List> {
  using variant::variant;
  Value(const char* text) : variant(std::string(text)) {}
  Value(std::string_view text) : variant(std::string(text)) {}
  Value(int number) : variant(std::int64_t{number}) {}
};

Value value_of(const Shape& shape);  // or any numbers
Value value_of(const std::vector<std::vector<std::int64_t>>& lists);
// `text`, or null if it is empty: the key is there but says nothing here.
Value text_or_null(std::string_view text);
// The words of `text`, which are separated by single spaces.
Value words_of(std::string_view text);

std::string json_text(const Value& value);
// As a person or a CSV file reads it: no quotes, lists separated by spaces, lists in lists as JSON,
// nothing for null.
std::string plain_text(const Value& value);

// One record: keys in lower_snake_case for programs, lines of "label  text" for people.
class Report {
 public:
  explicit Report(std::string title) : title_(std::move(title)) {}

  // A key that programs see and people don't.
  void add(std::string key, Value value);
  // The line people see about the keys added around it; text behind a newline is indented to the
  // column of `text`. An empty label continues the line above, and an empty line
  // sets groups apart.
  void line(std::string label, std::string text);

  void print(Format format) const;
  std::string json() const;  // what print() writes for programs

 private:
  struct Key {
    std::string name;
    Value value;
  };
  struct Line {
    std::string label;
    std::string text;
  };
  std::string title_;
  std::vector<Key> keys_;
  std::vector<Line> lines_;
};

// Rows of the same columns.
struct Table {
  std::string name;                  // the JSON key, and the heading for people
  std::vector<std::string> columns;  // JSON keys, and the heads of the columns
  std::vector<List> rows;
  std::size_t shown = SIZE_MAX;  // columns that a page has room for; programs get all
  std::string note = {};         // what people need to read it; below the rows
};

// One JSON object with an array of objects a table. CSV holds one table: throws bad_argument for
// more, whose columns differ.
void print_tables(const std::vector<Table>& tables, Format format);
void print_markdown(const std::vector<Table>& tables);

// `text` in lines of at most `width` columns, broken at spaces where there are some; all but the
// first begin with `indent` spaces, which don't count.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

// "12.4 GB" (decimal), "3.12 ms": four significant digits at most.
std::string bytes_text(double bytes);
std::string seconds_text(double seconds);

}  // namespace vranks::cli
