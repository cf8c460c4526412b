// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types. One row of VR_DTYPES is all there is to know about a dtype; the enum, names,
// parser, dispatch, `vranks list` and the tests expand from it.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ranks/complex.hpp"
#include "ranks/float8.hpp"
#include "ranks/half.hpp"

namespace vranks {

// enumerator, name, storage type, kind, type string in a .npy file, other names that users type
#define VR_DTYPES(X)                                                                        \
  X(f64, "f64", double, floating, "<f8", "float64 fp64 double")                             \
  X(f32, "f32", float, floating, "<f4", "float32 fp32 float")                               \
  X(f16, "f16", ::vranks::Half, floating, "<f2", "float16 fp16 half")                       \
  X(bf16, "bf16", ::vranks::BFloat16, floating, "<u2", "bfloat16")                          \
  X(f8e4m3, "f8e4m3", ::vranks::Float8E4M3, floating, "|u1", "float8_e4m3fn fp8_e4m3 e4m3") \
  X(f8e5m2, "f8e5m2", ::vranks::Float8E5M2, floating, "|u1", "float8_e5m2 fp8_e5m2 e5m2")   \
  X(i8, "i8", std::int8_t, signed_integer, "|i1", "int8")                                   \
  X(u8, "u8", std::uint8_t, unsigned_integer, "|u1", "uint8")                               \
  X(i16, "i16", std::int16_t, signed_integer, "<i2", "int16")                               \
  X(u16, "u16", std::uint16_t, unsigned_integer, "<u2", "uint16")                           \
  X(i32, "i32", std::int32_t, signed_integer, "<i4", "int32 int")                           \
  X(u32, "u32", std::uint32_t, unsigned_integer, "<u4", "uint32")                           \
  X(i64, "i64", std::int64_t, signed_integer, "<i8", "int64")                               \
  X(u64, "u64", std::uint64_t, unsigned_integer, "<u8", "uint64")                           \
  X(boolean, "bool", ::vranks::Bool, boolean, "|b1", "bool_ boolean")                       \
  X(c64, "c64", ::vranks::Complex<float>, complex, "<c8", "complex64 cfloat")               \
  X(c128, "c128", ::vranks::Complex<double>, complex, "<c16", "complex128 cdouble")

enum class DType : std::uint8_t {
#define X(id, name, type, kind, npy, aliases) id,
  VR_DTYPES(X)
#undef X
};

enum class DTypeKind : std::uint8_t {
  floating,
  signed_integer,
  unsigned_integer,
  boolean,
  complex
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
  DTypeKind kind;
  std::string_view npy;      // how a .npy header spells it; bf16 and fp8 travel as raw bits
  std::string_view aliases;  // separated by spaces
};

// All dtypes, in the order of the table.
std::span<const DTypeInfo> dtypes();

const DTypeInfo& info(DType dtype);
inline std::string_view name(DType dtype) { return info(dtype).name; }
inline std::size_t size_bytes(DType dtype) { return info(dtype).bytes; }
inline bool is_floating(DType dtype) { return info(dtype).kind == DTypeKind::floating; }
inline bool is_integer(DType dtype) {
  return info(dtype).kind == DTypeKind::signed_integer ||
         info(dtype).kind == DTypeKind::unsigned_integer;
}
inline bool is_complex(DType dtype) { return info(dtype).kind == DTypeKind::complex; }
inline bool has_nan(DType dtype) { return is_floating(dtype) || is_complex(dtype); }
constexpr bool is_float8(DType dtype) { return dtype == DType::f8e4m3 || dtype == DType::f8e5m2; }

// The dtype of the real and the imaginary part; any other dtype is its own.
constexpr DType part_dtype(DType dtype) {
  return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
}

// The dtype called `text` (name or alias). Throws bad_argument with the list of names otherwise.
DType parse_dtype(std::string_view text);

// Calls f.template operator()<T>() with the storage type of `dtype`.
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
#define X(id, name, type, kind, npy, aliases) \
  case DType::id:                             \
    return std::forward<F>(f).template operator()<type>();
    VR_DTYPES(X)
#undef X
  }
  __builtin_unreachable();
}

// The dtype whose storage type is T.
template <class T>
consteval DType dtype_of() {
#define X(id, name, type, kind, npy, aliases) \
  if (std::is_same_v<T, type>) return DType::id;
  VR_DTYPES(X)
#undef X
  if (std::is_same_v<T, bool>) return DType::boolean;
  if (std::is_same_v<T, std::complex<float>>) return DType::c64;
  if (std::is_same_v<T, std::complex<double>>) return DType::c128;
  throw "T is the storage type of no dtype";
}

}  // namespace vranks
