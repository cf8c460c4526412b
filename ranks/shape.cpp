// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/shape.hpp"

#include <charconv>

#include "ranks/error.hpp"

namespace vranks {

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    (text += i == 0 ? "" : ", ") += std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Shape parse_shape(std::string_view text) {
  const auto refuse = [&](const char* why) -> Shape {
    throw Error(ErrorKind::bad_argument, "shape '" + std::string(text) + "' " + why);
  };
  constexpr const char* no_list = "is not a list of whole numbers such as 4,16,48";
  Shape shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::int64_t dimension = -1;
    if (at != end && *at == '-')
      return refuse("has a negative dimension; they are 0 or more, such as 4,16,48");
    if (at == end || *at < '0' || *at > '9') return refuse(no_list);
    const auto parsed = std::from_chars(at, end, dimension);
    if (parsed.ec != std::errc{})
      return refuse("has a dimension beyond 2^63 - 1; give one such as 4,16,48");
    shape.push_back(dimension);
    if (parsed.ptr == end) return shape;
    if (*parsed.ptr != ',') return refuse(no_list);
    at = parsed.ptr + 1;
  }
}

std::int64_t element_count(const Shape& shape, std::size_t element_bytes) {
  return element_count(std::span(shape), element_bytes);
}

std::int64_t element_count(std::span<const std::int64_t> dimensions, std::size_t element_bytes) {
  const auto shape = [&] { return to_string(Shape(dimensions.begin(), dimensions.end())); };
  std::int64_t count = 1;
  bool overflow = false;
  bool empty = false;
  for (const std::int64_t dimension : dimensions) {
    if (dimension < 0)
      throw Error(ErrorKind::bad_argument,
                  "shape " + shape() + " has the negative dimension " + std::to_string(dimension));
    empty |= dimension == 0;
    // A zero anywhere makes the product zero, however large the other dimensions are.
    if (dimension != 0) overflow |= __builtin_mul_overflow(count, dimension, &count);
  }
  if (empty) return 0;
  std::int64_t bytes = 0;
  overflow |= __builtin_mul_overflow(count, static_cast<std::int64_t>(element_bytes), &bytes);
  if (overflow)
    throw Error(ErrorKind::bad_argument, "shape " + shape() + " of " +
                                             std::to_string(element_bytes) +
                                             "-byte elements holds more than 2^63 - 1 bytes");
  return count;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    // Behind a zero the product may be any size, and no element is ever reached.
    if (__builtin_mul_overflow(stride, shape[i], &stride)) stride = 0;
  }
  return strides;
}

}  // namespace vranks
