// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_input.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "ranks/error.hpp"

namespace vranks::golden {

namespace {

using Bits = std::uint64_t;

// A dtype by its number of bits; integers have no exponent bits.
struct Format {
  std::string_view dtype;
  int bits = 0;
  int exponent_bits = 0;

  int mantissa_bits() const { return bits - 1 - exponent_bits; }
  Bits sign(Bits h) const { return (h >> 63) << (bits - 1); }
  Bits infinity() const { return ((Bits{1} << exponent_bits) - 1) << mantissa_bits(); }
};

constexpr Format formats[] = {
    {"f64", 64, 11},  {"f32", 32, 8},   {"f16", 16, 5}, {"bf16", 16, 8},
    {"f8e4m3", 8, 4}, {"f8e5m2", 8, 5}, {"i8", 8, 0},   {"u8", 8, 0},
    {"i32", 32, 0},   {"u32", 32, 0},   {"i64", 64, 0}, {"u64", 64, 0},
};

const Format* find(std::string_view dtype) {
  for (const Format& format : formats)
    if (format.dtype == dtype) return &format;
  return nullptr;
}

constexpr Bits mix(Bits z) {
  z += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// (2u - 1) * 2^((h mod 8) - 4) with u = (h >> 40) / 2^24: exact in f32.
float value(Bits h) {
  constexpr float scales[] = {0x1p-28f, 0x1p-27f, 0x1p-26f, 0x1p-25f,
                              0x1p-24f, 0x1p-23f, 0x1p-22f, 0x1p-21f};
  return static_cast<float>(static_cast<std::int32_t>(h >> 40) * 2 - (1 << 24)) * scales[h % 8];
}

// Rounds to nearest even. `x` must be smaller than the format's largest number.
Bits round_to(const Format& format, float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const Bits sign = Bits{bits >> 31} << (format.bits - 1);
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < 1 - bias) {  // subnormal: a multiple of the smallest number; nearbyint is exact
    const float units =
        std::ldexp(std::bit_cast<float>(magnitude), format.mantissa_bits() + bias - 1);
    return sign | static_cast<Bits>(std::nearbyint(units));
  }
  const int drop = 23 - format.mantissa_bits();
  const std::uint32_t half = 1u << (drop - 1);
  const std::uint32_t rounded = (magnitude + half - 1 + ((magnitude >> drop) & 1u)) >> drop;
  return sign | (rounded - (static_cast<Bits>(127 - bias) << format.mantissa_bits()));
}

Bits values_bits(const Format& format, Bits r, Bits i) {
  const Bits h = mix((r << 40) ^ i);
  if (format.dtype == "i32") return static_cast<Bits>(static_cast<std::int32_t>(h >> 32) >> 6);
  const float v = value(h);
  if (format.bits == 32) return std::bit_cast<std::uint32_t>(v);
  if (format.bits == 64)
    return std::bit_cast<Bits>(static_cast<double>(v) +
                               static_cast<double>((h >> 8) % (1u << 24)) * 0x1p-52);
  return round_to(format, v);
}

Bits special_bits(const Format& format, Bits r, Bits i) {
  const Bits h = mix(((r + 100) << 40) ^ i);
  if (format.exponent_bits == 0) return h;
  const Bits sign = format.sign(h), infinity = format.infinity();
  const int m = format.mantissa_bits();
  const Bits mantissas = (Bits{1} << m) - 1;
  switch ((h >> 8) % 12) {
    case 0:
      return sign;
    case 1:
      return sign + 1;
    case 2:
      return sign + ((h >> 20) & mantissas);
    case 3:
      return sign + infinity + (format.dtype == "f8e4m3" ? mantissas - 1 : 0);
    case 4:
      return i % 3 == 0 ? sign + infinity + mantissas : h >> 16;
    case 5:
      return sign + infinity - 1;
    default:
      return sign + (((Bits{1} << (format.exponent_bits - 1)) - 1 + ((h >> 12) & 3)) << m) +
             ((h >> 24) & mantissas);
  }
}

// The element is the lowest bits of what `bits_of` gives.
template <class T, class BitsOf>
void fill(const Format& format, std::int64_t ranks, std::int64_t elements, std::byte* data,
          BitsOf&& bits_of) {
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t r = 0; r < ranks; ++r)
    for (std::int64_t i = 0; i < elements; ++i) {
      const auto element =
          static_cast<T>(bits_of(format, static_cast<Bits>(r), static_cast<Bits>(i)));
      std::memcpy(data + (r * elements + i) * static_cast<std::int64_t>(sizeof(T)), &element,
                  sizeof(T));
    }
}

template <class BitsOf>
void fill(const Format& format, std::int64_t ranks, std::int64_t elements, std::byte* data,
          BitsOf&& bits_of) {
  if (format.bits == 8) return fill<std::uint8_t>(format, ranks, elements, data, bits_of);
  if (format.bits == 16) return fill<std::uint16_t>(format, ranks, elements, data, bits_of);
  if (format.bits == 32) return fill<std::uint32_t>(format, ranks, elements, data, bits_of);
  fill<std::uint64_t>(format, ranks, elements, data, bits_of);
}

}  // namespace

std::size_t element_bytes(std::string_view dtype) {
  const Format* format = find(dtype);
  return format == nullptr ? 0 : static_cast<std::size_t>(format->bits) / 8;
}

void make_input(std::string_view dtype, InputKind kind, std::int64_t ranks, std::int64_t elements,
                std::span<std::byte> data) {
  const Format* format = find(dtype);
  if (format == nullptr)
    throw Error(ErrorKind::not_supported,
                "there are no golden inputs of dtype " + std::string(dtype));
  if (kind == InputKind::special) return fill(*format, ranks, elements, data.data(), special_bits);
  if (format->exponent_bits == 0 && dtype != "i32")
    throw Error(ErrorKind::not_supported,
                "golden inputs `values` are defined for floats and i32, not " + std::string(dtype));
  fill(*format, ranks, elements, data.data(), values_bits);
}

std::uint64_t hash(std::span<const std::byte> data) {
  std::uint64_t x = 0xcbf29ce484222325u;
  for (const std::byte b : data) x = (x ^ static_cast<std::uint64_t>(b)) * 0x100000001b3u;
  return x;
}

}  // namespace vranks::golden
