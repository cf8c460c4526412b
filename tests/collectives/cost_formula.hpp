// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Evaluates the formulas of Costs: "at most n(R-1)/R+2n ceil(log2 R)", "log2 R; other R: log2 p+2".
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string_view>

namespace vranks {

using Letters = std::map<char, double>;

struct Bound {
  double value;
  bool is_exact;  // else at most that
};

// Sums of products of numbers, letters and functions; * may be left out. A fault of the formula is
// a failure of the test.
class FormulaReader {
 public:
  FormulaReader(std::string_view text, const Letters& letters) : rest_(text), letters_(letters) {}

  double value() {
    const double x = sum();
    EXPECT_EQ(rest_, "") << "is left over";
    return x;
  }

 private:
  void skip_spaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool take(std::string_view text) {
    skip_spaces();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool is_next_factor() {
    skip_spaces();
    return !rest_.empty() &&
           (std::isalnum(static_cast<unsigned char>(rest_[0])) || rest_[0] == '(');
  }

  double sum() {
    double x = product();
    for (;;) {
      if (take("+"))
        x += product();
      else if (take("-"))
        x -= product();
      else
        return x;
    }
  }
  double product() {
    double x = factor();
    for (;;) {
      if (take("/"))
        x /= factor();
      else if (is_next_factor())
        x *= factor();
      else
        return x;
    }
  }
  double factor() {
    if (take("log2")) return std::log2(factor());
    if (take("ceil(")) return std::ceil(closed(sum()) - 1e-9);
    if (take("floor(")) return std::floor(closed(sum()) + 1e-9);
    if (take("min(")) {
      const double x = sum();
      EXPECT_TRUE(take(","));
      return std::min(x, closed(sum()));
    }
    if (take("(")) return closed(sum());
    if (!is_next_factor()) {
      ADD_FAILURE() << "a number or letter is missing before '" << rest_ << "'";
      rest_ = "";
      return 0;
    }
    const char first = rest_[0];
    if (!std::isdigit(static_cast<unsigned char>(first))) {
      rest_.remove_prefix(1);
      const auto letter = letters_.find(first);
      EXPECT_NE(letter, letters_.end()) << first;
      return letter == letters_.end() ? 0 : letter->second;
    }
    double x = 0;
    for (; !rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0]));
         rest_.remove_prefix(1))
      x = 10 * x + (rest_[0] - '0');
    return x;
  }
  double closed(double x) {
    EXPECT_TRUE(take(")")) << "before '" << rest_ << "'";
    return x;
  }

  std::string_view rest_;
  const Letters& letters_;
};

inline Bound evaluate(std::string_view formula, const Letters& letters) {
  constexpr std::string_view other = "; other R: ", at_most = "at most ";
  const auto semicolon = formula.find(other);
  if (semicolon != std::string_view::npos)
    formula = letters.at('R') == letters.at('p') ? formula.substr(0, semicolon)
                                                 : formula.substr(semicolon + other.size());
  const bool is_exact = !formula.starts_with(at_most);
  if (!is_exact) formula.remove_prefix(at_most.size());
  return {FormulaReader(formula, letters).value(), is_exact};
}

}  // namespace vranks
