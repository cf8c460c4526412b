// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <string_view>

#include "ranks/error.hpp"

namespace vranks {

static_assert(std::endian::native == std::endian::little, "elements are read and written as is");

namespace {

constexpr std::string_view magic = "\x93NUMPY";
// Hundreds of times what numpy writes for any plain array; a longer claim is a broken file.
constexpr std::int64_t most_header_bytes = std::int64_t{1} << 20;
constexpr std::size_t alignment = 64;

// `text` from a file, fit for a terminal: short, and without control characters.
std::string printable(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown(text.substr(0, most));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return text.size() > most ? shown + "..." : shown;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// How numpy writes a kind of dtype.
char letter(DTypeKind kind) {
  switch (kind) {
    case DTypeKind::floating:
      return 'f';
    case DTypeKind::signed_integer:
      return 'i';
    case DTypeKind::unsigned_integer:
      return 'u';
    case DTypeKind::boolean:
      return 'b';
    case DTypeKind::complex:
      return 'c';
  }
  __builtin_unreachable();
}

// The dtype that a type string without its byte order ("f4") means by itself: u16 for "u2", as
// bf16's letter differs from the one that it travels under, and so for fp8.
std::optional<DType> find_dtype(std::string_view type) {
  for (const DTypeInfo& row : dtypes())
    if (row.npy.substr(1) == type && row.npy[1] == letter(row.kind)) return row.dtype;
  return std::nullopt;
}

std::string supported_types() {
  std::string all;
  for (const DTypeInfo& row : dtypes())
    if (find_dtype(row.npy.substr(1)) == row.dtype)
      (all += all.empty() ? "" : " ") += std::string(row.npy);
  return all + " |V1 |V2 ...";
}

// What the key descr says: a dtype, or elements of so many bytes.
struct ElementType {
  DType dtype;
  std::int64_t opaque_bytes = 0;
};

// A strict reader of the one Python literal that a header may hold.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader read() {
    std::optional<ElementType> type;
    std::optional<bool> fortran_order;
    std::optional<Shape> shape;
    need('{');
    while (!take('}')) {
      const std::string_view key = string();
      need(':');
      if (key == "descr") {
        refuse_second(type.has_value(), key);
        type = descr();
      } else if (key == "fortran_order") {
        refuse_second(fortran_order.has_value(), key);
        fortran_order = boolean();
      } else if (key == "shape") {
        refuse_second(shape.has_value(), key);
        shape = tuple();
      } else {
        refuse(ErrorKind::bad_input,
               fmt::format("its header has the unknown key '{}'; the keys are descr, "
                           "fortran_order and shape",
                           printable(key)));
      }
      if (take(',')) continue;
      need('}');
      break;
    }
    skip_spaces();
    if (at_ != text_.size()) malformed("nothing but spaces behind the dictionary");
    refuse_missing(type.has_value(), "descr");
    refuse_missing(fortran_order.has_value(), "fortran_order");
    refuse_missing(shape.has_value(), "shape");
    if (*fortran_order)
      refuse(ErrorKind::not_supported,
             "its elements are in Fortran order; save numpy.ascontiguousarray(x)");
    if (shape->empty())
      refuse(ErrorKind::not_supported,
             "it holds a single number of shape (); dimension 0 counts the ranks, so save "
             "x.reshape(1)");
    if (type->opaque_bytes > 0) shape->push_back(type->opaque_bytes);
    return {.dtype = type->dtype, .shape = *std::move(shape), .opaque_bytes = type->opaque_bytes};
  }

 private:
  [[noreturn]] void refuse(ErrorKind kind, const std::string& why) const {
    throw Error(kind, fmt::format("'{}' can't be read: {}", name_, why));
  }

  [[noreturn]] void malformed(std::string_view expected) const {
    const std::string found =
        at_ < text_.size() ? "'" + printable(text_.substr(at_, 8)) + "'" : "the header's end";
    refuse(ErrorKind::bad_input,
           fmt::format("its header is malformed at character {}: expected {}, found {}", at_,
                       expected, found));
  }

  void refuse_second(bool seen, std::string_view key) const {
    if (seen)
      refuse(ErrorKind::bad_input, fmt::format("its header has the key '{}' more than once", key));
  }

  void refuse_missing(bool seen, std::string_view key) const {
    if (!seen) refuse(ErrorKind::bad_input, fmt::format("its header lacks the key '{}'", key));
  }

  void skip_spaces() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  // Passes over spaces and, if it comes next, `c`.
  bool take(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void need(char c) {
    if (!take(c)) malformed(fmt::format("'{}'", c));
  }

  bool take_word(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // Between single or double quotes. Escapes are refused: no key and no dtype needs them.
  std::string_view string() {
    skip_spaces();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) malformed("a string");
    const auto end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) malformed("a string that ends");
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    if (content.find_first_of("\\\n") != std::string_view::npos)
      malformed("a string without backslashes or line breaks");
    at_ = end + 1;
    return content;
  }

  bool boolean() {
    if (take_word("True")) return true;
    if (!take_word("False")) malformed("True or False");
    return false;
  }

  std::int64_t dimension() {
    skip_spaces();
    const char* const first = text_.data() + at_;
    const char* const last = text_.data() + text_.size();
    std::int64_t value = 0;
    const auto parsed = std::from_chars(first, last, value);
    if (parsed.ec == std::errc::invalid_argument) malformed("a number");
    const std::string_view digits(first, static_cast<std::size_t>(parsed.ptr - first));
    if (digits.front() == '-')
      refuse(ErrorKind::bad_input,
             fmt::format("its shape has the negative dimension {}", printable(digits)));
    if (parsed.ec == std::errc::result_out_of_range)
      refuse(ErrorKind::bad_input,
             fmt::format("its shape has the dimension {}, more than 2^63 - 1", printable(digits)));
    // Python 2 reads 010 as eight, and Python 3 not at all.
    if (digits.size() > 1 && digits.front() == '0') malformed("a number without leading zeros");
    at_ += digits.size();
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // a `long` of Python 2
    return value;
  }

  // "()", "(4,)", "(4, 3)" or "(4, 3,)": "(4)" is a number in Python, not a tuple.
  Shape tuple() {
    Shape shape;
    need('(');
    while (!take(')')) {
      shape.push_back(dimension());
      if (take(',')) continue;
      if (shape.size() == 1) malformed("',' (a shape of one dimension is written (4,))");
      need(')');
      break;
    }
    return shape;
  }

  ElementType descr() {
    if (take('[') || take('('))
      refuse(ErrorKind::not_supported,
             fmt::format("its dtype is structured; save one field, as x['field'] (supported: {})",
                         supported_types()));
    const std::string_view type = string();
    const char order = type.empty() ? '\0' : type.front();
    if (type == "|O" || type == "O")
      refuse(ErrorKind::not_supported,
             fmt::format("its elements are Python objects (dtype '{}'); save x.astype of a number "
                         "type (supported: {})",
                         type, supported_types()));
    if (type.starts_with("|V")) return {DType::u8, opaque_bytes(type)};
    const auto dtype = type.size() < 2 ? std::nullopt : find_dtype(type.substr(1));
    if (!dtype || std::string_view("<>|=").find(order) == std::string_view::npos)
      refuse(ErrorKind::not_supported,
             fmt::format("its dtype is '{}' (supported: {})", printable(type), supported_types()));
    if (order == '>' && size_bytes(*dtype) > 1)
      refuse(ErrorKind::not_supported, fmt::format("its elements are big endian (dtype '{}'); save "
                                                   "x.astype(x.dtype.newbyteorder('<'))",
                                                   type));
    return {*dtype};
  }

  // The 16 of "|V16".
  std::int64_t opaque_bytes(std::string_view type) const {
    const char* const last = type.data() + type.size();
    std::int64_t bytes = 0;
    const auto parsed = std::from_chars(type.data() + 2, last, bytes);
    if (parsed.ec != std::errc{} || parsed.ptr != last || bytes < 1)
      refuse(ErrorKind::not_supported,
             fmt::format("its dtype is '{}': elements of |V have 1 to 2^63 - 1 bytes",
                         printable(type)));
    return bytes;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

// Where the dictionary's text begins and ends.
struct HeaderPlace {
  std::int64_t begin;
  std::int64_t end;
};

HeaderPlace find_header(std::span<const std::byte> file_start, std::int64_t file_bytes,
                        const std::string& name) {
  const std::string_view text = as_text(file_start);
  const auto refuse = [&](ErrorKind kind, const std::string& why) {
    throw Error(kind, fmt::format("'{}' can't be read: {}", name, why));
  };
  if (text.empty()) refuse(ErrorKind::bad_input, "it is no .npy file: it is empty");
  if (!text.starts_with(magic))
    refuse(ErrorKind::bad_input,
           fmt::format("it is no .npy file: it begins with '{}' instead of '\\x93NUMPY'",
                       printable(text.substr(0, magic.size()))));
  const auto byte = [&](std::size_t i) {
    if (i >= file_start.size())
      refuse(ErrorKind::bad_input,
             fmt::format("the file is truncated: it ends at byte {}, inside its header", i));
    return std::to_integer<unsigned>(file_start[i]);
  };
  const unsigned major = byte(6);
  const unsigned minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    refuse(ErrorKind::not_supported,
           fmt::format("its format version is {}.{} (supported: 1.0, 2.0 and 3.0)", major, minor));
  std::int64_t length = byte(8) + (byte(9) << 8);
  if (major > 1) length += std::int64_t{byte(10)} * 65536 + std::int64_t{byte(11)} * 16777216;
  const std::int64_t begin = major > 1 ? 12 : 10;
  if (length > file_bytes - begin)
    refuse(ErrorKind::bad_input,
           fmt::format("the file is truncated: its header needs {} bytes, it has {}",
                       begin + length, file_bytes));
  if (length > most_header_bytes)
    refuse(ErrorKind::not_supported,
           fmt::format("its header has {} bytes, more than {}", length, most_header_bytes));
  return {begin, begin + length};
}

}  // namespace

std::int64_t npy_header_end(std::span<const std::byte> file_start, std::int64_t file_bytes,
                            const std::string& name) {
  return find_header(file_start, file_bytes, name).end;
}

NpyHeader parse_npy_header(std::span<const std::byte> file_start, std::int64_t file_bytes,
                           const std::string& name) {
  const HeaderPlace place = find_header(file_start, file_bytes, name);
  if (static_cast<std::size_t>(place.end) > file_start.size())
    throw Error(ErrorKind::bad_input,
                fmt::format("'{}' can't be read: its header needs {} bytes, {} were given", name,
                            place.end, file_start.size()));
  const auto text = as_text(file_start.first(static_cast<std::size_t>(place.end)))
                        .substr(static_cast<std::size_t>(place.begin));
  NpyHeader header = HeaderReader(text, name).read();
  header.data_offset = place.end;

  std::int64_t bytes = 0;
  try {
    bytes = header.bytes();
  } catch (const Error& impossible) {
    throw Error(ErrorKind::bad_input,
                fmt::format("'{}' can't be read: {}", name, impossible.what()));
  }
  const std::int64_t rest = file_bytes - place.end;
  if (bytes > rest)
    throw Error(ErrorKind::bad_input,
                fmt::format("'{}' is truncated: needs {} bytes behind its header of {} for the "
                            "{} elements of shape {}, has {}",
                            name, bytes, place.end, vranks::name(header.dtype),
                            to_string(header.shape), rest));
  if (bytes < rest)
    throw Error(
        ErrorKind::bad_input,
        fmt::format("'{}' has {} bytes behind its last element (shape {} of {} fills {} "
                    "bytes behind the header, the file has {}); a .npy file holds one array",
                    name, rest - bytes, to_string(header.shape), vranks::name(header.dtype), bytes,
                    rest));
  return header;
}

std::string make_npy_header(DType dtype, const Shape& shape, std::int64_t opaque_bytes) {
  const bool is_opaque = opaque_bytes != 0;
  if (is_opaque &&
      (opaque_bytes < 0 || dtype != DType::u8 || shape.empty() || shape.back() != opaque_bytes))
    throw Error(ErrorKind::bad_argument,
                fmt::format("elements of {} bytes are saved from u8 with a last dimension of as "
                            "many, not from {} of shape {}",
                            opaque_bytes, name(dtype), to_string(shape)));
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                  is_opaque ? fmt::format("|V{}", opaque_bytes) : std::string(info(dtype).npy),
                  to_string(is_opaque ? Shape(shape.begin(), shape.end() - 1) : shape));
  const auto padded = [&](std::size_t prefix) {
    return (prefix + text.size() + 1 + alignment - 1) / alignment * alignment - prefix;
  };
  const bool short_length = padded(10) <= 0xffff;
  const std::size_t length = padded(short_length ? 10 : 12);
  if (length > static_cast<std::size_t>(most_header_bytes))
    throw Error(ErrorKind::not_supported,
                fmt::format("a tensor of {} dimensions can't be saved: its .npy header would have "
                            "{} bytes, more than {}",
                            shape.size(), length, most_header_bytes));
  text.resize(length - 1, ' ');

  std::string header(magic);
  header += short_length ? '\x01' : '\x02';
  header += '\0';
  for (int i = 0; i < (short_length ? 2 : 4); ++i)
    header += static_cast<char>((length >> (8 * i)) & 0xff);
  return header + text + '\n';
}

}  // namespace vranks
