// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types. One row of VR_DTYPES is all there is to know about a dtype; the enum, names,
// parser, dispatch, `vranks list` and the tests expand from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ranks/half.hpp"

namespace vranks {

// name, storage type, kind, type string in a .npy file, other names that users type
#define VR_DTYPES(X)                                           \
  X(f64, double, floating, "<f8", "float64 fp64 double")       \
  X(f32, float, floating, "<f4", "float32 fp32 float")         \
  X(f16, ::vranks::Half, floating, "<f2", "float16 fp16 half") \
  X(bf16, ::vranks::BFloat16, floating, "<u2", "bfloat16")     \
  X(i8, std::int8_t, signed_integer, "|i1", "int8")            \
  X(u8, std::uint8_t, unsigned_integer, "|u1", "uint8")        \
  X(i16, std::int16_t, signed_integer, "<i2", "int16")         \
  X(u16, std::uint16_t, unsigned_integer, "<u2", "uint16")     \
  X(i32, std::int32_t, signed_integer, "<i4", "int32 int")     \
  X(u32, std::uint32_t, unsigned_integer, "<u4", "uint32")     \
  X(i64, std::int64_t, signed_integer, "<i8", "int64")         \
  X(u64, std::uint64_t, unsigned_integer, "<u8", "uint64")

enum class DType : std::uint8_t {
#define X(name, type, kind, npy, aliases) name,
  VR_DTYPES(X)
#undef X
};

enum class DTypeKind : std::uint8_t { floating, signed_integer, unsigned_integer };

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
  DTypeKind kind;
  std::string_view npy;      // how a .npy header spells it; bf16 travels as raw uint16 bits
  std::string_view aliases;  // separated by spaces
};

// All dtypes, in the order of the table.
std::span<const DTypeInfo> dtypes();

const DTypeInfo& info(DType dtype);
inline std::string_view name(DType dtype) { return info(dtype).name; }
inline std::size_t size_bytes(DType dtype) { return info(dtype).bytes; }
inline bool is_floating(DType dtype) { return info(dtype).kind == DTypeKind::floating; }

// The dtype called `text` (name or alias). Throws bad_argument with the list of names otherwise.
DType parse_dtype(std::string_view text);

// Calls f.template operator()<T>() with the storage type of `dtype`.
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
#define X(name, type, kind, npy, aliases) \
  case DType::name:                       \
    return std::forward<F>(f).template operator()<type>();
    VR_DTYPES(X)
#undef X
  }
  __builtin_unreachable();
}

// The dtype whose storage type is T.
template <class T>
consteval DType dtype_of() {
#define X(name, type, kind, npy, aliases) \
  if (std::is_same_v<T, type>) return DType::name;
  VR_DTYPES(X)
#undef X
  throw "T is the storage type of no dtype";
}

}  // namespace vranks
