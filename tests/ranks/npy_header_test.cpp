// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The header parser: every spelling it takes, every refusal by its own words, and any bytes at all.
#include "ranks/npy_header.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <memory>
#include <string_view>

#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

// A version 1.0 file with that dictionary and so many bytes of elements.
std::string npy(const std::string& dictionary, std::size_t data_bytes = 0) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dictionary.size() & 0xff);
  file += static_cast<char>(dictionary.size() >> 8);
  return file + dictionary + std::string(data_bytes, 'x');
}

NpyHeader parse(const std::string& file) {
  // A copy of exactly the right size: the address sanitizer sees any read behind its end.
  const std::unique_ptr<char[]> copy(new char[file.size()]);
  std::copy(file.begin(), file.end(), copy.get());
  return parse_npy_header(std::as_bytes(std::span(copy.get(), file.size())),
                          static_cast<std::int64_t>(file.size()), "x.npy");
}

void refuse(ErrorKind kind, std::initializer_list<const char*> phrases, const std::string& file) {
  SCOPED_TRACE(file);
  expect_error(kind, phrases, [&] { parse(file); });
  expect_error(kind, {"'x.npy'"}, [&] { parse(file); });
}

TEST(NpyHeader, ReadsAnySpellingOfTheDictionary) {
  for (const char* dictionary : {
           "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }          \n",
           "{'descr':'<f4','fortran_order':False,'shape':(4,3)}",
           "{\"shape\": (4, 3,), \"descr\": \"<f4\", \"fortran_order\": False}",
           "  {\n'fortran_order' :False\t, 'shape' : ( 4 , 3 , ) , 'descr' : '<f4' , } \n \n",
           "{'descr': '=f4', 'fortran_order': False, 'shape': (4L, 3L), }\n",
           "{'descr': '|f4', 'fortran_order': False, 'shape': (4, 3L), }\n",
       }) {
    const std::string file = npy(dictionary, 48);
    const NpyHeader header = parse(file);
    EXPECT_EQ(header.dtype, DType::f32) << dictionary;
    EXPECT_EQ(header.shape, (Shape{4, 3})) << dictionary;
    EXPECT_EQ(header.data_offset, static_cast<std::int64_t>(file.size()) - 48) << dictionary;
    EXPECT_EQ(header.bytes(), 48);
  }
}

TEST(NpyHeader, KnowsEveryDType) {
  for (const DTypeInfo& row : dtypes()) {
    const NpyHeader header =
        parse(make_npy_header(row.dtype, {2}) + std::string(2 * row.bytes, '\0'));
    const DType raw = row.dtype == DType::bf16 ? DType::u16
                      : is_float8(row.dtype)   ? DType::u8
                                               : row.dtype;
    EXPECT_EQ(header.dtype, raw) << row.name;
    EXPECT_EQ(header.opaque_bytes, 0) << row.name;
  }
}

// Void elements are rows of bytes, which the last dimension counts.
TEST(NpyHeader, ReadsElementsOfAnyWidth) {
  const auto void_file = [](const char* type, const char* shape, std::size_t bytes) {
    return npy(
        "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': " + shape + "}",
        bytes);
  };
  const NpyHeader header = parse(void_file("|V16", "(4, 3)", 192));
  EXPECT_EQ(header.dtype, DType::u8);
  EXPECT_EQ(header.shape, (Shape{4, 3, 16}));
  EXPECT_EQ(header.opaque_bytes, 16);
  EXPECT_EQ(header.bytes(), 192);
  EXPECT_EQ(parse(void_file("|V1", "(0,)", 0)).shape, (Shape{0, 1}));
  refuse(ErrorKind::bad_input, {"truncated", "needs 192 bytes", "shape (4, 3, 16)"},
         void_file("|V16", "(4, 3)", 191));
  refuse(ErrorKind::bad_input, {"2^63 - 1 bytes"}, void_file("|V9223372036854775807", "(4,)", 0));
  refuse(ErrorKind::not_supported, {"shape ()"}, void_file("|V16", "()", 16));
  for (const char* type : {"|V", "|V0", "|V-1", "|V+1", "|V1x", "|V 1", "|V9223372036854775808"})
    refuse(ErrorKind::not_supported, {("'" + std::string(type) + "'").c_str(), "1 to 2^63 - 1"},
           void_file(type, "(4,)", 0));
}

TEST(NpyHeader, ByteOrderOfSingleBytesMeansNothing) {
  for (const char* order : {"<", ">", "|", "="}) {
    const std::string type = std::string(order) + "i1";
    const std::string file =
        npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (3,)}", 3);
    EXPECT_EQ(parse(file).dtype, DType::i8) << type;
  }
}

TEST(NpyHeader, ReadsVersions2And3) {
  for (const char version : {'\x02', '\x03'}) {
    const std::string dictionary = "{'descr': '<i8', 'fortran_order': False, 'shape': (1,)}";
    std::string file("\x93NUMPY");
    (file += version) += '\0';
    file += static_cast<char>(dictionary.size());
    file += std::string(3, '\0') + dictionary;
    const NpyHeader header = parse(file + std::string(8, 'x'));
    EXPECT_EQ(header.shape, (Shape{1}));
    EXPECT_EQ(header.data_offset, static_cast<std::int64_t>(file.size()));
  }
}

TEST(NpyHeader, RefusesWhatIsNoNpyFile) {
  refuse(ErrorKind::bad_input, {"no .npy file", "it is empty"}, "");
  refuse(ErrorKind::bad_input, {"no .npy file", "begins with 'PK?'"}, std::string("PK\3", 3));
  refuse(ErrorKind::bad_input, {"truncated", "byte 6"}, "\x93NUMPY");
  refuse(ErrorKind::bad_input, {"truncated", "byte 9"}, std::string("\x93NUMPY\1\0\1", 9));
  refuse(ErrorKind::bad_input, {"truncated", "byte 11"}, std::string("\x93NUMPY\2\0\0\0\0", 11));
  refuse(ErrorKind::not_supported, {"version is 4.0", "1.0, 2.0 and 3.0"},
         std::string("\x93NUMPY\4\0\0\0\0\0", 12));
  refuse(ErrorKind::not_supported, {"version is 1.1"}, std::string("\x93NUMPY\1\1\0\0\0\0", 12));
}

TEST(NpyHeader, RefusesAHeaderLongerThanTheFile) {
  refuse(ErrorKind::bad_input, {"truncated", "its header needs 138 bytes, it has 12"},
         std::string("\x93NUMPY\1\0\x80\0{}", 12));
  refuse(ErrorKind::bad_input, {"its header needs 13 bytes, it has 12"},
         std::string("\x93NUMPY\1\0\3\0{}", 12));
  refuse(ErrorKind::bad_input, {"its header needs 4294967307 bytes, it has 12"},
         std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12));
  const std::string start("\x93NUMPY\2\0\xff\xff\xff\x7f", 12);
  expect_error(ErrorKind::not_supported, {"header has 2147483647 bytes, more than 1048576"}, [&] {
    parse_npy_header(std::as_bytes(std::span(start)), std::int64_t{1} << 40, "x.npy");
  });
  const std::string cut("\x93NUMPY\1\0\x80\0{}", 12);
  expect_error(ErrorKind::bad_input, {"header needs 138 bytes, 12 were given"}, [&] {
    parse_npy_header(std::as_bytes(std::span(cut)), std::int64_t{1} << 40, "x.npy");
  });
}

TEST(NpyHeader, RefusesAMalformedDictionary) {
  const auto malformed = [](const char* dictionary, const char* expected) {
    refuse(ErrorKind::bad_input, {"malformed", expected}, npy(dictionary));
  };
  malformed("", "expected '{', found the header's end");
  malformed("[]", "at character 0: expected '{', found '[]'");
  malformed("{'descr'", "expected ':', found the header's end");
  malformed("{'descr: '<f4'}", "expected ':', found '<f4'");
  malformed("{'descr': '<f4}", "a string that ends");
  malformed("{descr: '<f4'}", "expected a string");
  malformed("{'descr': 4}", "expected a string, found '4}'");
  malformed("{'descr': '<\\x664'}", "without backslashes");
  malformed("{'descr': '<f4' 'shape': ()}", "expected '}', found ''shape':'");
  malformed("{,}", "expected a string");
  malformed("{'fortran_order': 0}", "True or False");
  malformed("{'fortran_order': false}", "True or False");
  malformed("{'fortran_order': Falsehood}", "expected '}'");
  malformed("{'shape': 4}", "expected '('");
  malformed("{'shape': [4]}", "expected '('");
  malformed("{'shape': (4)}", "written (4,)");
  malformed("{'shape': (4, 3}", "expected ')'");
  malformed("{'shape': (4 3)}", "written (4,)");
  malformed("{'shape': (4, 3 2)}", "expected ')'");
  malformed("{'shape': (,)}", "a number");
  malformed("{'shape': (4,,)}", "a number");
  malformed("{'shape': (+4,)}", "a number");
  malformed("{'shape': (-,)}", "a number");
  malformed("{'shape': (None,)}", "a number");
  malformed("{'shape': (04,)}", "leading zeros");
  malformed("{'shape': (0x4,)}", "written (4,)");
  malformed("{'shape': (4.0,)}", "written (4,)");
  malformed("{'shape': (4LL,)}", "written (4,)");
  malformed("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} x", "nothing but spaces");
  malformed("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}}", "nothing but spaces");
}

TEST(NpyHeader, RefusesOtherKeys) {
  refuse(ErrorKind::bad_input, {"lacks the key 'descr'"}, npy("{}"));
  refuse(ErrorKind::bad_input, {"lacks the key 'fortran_order'"},
         npy("{'descr': '<f4', 'shape': (0,)}"));
  refuse(ErrorKind::bad_input, {"lacks the key 'shape'"},
         npy("{'descr': '<f4', 'fortran_order': False}"));
  refuse(ErrorKind::bad_input, {"key 'shape' more than once"}, npy("{'shape': (), 'shape': ()}"));
  refuse(ErrorKind::bad_input, {"key 'descr' more than once"},
         npy("{'descr': '<f4', 'descr': '<f4'}"));
  refuse(ErrorKind::bad_input, {"unknown key 'Shape'", "descr, fortran_order and shape"},
         npy("{'Shape': ()}"));
  refuse(ErrorKind::bad_input, {"unknown key '?[31mred'"}, npy("{'\x1b[31mred': ()}"));
}

TEST(NpyHeader, RefusesOtherDTypes) {
  const auto unsupported = [](const std::string& descr, const char* phrase) {
    refuse(ErrorKind::not_supported,
           {phrase, "<f8 <f4 <f2 |i1 |u1 <i2 <u2 <i4 <u4 <i8 <u8 |b1 <c8 <c16 |V1 |V2 ..."},
           npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': (0,)}"));
  };
  for (const char* type : {"<c4", "|b2", "<U4", "|S2", "<V2", "<f3", "f4", "<f", "<", "", "?f4",
                           "<M8[D]", "float32", "<f16"})
    unsupported("'" + std::string(type) + "'",
                ("its dtype is '" + std::string(type) + "'").c_str());
  unsupported("'|O'", "Python objects");
  unsupported("[('a', '<f4'), ('b', '<i4')]", "structured");
  unsupported("('<f4', (2,))", "structured");
  unsupported("'" + std::string(50'000, '<') + "'", "<<<...'");
  refuse(ErrorKind::not_supported, {"big endian", "'>f4'", "x.astype(x.dtype.newbyteorder('<'))"},
         npy("{'descr': '>f4', 'fortran_order': False, 'shape': (0,)}"));
}

std::string floats(const std::string& shape, const char* fortran_order = "False") {
  return "{'descr': '<f4', 'fortran_order': " + std::string(fortran_order) + ", 'shape': " + shape +
         "}";
}

TEST(NpyHeader, RefusesOtherLayouts) {
  refuse(ErrorKind::not_supported, {"Fortran order", "ascontiguousarray"},
         npy(floats("(4, 3)", "True"), 48));
  refuse(ErrorKind::not_supported, {"shape ()", "counts the ranks", "x.reshape(1)"},
         npy(floats("()"), 4));
}

TEST(NpyHeader, RefusesImpossibleShapes) {
  refuse(ErrorKind::bad_input, {"negative dimension -4"}, npy(floats("(3, -4)")));
  refuse(ErrorKind::bad_input, {"negative dimension -99999999999999999999"},
         npy(floats("(-99999999999999999999,)")));
  refuse(ErrorKind::bad_input, {"dimension 9223372036854775808, more than 2^63 - 1"},
         npy(floats("(9223372036854775808,)")));
  refuse(ErrorKind::bad_input, {"more than 2^63 - 1 bytes"}, npy(floats("(9223372036854775807,)")));
  refuse(ErrorKind::bad_input, {"(4294967296, 4294967296)", "more than 2^63 - 1 bytes"},
         npy(floats("(4294967296, 4294967296)")));
  EXPECT_EQ(parse(npy(floats("(4294967296, 0, 4294967296)"))).bytes(), 0);
}

TEST(NpyHeader, ComparesTheFilesSizeWithTheShape) {
  refuse(ErrorKind::bad_input,
         {"truncated", "needs 48 bytes", "f32 elements of shape (4, 3)", "has 47"},
         npy(floats("(4, 3)"), 47));
  refuse(ErrorKind::bad_input, {"truncated", "needs 4611686018427387904 bytes", "has 3"},
         npy(floats("(1152921504606846976,)"), 3));
  refuse(ErrorKind::bad_input, {"1 bytes behind its last element", "(4, 3)", "holds one array"},
         npy(floats("(4, 3)"), 49));
  refuse(ErrorKind::bad_input, {"8 bytes behind its last element"}, npy(floats("(4, 0)"), 8));
}

TEST(MakeNpyHeader, AlignsTheElements) {
  for (const DTypeInfo& row : dtypes())
    for (const Shape& shape : {Shape{}, Shape{4}, Shape{4, 0}, Shape{4, 16, 48}, Shape(40, 1),
                               Shape{std::int64_t{1} << 40, 3}}) {
      const std::string header = make_npy_header(row.dtype, shape);
      EXPECT_EQ(header.size() % 64, 0u);
      EXPECT_EQ(header[6], 1);
      EXPECT_EQ(header.back(), '\n');
    }
}

TEST(MakeNpyHeader, UsesVersion2ForAVeryLongShape) {
  const Shape shape(30'000, 1);
  const std::string header = make_npy_header(DType::u8, shape);
  EXPECT_EQ(header[6], 2);
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(parse(header + "x").shape, shape);
  EXPECT_EQ(parse(header + "x").data_offset, static_cast<std::int64_t>(header.size()));

  // The last that fits version 1.0, and the first that doesn't.
  int version = 1;
  for (std::size_t dimensions = 21'800; dimensions < 21'870; ++dimensions) {
    const std::string edge = make_npy_header(DType::u8, Shape(dimensions, 1));
    EXPECT_GE(edge[6], version);
    version = edge[6];
    EXPECT_EQ(parse(edge + "x").shape.size(), dimensions);
  }
  EXPECT_EQ(version, 2);
  expect_error(ErrorKind::not_supported, {"500000 dimensions", "more than 1048576"},
               [] { make_npy_header(DType::u8, Shape(500'000, 1)); });
}

TEST(MakeNpyHeader, WritesElementsOfAnyWidth) {
  const std::string header = make_npy_header(DType::u8, {4, 3, 16}, 16);
  EXPECT_NE(header.find("{'descr': '|V16', 'fortran_order': False, 'shape': (4, 3), }"),
            std::string::npos);
  EXPECT_EQ(parse(header + std::string(192, 'x')).shape, (Shape{4, 3, 16}));
  const auto refuse_bytes = [](DType dtype, const Shape& shape, std::int64_t bytes) {
    expect_error(
        ErrorKind::bad_argument,
        {("elements of " + std::to_string(bytes) + " bytes").c_str(), to_string(shape).c_str()},
        [&] { make_npy_header(dtype, shape, bytes); });
  };
  refuse_bytes(DType::u8, {4, 3}, 16);
  refuse_bytes(DType::i8, {4, 16}, 16);
  refuse_bytes(DType::u8, {}, 16);
  refuse_bytes(DType::u8, {4, -16}, -16);
}

RC_GTEST_PROP(NpyHeader, ParsesWhatIsMade, ()) {
  const auto row = *rc::gen::elementOf(std::vector<DTypeInfo>(dtypes().begin(), dtypes().end()));
  const auto dimensions = *rc::gen::inRange<std::size_t>(1, 5);
  const auto shape = *rc::gen::container<Shape>(dimensions, rc::gen::inRange<std::int64_t>(0, 300));
  const std::string header = make_npy_header(row.dtype, shape);
  const std::int64_t bytes = element_count(shape, row.bytes) * static_cast<std::int64_t>(row.bytes);
  const NpyHeader parsed = parse_npy_header(
      std::as_bytes(std::span(header)), static_cast<std::int64_t>(header.size()) + bytes, "x.npy");
  RC_ASSERT(parsed.shape == shape);
  RC_ASSERT(parsed.bytes() == bytes);
  RC_ASSERT(info(parsed.dtype).npy == row.npy);
}

// Any change of a few bytes parses to something that fits the file, or throws Error.
RC_GTEST_PROP(NpyHeader, MutationsParseOrThrow, ()) {
  std::string file = npy(floats("(4, 3)"), 48);
  const auto changes = *rc::gen::inRange(1, 6);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, file.size());
    const auto byte =
        *rc::gen::oneOf(rc::gen::arbitrary<char>(),
                        rc::gen::elementOf(std::string("{}()[]'\",:0123456789<>|=TFLVuifcb \\-")));
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        file[at] = byte;
        break;
      case 1:
        file.insert(at, 1, byte);
        break;
      case 2:
        file.erase(at, *rc::gen::inRange<std::size_t>(1, 20));
        break;
      case 3:
        file.insert(at, file.substr(*rc::gen::inRange<std::size_t>(0, at + 1), 10));
        break;
    }
    if (file.empty()) break;
  }
  try {
    const NpyHeader header = parse(file);
    RC_ASSERT(header.data_offset + header.bytes() == static_cast<std::int64_t>(file.size()));
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::bad_input || error.kind() == ErrorKind::not_supported);
  }
}

}  // namespace
}  // namespace vranks
