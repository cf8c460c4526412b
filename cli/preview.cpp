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
  switch (part_dtype(dtype)) {
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

// Calls f(number) for every float, and for both parts of every complex number.
template <class F>
void for_each_float(const List& elements, F&& f) {
  for (const Value& each : elements) {
    if (const double* const x = std::get_if<double>(&each)) f(*x);
    if (const List* const parts = std::get_if<List>(&each)) for_each_float(*parts, f);
  }
}

// The first bytes of an opaque element, if it has many.
std::string shortened(const std::string& digits) {
  constexpr std::size_t most = 16;
  return digits.size() <= most ? digits : digits.substr(0, most) + "..";
}

// Texts of equal width, as many decimals in all of them; complex numbers as "0.5-1.2j".
std::vector<std::string> aligned_texts(const List& elements, DType dtype) {
  double largest = 0;
  bool are_whole = true;
  for_each_float(elements, [&](double x) {
    if (!std::isfinite(x)) return;
    largest = std::max(largest, std::abs(x));
    are_whole = are_whole && x == std::round(x);
  });
  const int digits = shown_digits(dtype);
  const bool is_plain = largest == 0 || (largest >= 1e-3 && largest < 1e6);
  const int whole_digits = largest < 1 ? 0 : static_cast<int>(std::log10(largest)) + 1;
  const int decimals = are_whole ? 1 : std::max(1, digits - whole_digits);

  std::vector<std::string> texts;
  std::size_t width = 0;
  const auto float_text = [&](double x, const char* plain, const char* scientific) {
    return is_plain ? fmt::format(fmt::runtime(plain), x, decimals)
                    : fmt::format(fmt::runtime(scientific), x, digits - 1);
  };
  for (const Value& each : elements) {
    if (const double* const x = std::get_if<double>(&each))
      texts.push_back(float_text(*x, "{:.{}f}", "{:.{}e}"));
    else if (const List* const parts = std::get_if<List>(&each))
      texts.push_back(float_text(std::get<double>((*parts)[0]), "{:.{}f}", "{:.{}e}") +
                      float_text(std::get<double>((*parts)[1]), "{:+.{}f}j", "{:+.{}e}j"));
    else
      texts.push_back(shortened(plain_text(each)));
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
                      std::int64_t opaque_bytes, const std::vector<std::int64_t>& rows,
                      const std::vector<std::int64_t>& columns) {
  List shown;
  std::size_t label_width = 0;
  for (const std::int64_t r : rows) {
    if (r < 0) continue;
    label_width = std::max(label_width, row_label(shape, r).size());
    for (const std::int64_t c : columns) {
      const std::int64_t i = r * shape.back() + c;
      if (c >= 0) shown.push_back(elements_of(data, dtype, i, i + 1, opaque_bytes)[0]);
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

template <class T>
Value value_of_element(T x) {
  if constexpr (std::is_same_v<T, Bool>)
    return x.byte != 0;
  else if constexpr (requires { x.im; })
    return List{static_cast<double>(x.re), static_cast<double>(x.im)};
  else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
    return static_cast<std::int64_t>(x);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<std::uint64_t>(x);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(x);
  else
    return static_cast<double>(to_float(x));
}

}  // namespace

List elements_of(const std::byte* data, DType dtype, std::int64_t first, std::int64_t last,
                 std::int64_t opaque_bytes) {
  List list;
  for (std::int64_t i = first; opaque_bytes > 0 && i < last; ++i) {
    std::string digits;
    for (std::int64_t b = 0; b < opaque_bytes; ++b)
      digits += fmt::format("{:02x}", static_cast<unsigned>(data[i * opaque_bytes + b]));
    list.emplace_back(digits);
  }
  if (opaque_bytes > 0) return list;
  visit(dtype, [&]<class T>() {
    for (std::int64_t i = first; i < last; ++i)
      list.push_back(value_of_element(reinterpret_cast<const T*>(data)[i]));
  });
  return list;
}

std::string preview(const std::byte* data, DType dtype, const Shape& shape_with_bytes,
                    std::size_t width, std::int64_t opaque_bytes) {
  Shape shape = shape_with_bytes;
  if (opaque_bytes > 0) shape.pop_back();
  const std::int64_t elements = element_count(shape);
  if (elements == 0) return "no elements";
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  if (shape.empty()) return aligned_texts(elements_of(data, dtype, 0, 1, opaque_bytes), dtype)[0];
  std::string lines;
  for (const std::int64_t edge : {3, 2, 1}) {  // until it fits
    lines = rows_text(data, dtype, shape, opaque_bytes, shown_indices(elements / columns, 5, 3, 1),
                      shown_indices(columns, 2 * edge + 1, edge, edge));
    if (lines.find('\n') <= width || lines.size() <= width) break;
  }
  return lines;
}

}  // namespace vranks::cli
