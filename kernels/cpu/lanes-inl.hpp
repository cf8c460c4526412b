// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector form of the ops in kernels/arithmetic.hpp: the same steps, on as many lanes as the
// instruction set has. Ops without a form here run the scalar code, which the compiler vectorises.

// clang-format off
#if defined(VRANKS_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VRANKS_LANES_INL
#undef VRANKS_LANES_INL
#else
#define VRANKS_LANES_INL
#endif
// clang-format on

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/arithmetic.hpp"

HWY_BEFORE_NAMESPACE();
namespace vranks::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace ar = vranks::arithmetic;

// Highway's f16 conversions are exact and round to nearest even where the processor has them.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2  // better sets have smaller numbers
inline constexpr bool has_f16 = true;
#else
inline constexpr bool has_f16 = false;
#endif

template <class Op>
struct Lanes {
  static constexpr bool available = false;
  static constexpr bool lowers = false;
};

// What all vector forms share: carried values C in full vectors.
template <class C>
struct CarriedLanes {
  using D = hn::ScalableTag<C>;
  using V = hn::Vec<D>;
  static constexpr D d{};
  static constexpr bool available = true;
  static constexpr bool lowers = true;

  static std::int64_t count() { return static_cast<std::int64_t>(hn::Lanes(d)); }
  HWY_INLINE V load_carried(const C* from) const { return hn::LoadU(d, from); }
  HWY_INLINE void store(V v, C* to) const { hn::StoreU(v, d, to); }
  bool can_lower() const { return true; }
};

// Writes lowered elements, around the cache if `stream`; then `to` must be aligned to the vector.
template <bool stream, class OutD, class T>
HWY_INLINE void write(OutD d, hn::Vec<OutD> v, T* to) {
  auto* const at = reinterpret_cast<hn::TFromD<OutD>*>(to);
  if constexpr (stream)
    hn::Stream(v, d, at);
  else
    hn::StoreU(v, d, at);
}

// Rows that the processor by itself follows far enough ahead. Measured: with eight, asking for what
// a loop reads some iterations later saves up to a third of the time; with two it costs a quarter.
inline constexpr int followed_rows = 4;

template <class T>
HWY_INLINE void prefetch_ahead(const T* at) {
  hwy::Prefetch(reinterpret_cast<const std::byte*>(at) + 1024);
}

// Copies `bytes` bytes to every one of `rows` rows, around the cache if `stream`.
inline void write_rows(const std::byte* from, std::int64_t bytes, std::byte* out,
                       std::int64_t stride_bytes, std::int64_t rows, bool stream) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::int64_t step = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t r = 0; r < rows; ++r) {
    std::byte* to = out + r * stride_bytes;
    if (!stream) {
      std::copy_n(from, bytes, to);
      continue;
    }
    const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to)) % step;
    std::int64_t i = std::min(bytes, (step - misaligned) % step);
    std::copy_n(from, i, to);
    for (; i + step <= bytes; i += step)
      hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + i)), d,
                 reinterpret_cast<std::uint8_t*>(to + i));
    std::copy_n(from + i, bytes - i, to + i);
  }
}

// The balanced tree over m <= 8 values that `leaf(k)` gives.
template <int first, int m, class Leaf, class Combine>
HWY_INLINE auto tree(const Leaf& leaf, const Combine& combine) {
  if constexpr (m == 1) {
    return leaf(first);
  } else {
    constexpr int left = 1 << (std::bit_width(unsigned{m - 1}) - 1);
    const auto a = tree<first, left>(leaf, combine);
    const auto b = tree<first + left, m - left>(leaf, combine);
    return combine(a, b);
  }
}

// Vectors that pass through a call that wasn't inlined go through memory.
#undef VR_INLINE_LAMBDA
#define VR_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))

// Elements of a float type <-> vectors of f32 or f64. each(f, v...) is f of values as wide as V.
template <class T>
struct FloatLanes : CarriedLanes<ar::Wide<T>> {
  using Base = CarriedLanes<ar::Wide<T>>;
  using Base::d;
  using typename Base::V;
  static constexpr bool available =
      std::is_same_v<T, Half> ? has_f16 : !std::is_same_v<T, BFloat16>;
  static constexpr bool lowers = available;

  template <class F, class... Vs>
  static HWY_INLINE V each(const F& f, Vs... v) {
    return f(v...);
  }
  V zero() const { return hn::Zero(d); }

  HWY_INLINE V load(const T* from) const {
    if constexpr (std::is_same_v<T, Half>) {
      const hn::Rebind<hwy::float16_t, decltype(d)> d16;
      return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
    } else {
      return hn::LoadU(d, from);
    }
  }

  // Vectors of T as Highway knows them.
  using Out = std::conditional_t<std::is_same_v<T, Half>, hwy::float16_t, ar::Wide<T>>;
  static constexpr hn::Rebind<Out, decltype(d)> out_d{};

  // As ar::narrow.
  HWY_INLINE hn::Vec<hn::Rebind<Out, decltype(d)>> narrow(V v) const {
    using C = ar::Wide<T>;
    const C nan = ar::narrow<C>(std::numeric_limits<C>::quiet_NaN());
    const hn::RebindToUnsigned<decltype(d)> d_bits;
    v = hn::IfThenElse(hn::IsNaN(v), hn::BitCast(d, hn::Set(d_bits, ar::bits_as<ar::Bits<C>>(nan))),
                       v);
    if constexpr (std::is_same_v<T, Half>)
      return hn::DemoteTo(out_d, v);
    else
      return v;
  }
};

// Values of f32 rounded to nearest even bf16, on the bits. Nothing is carried out of a NaN that
// came of bf16 elements: its lower half is zero.
template <class V>
HWY_INLINE V rounded_to_bf16(V v) {
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<hn::DFromV<V>> d_bits;
  const auto bits = hn::BitCast(d_bits, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d_bits, 1u));
  const auto sum = hn::Add(bits, hn::Add(odd, hn::Set(d_bits, 0x7fffu)));
  return hn::BitCast(d, hn::And(sum, hn::Set(d_bits, 0xffff0000u)));
}

#if HWY_TARGET != HWY_SCALAR
// bf16 in two vectors at a time, of the even and of the odd elements. A vector of 32-bit words
// holds an odd element in its upper half already, and an even one a shift away, so nothing is
// widened or narrowed.
template <>
struct FloatLanes<BFloat16> {
  static constexpr hn::ScalableTag<float> d{};
  static constexpr hn::ScalableTag<std::uint32_t> d_bits{};
  static constexpr hn::ScalableTag<std::uint16_t> out_d{};
  static constexpr bool available = true;
  static constexpr bool lowers = true;
  using Part = hn::Vec<hn::ScalableTag<float>>;
  struct V {
    Part even, odd;
  };

  template <class F, class... Vs>
  static HWY_INLINE V each(const F& f, Vs... v) {
    return {f(v.even...), f(v.odd...)};
  }
  V zero() const { return {hn::Zero(d), hn::Zero(d)}; }

  static std::int64_t count() { return static_cast<std::int64_t>(hn::Lanes(out_d)); }
  HWY_INLINE V load(const BFloat16* from) const {
    const auto pairs = hn::BitCast(d_bits, hn::LoadU(out_d, &from->bits));
    return {hn::BitCast(d, hn::ShiftLeft<16>(pairs)),
            hn::BitCast(d, hn::And(pairs, hn::Set(d_bits, 0xffff0000u)))};
  }
  // Tiles hold elements in their order.
  HWY_INLINE V load_carried(const float* from) const {
    V v;
    hn::LoadInterleaved2(d, from, v.even, v.odd);
    return v;
  }
  HWY_INLINE void store(V v, float* to) const { hn::StoreInterleaved2(v.even, v.odd, d, to); }
  bool can_lower() const { return true; }

  // Of values that are bf16 numbers; every NaN gets the one pattern.
  HWY_INLINE hn::Vec<hn::ScalableTag<std::uint16_t>> pack(V v) const {
    const auto pairs =
        hn::Or(hn::BitCast(d_bits, v.odd), hn::ShiftRight<16>(hn::BitCast(d_bits, v.even)));
    const hn::ScalableTag<std::int16_t> d_signed;
    const auto bits = hn::BitCast(d_signed, pairs);
    const auto largest = hn::Set(d_signed, std::int16_t{0x7fff});
    const auto is_nan = hn::Gt(hn::And(bits, largest), hn::Set(d_signed, std::int16_t{0x7f80}));
    return hn::BitCast(out_d, hn::IfThenElse(is_nan, largest, bits));
  }
  HWY_INLINE hn::Vec<hn::ScalableTag<std::uint16_t>> narrow(V v) const {
    return pack({rounded_to_bf16(v.even), rounded_to_bf16(v.odd)});
  }
};
#endif

template <class T>
struct Lanes<ar::FloatSum<T>> : FloatLanes<T> {
  using typename FloatLanes<T>::V;
  const ar::FloatSum<T> op;
  explicit Lanes(const ar::FloatSum<T>& sum) : op(sum) {}

  HWY_INLINE V combine(V a, V b) const {
    return this->each([](auto x, auto y) VR_INLINE_LAMBDA { return hn::Add(x, y); }, a, b);
  }
  // The rare divisor that f32 can't hold is left to the scalar code.
  bool can_lower() const { return !op.mean || op.by_ranks.is_exact; }
  HWY_INLINE auto lower(V v) const {
    if (op.mean && op.by_ranks.inverse != 0)
      v = this->each(
          [&](auto x)
              VR_INLINE_LAMBDA { return hn::Mul(x, hn::Set(this->d, op.by_ranks.inverse)); },
          v);
    else if (op.mean)
      v = this->each(
          [&](auto x) VR_INLINE_LAMBDA { return hn::Div(x, hn::Set(this->d, op.by_ranks.value)); },
          v);
    return this->narrow(v);
  }
  // x - x is 0 for finite x and NaN for all others.
  HWY_INLINE bool must_recompute(V v) const {
    if (!op.mean) return false;
    bool any = false;
    this->each(
        [&](auto x) VR_INLINE_LAMBDA {
          any |= !hn::AllFalse(this->d, hn::IsNaN(hn::Sub(x, x)));
          return x;
        },
        v);
    return any;
  }
};

template <class T>
struct Lanes<ar::FloatProduct<T>> : FloatLanes<T> {
  using typename FloatLanes<T>::V;
  explicit Lanes(const ar::FloatProduct<T>&) {}

  HWY_INLINE V combine(V a, V b) const {
    return this->each([](auto x, auto y) VR_INLINE_LAMBDA { return hn::Mul(x, y); }, a, b);
  }
  HWY_INLINE auto lower(V v) const { return this->narrow(v); }
};

template <class T>
struct Lanes<ar::IntegerSum<T>> : CarriedLanes<std::make_unsigned_t<T>> {
  using C = std::make_unsigned_t<T>;
  using typename CarriedLanes<C>::V;
  explicit Lanes(const ar::IntegerSum<T>&) {}

  HWY_INLINE V load(const T* from) const {
    return hn::LoadU(this->d, reinterpret_cast<const C*>(from));
  }
  HWY_INLINE V combine(V a, V b) const { return hn::Add(a, b); }
  HWY_INLINE V lower(V v) const { return v; }
  static constexpr auto out_d = CarriedLanes<C>::d;
};

template <class T>
struct Lanes<ar::MinMax<T>> : CarriedLanes<typename ar::MinMax<T>::Key> {
  using Op = ar::MinMax<T>;
  using Key = typename Op::Key;
  using typename CarriedLanes<Key>::V;
  using CarriedLanes<Key>::d;
  const Op op;
  explicit Lanes(const Op& min_max) : op(min_max) {}

  HWY_INLINE V ordered(V bits) const {
    if constexpr (ar::is_float<T>)
      return hn::Xor(bits, hn::And(negative(bits), hn::Set(d, Op::highest)));
    else if constexpr (std::is_unsigned_v<T>)
      return hn::Xor(bits, hn::Set(d, Op::lowest));
    else
      return bits;
  }
  HWY_INLINE V load(const T* from) const {
    const V bits = hn::LoadU(d, reinterpret_cast<const Key*>(from));
    const V key = hn::Xor(ordered(bits), hn::Set(d, op.flip));
    if constexpr (ar::is_float<T>) {
      const V magnitude = hn::And(bits, hn::Set(d, Op::highest));
      const auto is_nan = hn::Gt(magnitude, hn::Set(d, static_cast<Key>(Op::infinity())));
      return hn::IfThenElse(is_nan, hn::Set(d, op.nan_key), key);
    } else {
      return key;
    }
  }
  HWY_INLINE V combine(V a, V b) const { return hn::Min(a, b); }
  static constexpr auto out_d = d;
  HWY_INLINE V lower(V v) const {
    V bits = ordered(hn::Xor(v, hn::Set(d, op.flip)));
    if constexpr (ar::is_float<T>) {
      const Key nan =
          ar::bits_as<Key>(ar::narrow<T>(std::numeric_limits<ar::Wide<T>>::quiet_NaN()));
      bits = hn::IfThenElse(hn::Eq(v, hn::Set(d, op.nan_key)), hn::Set(d, nan), bits);
    }
    return bits;
  }

 private:
  // All bits set in lanes below zero.
  HWY_INLINE V negative(V bits) const { return hn::VecFromMask(d, hn::Lt(bits, hn::Zero(d))); }
};

}  // namespace vranks::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
