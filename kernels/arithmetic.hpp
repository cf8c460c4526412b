// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar arithmetic of every op, once, for CPU and CUDA. An op is lift (element -> carried),
// combine (carried, carried -> carried, left operand first) and lower (carried -> element); the
// vector code in cpu/ and the kernels in cuda/ do the same steps on many elements.
//
// Nothing here may be contracted or reassociated: the host is compiled with -ffp-contract=off, the
// device uses the explicitly rounded intrinsics.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/tree_fold.hpp"
#include "ranks/half.hpp"
#include "ranks/host_device.hpp"

namespace vranks::arithmetic {

// --- one rounded operation each -----------------------------------------------------------------

#ifdef __CUDA_ARCH__
VR_HOST_DEVICE float add(float a, float b) { return __fadd_rn(a, b); }
VR_HOST_DEVICE double add(double a, double b) { return __dadd_rn(a, b); }
VR_HOST_DEVICE float multiply(float a, float b) { return __fmul_rn(a, b); }
VR_HOST_DEVICE double multiply(double a, double b) { return __dmul_rn(a, b); }
VR_HOST_DEVICE float divide(float a, float b) { return __fdiv_rn(a, b); }
VR_HOST_DEVICE double divide(double a, double b) { return __ddiv_rn(a, b); }
VR_HOST_DEVICE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
VR_HOST_DEVICE double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
#else
VR_HOST_DEVICE float add(float a, float b) { return a + b; }
VR_HOST_DEVICE double add(double a, double b) { return a + b; }
VR_HOST_DEVICE float multiply(float a, float b) { return a * b; }
VR_HOST_DEVICE double multiply(double a, double b) { return a * b; }
VR_HOST_DEVICE float divide(float a, float b) { return a / b; }
VR_HOST_DEVICE double divide(double a, double b) { return a / b; }
VR_HOST_DEVICE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
VR_HOST_DEVICE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
#endif

template <class To, class From>
VR_HOST_DEVICE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

// The unsigned integer of that many bytes, of a type's width.
template <std::size_t bytes>
using BitsOf = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t,
                       std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;
template <class T>
using Bits = BitsOf<sizeof(T)>;

// --- element <-> carried ------------------------------------------------------------------------

template <class T>
inline constexpr bool is_float =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> ||
    std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>;

VR_HOST_DEVICE float widen(float x) { return x; }
VR_HOST_DEVICE double widen(double x) { return x; }
VR_HOST_DEVICE float widen(Half x) { return to_float(x); }
VR_HOST_DEVICE float widen(BFloat16 x) { return to_float(x); }
VR_HOST_DEVICE float widen(Float8E4M3 x) { return to_float(x); }
VR_HOST_DEVICE float widen(Float8E5M2 x) { return to_float(x); }

template <class T>
using Wide = decltype(widen(T{}));

// An 8-bit float; `saturate`: see Fp8Mode.
template <class T>
VR_HOST_DEVICE T narrow_8(float x, bool saturate) {
  if constexpr (std::is_same_v<T, Float8E4M3>)
    return to_float8_e4m3(x, saturate);
  else
    return to_float8_e5m2(x, saturate);
}

// The one pattern that a NaN of that type has.
template <class T>
VR_HOST_DEVICE T one_nan();

// Narrowing gives every NaN the one pattern that DESIGN promises, whatever the processor made.
template <class T>
VR_HOST_DEVICE T narrow(Wide<T> x) {
  if constexpr (std::is_same_v<T, float>) {
    return x == x ? x : bits_as<float>(std::uint32_t{0x7fffffff});
  } else if constexpr (std::is_same_v<T, double>) {
    return x == x ? x : bits_as<double>(std::uint64_t{0xfff8000000000000});
  } else if constexpr (std::is_same_v<T, Half>) {
    return to_half(x);
  } else {
    static_assert(std::is_same_v<T, BFloat16>);
    return to_bfloat16(x);
  }
}

template <class T>
VR_HOST_DEVICE T narrow(Wide<T> x, bool saturate) {
  if constexpr (sizeof(T) == 1)
    return narrow_8<T>(x, saturate);
  else
    return narrow<T>(x);
}

template <class T>
VR_HOST_DEVICE T one_nan() {
  const Wide<T> nan = bits_as<Wide<T>>(static_cast<BitsOf<sizeof(Wide<T>)>>(-1));
  return narrow<T>(nan, true);
}

template <class C>
VR_HOST_DEVICE bool is_finite(C x) {
  return x - x == C{0};
}

// --- dividing by the number of ranks ------------------------------------------------------------

// Correctly rounded division of a C by a number, not 0, that C may not hold exactly.
template <class C>
struct Divisor {
  C value = 1;           // the divisor rounded to C
  C inverse = 0;         // its reciprocal if that is exact (a power of two), else 0
  double exact = 1;      // the divisor; exact up to 2^53
  bool is_exact = true;  // value == exact

  static Divisor of(double divisor) {
    Divisor d;
    d.value = static_cast<C>(divisor);
    d.exact = divisor;
    d.is_exact = static_cast<double>(d.value) == divisor;
    const std::uint64_t mantissa = std::bit_cast<std::uint64_t>(divisor) & ((1ull << 52) - 1);
    if (mantissa == 0) d.inverse = static_cast<C>(1.0 / divisor);
    if (d.inverse - d.inverse != 0) d.inverse = 0;  // out of C's range
    return d;
  }

  VR_HOST_DEVICE C quotient(C x) const {
    if (inverse != 0) return multiply(x, inverse);
    if (is_exact || sizeof(C) == 8) return divide(x, value);
    return static_cast<C>(round_to_odd(static_cast<double>(x)));
  }

  // x / exact in f64, rounded to odd, so that rounding once more to f32 rounds only once in effect
  // (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008, theorem 1).
  VR_HOST_DEVICE double round_to_odd(double x) const {
    const double q = divide(x, exact);
    const double rest = fused(-q, exact, x);  // exact: x - q * exact
    if (!is_finite(q) || rest == 0) return q;
    std::uint64_t bits = bits_as<std::uint64_t>(q);
    // q was rounded away from zero if what is left of the quotient and q have opposite signs.
    const bool away = ((rest < 0) != (exact < 0)) != (q < 0);
    if (away) --bits;
    return bits_as<double>(bits | 1);
  }
};

// --- ops ----------------------------------------------------------------------------------------

// Sum and mean of floats, carried in f32 or f64.
template <class T>
struct FloatSum {
  using Element = T;
  using Carried = Wide<T>;
  static constexpr bool recomputes = sizeof(T) > 1;  // no sum of 8-bit floats leaves f32

  Divisor<Carried> by_ranks;  // R; 1 for a sum
  bool mean = false;
  bool saturate = true;          // 8-bit floats
  Carried scale = 1;             // 2^-ceil(log2 R)
  Divisor<Carried> by_fraction;  // R * scale, in (1/2, 1]

  static FloatSum of(const TreeFold& fold) {
    FloatSum op;
    op.mean = fold.op == ReduceOp::mean;
    op.saturate = fold.fp8 == Fp8Mode::saturate;
    const double scale = 1.0 / static_cast<double>(1ull << tree_levels(fold.ranks));
    op.scale = static_cast<Carried>(scale);
    op.by_ranks = Divisor<Carried>::of(op.mean ? static_cast<double>(fold.ranks) : 1.0);
    op.by_fraction = Divisor<Carried>::of(static_cast<double>(fold.ranks) * scale);
    return op;
  }

  VR_HOST_DEVICE Carried lift(T x) const { return widen(x); }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const { return add(a, b); }
  VR_HOST_DEVICE T lower(Carried c) const {
    return narrow<T>(mean ? by_ranks.quotient(c) : c, saturate);
  }

  // A mean whose sum left the carried type is formed once more from scaled inputs.
  VR_HOST_DEVICE bool must_recompute(Carried c) const { return mean && !is_finite(c); }
  VR_HOST_DEVICE Carried lift_scaled(T x) const { return multiply(widen(x), scale); }
  VR_HOST_DEVICE T lower_scaled(Carried c) const { return narrow<T>(by_fraction.quotient(c)); }
};

// One element of a mean whose carried sum was not finite, formed again from scaled inputs: the same
// tree, one rank after the other. column: rank 0's element; stride: elements from rank to rank.
template <class Op>
VR_HOST_DEVICE typename Op::Element mean_of_scaled(const Op& op, const typename Op::Element* column,
                                                   std::int64_t stride, std::int64_t ranks) {
  typename Op::Carried levels[64];
  typename Op::Carried current = op.lift_scaled(column[0]);
  for (std::int64_t r = 1; r < ranks; ++r) {
    int level = 0;
    for (; (r - 1) >> level & 1; ++level) current = op.combine(levels[level], current);
    levels[level] = current;
    current = op.lift_scaled(column[r * stride]);
  }
  for (int level = 0; (ranks - 1) >> level != 0; ++level)
    if ((ranks - 1) >> level & 1) current = op.combine(levels[level], current);
  return op.lower_scaled(current);
}

// Product of floats, carried in f32 or f64.
template <class T>
struct FloatProduct {
  using Element = T;
  using Carried = Wide<T>;
  static constexpr bool recomputes = false;

  bool saturate = true;  // 8-bit floats

  static FloatProduct of(const TreeFold& fold) { return {fold.fp8 == Fp8Mode::saturate}; }
  VR_HOST_DEVICE Carried lift(T x) const { return widen(x); }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const { return multiply(a, b); }
  VR_HOST_DEVICE T lower(Carried c) const { return narrow<T>(c, saturate); }
};

// Sum of integers modulo 2^bits.
template <class T>
struct IntegerSum {
  using Element = T;
  using Carried = std::make_unsigned_t<T>;
  static constexpr bool recomputes = false;

  static IntegerSum of(const TreeFold&) { return {}; }
  VR_HOST_DEVICE Carried lift(T x) const { return static_cast<Carried>(x); }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const { return static_cast<Carried>(a + b); }
  VR_HOST_DEVICE T lower(Carried c) const { return static_cast<T>(c); }
};

// Product of integers modulo 2^bits.
template <class T>
struct IntegerProduct {
  using Element = T;
  using Carried = std::make_unsigned_t<T>;
  static constexpr bool recomputes = false;

  static IntegerProduct of(const TreeFold&) { return {}; }
  VR_HOST_DEVICE Carried lift(T x) const { return static_cast<Carried>(x); }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const {
    // 1u keeps 16-bit operands out of signed int, where the product could overflow.
    return static_cast<Carried>(1u * a * b);
  }
  VR_HOST_DEVICE T lower(Carried c) const { return static_cast<T>(c); }
};

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// Mean of integers: exact sum, one division truncating toward zero.
template <class T>
struct IntegerMean {
  using Element = T;
  using Carried =
      std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, Int128, UInt128>,
                         std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
  static constexpr bool recomputes = false;

  Carried ranks = 1;

  static IntegerMean of(const TreeFold& fold) { return {static_cast<Carried>(fold.ranks)}; }
  VR_HOST_DEVICE Carried lift(T x) const { return static_cast<Carried>(x); }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const { return a + b; }
  VR_HOST_DEVICE T lower(Carried c) const { return static_cast<T>(c / ranks); }
};

// Min and max of anything. An element is carried as a signed integer key that orders as the
// elements do, with -0 below +0; max flips all bits, so that the smallest key always wins. A NaN's
// key wins (propagate) or loses (ignore) against all others.
template <class T>
struct MinMax {
  using Element = T;
  using Key = std::make_signed_t<Bits<T>>;
  using Carried = Key;
  static constexpr bool recomputes = false;
  static constexpr Key lowest = static_cast<Key>(Bits<T>{1} << (sizeof(T) * 8 - 1));
  static constexpr Key highest = static_cast<Key>(~lowest);

  Key flip = 0;          // 0 for min, -1 for max
  Key nan_key = lowest;  // after the flip
  bool saturate = true;  // an infinite 8-bit float

  static MinMax of(const TreeFold& fold) {
    MinMax op;
    op.flip = fold.op == ReduceOp::max ? Key{-1} : Key{0};
    op.nan_key = fold.nan == NanPolicy::propagate ? lowest : highest;
    op.saturate = fold.fp8 == Fp8Mode::saturate;
    return op;
  }

  // Exponent bits all set: larger patterns are NaNs.
  static constexpr Bits<T> infinity() {
    if constexpr (std::is_same_v<T, Float8E4M3>) return 0x7e;  // the largest number
    if constexpr (std::is_same_v<T, Float8E5M2>) return 0x7c;
    if constexpr (std::is_same_v<T, Half>) return 0x7c00;
    if constexpr (std::is_same_v<T, BFloat16>) return 0x7f80;
    if constexpr (std::is_same_v<T, float>) return 0x7f800000;
    if constexpr (std::is_same_v<T, double>) return 0x7ff0000000000000;
    return static_cast<Bits<T>>(highest);
  }

  // Negative floats order against their bits: flip all but the sign. Its own inverse.
  static VR_HOST_DEVICE Key ordered(Key bits) {
    if constexpr (is_float<T>)
      return static_cast<Key>(bits ^ ((bits >> (sizeof(T) * 8 - 1)) & highest));
    else if constexpr (std::is_unsigned_v<T>)
      return static_cast<Key>(bits ^ lowest);
    else
      return bits;
  }

  VR_HOST_DEVICE Carried lift(T x) const {
    const Key bits = bits_as<Key>(x);
    if constexpr (is_float<T>)
      if (static_cast<Bits<T>>(bits & highest) > infinity()) return nan_key;
    return static_cast<Key>(ordered(bits) ^ flip);
  }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const { return b < a ? b : a; }
  VR_HOST_DEVICE T lower(Carried c) const {
    if constexpr (is_float<T>)
      // No number has this key: it would be a NaN's bits.
      if (c == nan_key) return one_nan<T>();
    T x = bits_as<T>(ordered(static_cast<Key>(c ^ flip)));
    if constexpr (std::is_same_v<T, Float8E5M2>)
      if (saturate && (x.bits & 0x7f) == infinity()) --x.bits;
    return x;
  }
};

}  // namespace vranks::arithmetic
