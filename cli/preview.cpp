// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/preview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vranks::cli {

namespace {

// Digits that tell neighbours of a dtype apart, as far as a page has room for them.
int shown_digits(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 9;
    case DType::f32:
      return 7;
    case DType::f16:
      return 5;
    default:
      return 4;
  }
}

// Texts of equal width, as many decimals in all of them.
std::vector<std::string> aligned_texts(const List& elements, DType dtype) {
  double largest = 0;
  bool are_whole = true;
  for (const Value& each : elements)
    if (const double* const x = std::get_if<double>(&each); x && std::isfinite(*x)) {
      largest = std::max(largest, std::abs(*x));
      are_whole = are_whole && *x == std::round(*x);
    }
  const int digits = shown_digits(dtype);
  const bool is_plain = largest == 0 || (largest >= 1e-3 && largest < 1e6);
  const int whole_digits = largest < 1 ? 0 : static_cast<int>(std::log10(largest)) + 1;
  const int decimals = are_whole ? 1 : std::max(1, digits - whole_digits);

  std::vector<std::string> texts;
  std::size_t width = 0;
  for (const Value& each : elements) {
    const double* const x = std::get_if<double>(&each);
    if (!x)
      texts.push_back(plain_text(each));
    else
      texts.push_back(is_plain ? fmt::format("{:.{}f}", *x, decimals)
                               : fmt::format("{:.{}e}", *x, digits - 1));
    width = std::max(width, texts.back().size());
  }
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

// Indices 0 ... count - 1, or the first and last of them around -1 if they are more than `most`.
std::vector<std::int64_t> shown_indices(std::int64_t count, std::int64_t most, std::int64_t first,
                                        std::int64_t last) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < (count <= most ? count : first); ++i) indices.push_back(i);
  if (count <= most) return indices;
  indices.push_back(-1);
  for (std::int64_t i = count - last; i < count; ++i) indices.push_back(i);
  return indices;
}

// "[2, 0, :]": where row `row` of all rows lies in a tensor of `shape`.
std::string row_label(const Shape& shape, std::int64_t row) {
  std::string label = ":]";
  for (std::size_t d = shape.size() - 1; d-- > 0; row /= shape[d])
    label = fmt::format("{}, {}", row % shape[d], label);
  return "[" + label;
}

// The elements at those rows and columns, a line a row; -1 stands for what is left out.
std::string rows_text(const std::byte* data, DType dtype, const Shape& shape,
                      const std::vector<std::int64_t>& rows,
                      const std::vector<std::int64_t>& columns) {
  List shown;
  std::size_t label_width = 0;
  for (const std::int64_t r : rows) {
    if (r < 0) continue;
    label_width = std::max(label_width, row_label(shape, r).size());
    for (const std::int64_t c : columns) {
      const std::int64_t i = r * shape.back() + c;
      if (c >= 0) shown.push_back(elements_of(data, dtype, i, i + 1)[0]);
    }
  }
  const std::vector<std::string> texts = aligned_texts(shown, dtype);
  std::string lines;
  std::size_t next = 0;
  for (const std::int64_t r : rows) {
    if (!lines.empty()) lines += '\n';
    lines += fmt::format("{:>{}}", r < 0 ? "..." : row_label(shape, r), label_width);
    if (r < 0) continue;
    for (const std::int64_t c : columns) lines += "  " + (c < 0 ? "..." : texts[next++]);
  }
  return lines;
}

}  // namespace

List elements_of(const std::byte* data, DType dtype, std::int64_t first, std::int64_t last) {
  List list;
  visit(dtype, [&]<class T>() {
    for (std::int64_t i = first; i < last; ++i) {
      const T x = reinterpret_cast<const T*>(data)[i];
      if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
        list.emplace_back(static_cast<std::int64_t>(x));
      else if constexpr (std::is_integral_v<T>)
        list.emplace_back(static_cast<std::uint64_t>(x));
      else if constexpr (std::is_floating_point_v<T>)
        list.emplace_back(static_cast<double>(x));
      else
        list.emplace_back(static_cast<double>(to_float(x)));
    }
  });
  return list;
}

std::string preview(const std::byte* data, DType dtype, const Shape& shape, std::size_t width) {
  const std::int64_t elements = element_count(shape);
  if (elements == 0) return "no elements";
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  if (shape.empty()) return aligned_texts(elements_of(data, dtype, 0, 1), dtype)[0];
  std::string lines;
  for (const std::int64_t edge : {3, 2, 1}) {  // until it fits
    lines = rows_text(data, dtype, shape, shown_indices(elements / columns, 5, 3, 1),
                      shown_indices(columns, 2 * edge + 1, edge, edge));
    if (lines.find('\n') <= width || lines.size() <= width) break;
  }
  return lines;
}

}  // namespace vranks::cli
