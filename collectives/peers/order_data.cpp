// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/order_data.hpp"

#include <fmt/format.h>

#include <cstring>

#include "ranks/error.hpp"

namespace vranks {

namespace {

// A floating format: bits of the mantissa, bias of the exponent, and how far exponents go.
struct Format {
  int mantissa, bias, spread;
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {52, 1023, 8};
    case DType::f32:
      return {23, 127, 8};
    case DType::f16:
      return {10, 15, 8};
    case DType::bf16:
      return {7, 127, 8};
    case DType::f8e4m3:
      return {3, 7, 4};
    default:
      return {2, 15, 4};  // f8e5m2
  }
}

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr std::uint64_t low_bits(int count) { return (std::uint64_t{1} << count) - 1; }

class Maker {
 public:
  Maker(DType dtype, ReduceOp op, bool is_special)
      : bits_(8 * static_cast<int>(size_bytes(dtype))),
        is_float_(is_floating(dtype)),
        is_special_(is_special),
        format_(format_of(dtype)) {
    if (op == ReduceOp::prod) format_.spread = 1;
  }

  // The element that 128 random bits stand for.
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    if (!is_float_) return a;
    const std::uint64_t sign = (b & 1) << (bits_ - 1);
    if (is_special_ && (b >> 1) % 16 == 0) return sign | special((b >> 8) % 7);
    const auto exponents = static_cast<std::uint64_t>(2 * format_.spread);
    const std::uint64_t exponent =
        static_cast<std::uint64_t>(format_.bias - format_.spread) + (b >> 16) % exponents;
    return sign | exponent << format_.mantissa | (a & low_bits(format_.mantissa));
  }

 private:
  std::uint64_t special(std::uint64_t which) const {
    const std::uint64_t ones = low_bits(format_.mantissa);
    const std::uint64_t top = low_bits(bits_ - 1 - format_.mantissa) << format_.mantissa;
    // e4m3 has no infinity: what the others have it at is a number.
    const std::uint64_t values[] = {0, 1, ones, ones + 1, top - 1, top, top | ones};
    return values[which];
  }

  int bits_;
  bool is_float_, is_special_;
  Format format_;
};

void fill(const TensorView& tensor, std::uint64_t seed, const Maker& make) {
  if (is_complex(tensor.dtype) || tensor.dtype == DType::boolean)
    throw Error(ErrorKind::not_supported,
                fmt::format("no data tells orders of {} apart", name(tensor.dtype)));
  const std::size_t bytes = size_bytes(tensor.dtype);
  const std::int64_t ranks = tensor.shape[0];
  const std::int64_t elements = ranks > 0 ? element_count(tensor.shape) / ranks : 0;
  auto* const data = static_cast<std::byte*>(tensor.data);
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t r = 0; r < ranks; ++r)
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::uint64_t a =
          mixed(mixed(seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(r)) +
                static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15);
      const std::uint64_t element = make(a, mixed(a + 0x9e3779b97f4a7c15));
      std::memcpy(data + static_cast<std::size_t>(r * elements + i) * bytes, &element, bytes);
    }
}

}  // namespace

void fill_order_data(const TensorView& tensor, std::uint64_t seed, ReduceOp op) {
  fill(tensor, seed, Maker(tensor.dtype, op, false));
}

void fill_special_data(const TensorView& tensor, std::uint64_t seed, ReduceOp op) {
  fill(tensor, seed, Maker(tensor.dtype, op, true));
}

}  // namespace vranks
