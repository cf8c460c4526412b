// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector form of the ops in kernels/hop_arithmetic.hpp. Ops without a form here run the scalar
// code.

// clang-format off
#if defined(VRANKS_HOP_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VRANKS_HOP_LANES_INL
#undef VRANKS_HOP_LANES_INL
#else
#define VRANKS_HOP_LANES_INL
#endif
// clang-format on

#include <hwy/highway.h>

#include <array>
#include <cmath>

#include "kernels/cpu/lanes-inl.hpp"
#include "kernels/hop_arithmetic.hpp"

HWY_BEFORE_NAMESPACE();
namespace vranks::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace ar = vranks::arithmetic;

// Where Highway's MulAdd rounds once.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif

template <class Op>
struct HopLanes {
  static constexpr bool available = false;
};

template <class T>
requires(sizeof(T) > 1) struct HopLanes<ar::MinMaxHop<T>> : Lanes<ar::MinMax<T>> {
  static constexpr bool fuses = false;
  explicit HopLanes(const ar::MinMaxHop<T>& hop) : Lanes<ar::MinMax<T>>(hop.op) {}
  auto zero() const { return hn::Zero(this->d); }
};

// All ones for the elements that LL128 fuses, one slice and a vector long.
template <class C>
struct FuseTable {
  static constexpr std::int64_t period = 1920 / std::int64_t{sizeof(C)};
  std::array<ar::Bits<C>, period + 64 / sizeof(C)> masks{};

  FuseTable() {
    for (std::size_t i = 0; i < masks.size(); ++i)
      masks[i] = fuses_at(static_cast<std::int64_t>(i), sizeof(C)) ? ~ar::Bits<C>{0} : 0;
  }
  static const FuseTable& instance() {
    static const FuseTable table;
    return table;
  }
};

// The arithmetic of FloatHop on whole vectors of carried values.
template <class T, class S>
struct SumVectors {
  using Op = ar::FloatHop<T, S, false>;
  using C = typename Op::Carried;
  static constexpr hn::ScalableTag<C> d{};
  static constexpr hn::RebindToUnsigned<hn::ScalableTag<C>> d_bits{};
  using V = hn::Vec<hn::ScalableTag<C>>;

  const Op op;
  const V scale;
  const bool exact_scale;  // 1 / 2^k, whose products don't leave f32's range
  explicit SumVectors(const Op& hop)
      : op(hop), scale(hn::Set(d, hop.scale)), exact_scale(is_exact(hop.scale)) {}

  static bool is_exact(C scale) {
    int exponent = 0;
    return std::frexp(scale, &exponent) == C(0.5) && exponent > -16;
  }

  HWY_INLINE V rounded(V v) const {
    if constexpr (std::is_same_v<S, BFloat16>) {
      return rounded_to_bf16(v);
    } else if constexpr (std::is_same_v<S, Half>) {
      const hn::Rebind<hwy::float16_t, decltype(d)> d16;
      return hn::PromoteTo(d, hn::DemoteTo(d16, v));
    } else {
      return v;
    }
  }
  HWY_INLINE V lifted(V x) const { return op.premultiply ? rounded(hn::Mul(x, scale)) : x; }
  HWY_INLINE V combine(V a, V b) const { return rounded(hn::Add(a, b)); }

  // x * scale + other, rounded once.
  HWY_INLINE V fused(V x, V other) const {
    if constexpr (sizeof(S) > 2) {
      return hn::MulAdd(x, scale, other);
    } else {
      // A product with a power of two is exact, and so in effect is the sum of two 16-bit floats in
      // f32: rounding it once more rounds as if once.
      if (exact_scale) return rounded(hn::Add(hn::Mul(x, scale), other));
      const V near = hn::MulAdd(x, scale, other);
      if (HWY_UNLIKELY(may_be_tie(near))) return fused_to_odd(x, other);
      return rounded(near);
    }
  }

  bool can_divide() const {
    if (!op.divide || op.by_group.inverse != 0) return true;
    return sizeof(S) > 2 && op.by_group.is_exact;
  }
  HWY_INLINE V divided(V v) const {
    if (!op.divide) return v;
    return op.by_group.inverse != 0 ? hn::Mul(v, hn::Set(d, op.by_group.inverse))
                                    : hn::Div(v, hn::Set(d, op.by_group.value));
  }

 private:
  // Whether a value rounded to f32 may lie half-way between two of S, where rounding it again could
  // go wrong. Below f16's normal range half-way is elsewhere.
  HWY_INLINE bool may_be_tie(V v) const {
    constexpr bool half = std::is_same_v<S, Half>;
    const auto bits = hn::BitCast(d_bits, v);
    const auto low = hn::And(bits, hn::Set(d_bits, half ? 0x1fffu : 0xffffu));
    auto maybe = hn::RebindMask(d, hn::Eq(low, hn::Set(d_bits, half ? 0x1000u : 0x8000u)));
    if constexpr (half) maybe = hn::Or(maybe, hn::Lt(hn::Abs(v), hn::Set(d, C(0x1p-14))));
    return !hn::AllFalse(d, maybe);
  }

  // The product is exact; the sum is rounded to odd, so that rounding it to S rounds once.
  HWY_NOINLINE V fused_to_odd(V x, V other) const {
    const V product = hn::Mul(x, scale);
    if constexpr (std::is_same_v<S, BFloat16>) {
      // ... unless it is tiny.
      const auto tiny =
          hn::And(hn::Lt(hn::Abs(product), hn::Set(d, C(0x1p-130))), hn::Ne(x, hn::Zero(d)));
      if (!hn::AllFalse(d, tiny)) {
        alignas(64) C inputs[hn::MaxLanes(d)];
        alignas(64) C values[hn::MaxLanes(d)];
        hn::Store(x, d, inputs);
        hn::Store(other, d, values);
        for (std::size_t i = 0; i < hn::Lanes(d); ++i)
          values[i] = op.combine_own(ar::narrow<T>(inputs[i]), 0, values[i], false, true);
        return hn::Load(d, values);
      }
    }
    const V sum = hn::Add(product, other);
    const V addend = hn::Sub(sum, product);
    const V error = hn::Add(hn::Sub(product, hn::Sub(sum, addend)), hn::Sub(other, addend));
    const auto zero = hn::Zero(d);
    const auto inexact = hn::Or(hn::Lt(error, zero), hn::Gt(error, zero));
    const auto beyond = hn::And(inexact, hn::Xor(hn::Lt(error, zero), hn::Lt(sum, zero)));
    const auto one = hn::Set(d_bits, 1u);
    auto bits = hn::BitCast(d_bits, sum);
    bits = hn::Sub(bits, hn::IfThenElseZero(hn::RebindMask(d_bits, beyond), one));
    bits = hn::Or(bits, hn::IfThenElseZero(hn::RebindMask(d_bits, inexact), one));
    return rounded(hn::BitCast(d, bits));
  }
};

// Sums of T whose partial results are stored as S, both carried in the same type.
template <class T, class S>
requires(sizeof(T) > 1 && std::is_same_v<ar::Wide<T>, ar::Wide<S>> &&
         FloatLanes<T>::available) struct HopLanes<ar::FloatHop<T, S, false>> : FloatLanes<T> {
  using V = typename FloatLanes<T>::V;
  using C = ar::Wide<S>;
  using FloatLanes<T>::d;
  static constexpr bool fuses = has_fma;

  const SumVectors<T, S> sums;
  explicit HopLanes(const ar::FloatHop<T, S, false>& hop) : sums(hop) {}

  HWY_INLINE V load(const T* from) const {
    return this->each([&](auto x) VR_INLINE_LAMBDA { return sums.lifted(x); },
                      FloatLanes<T>::load(from));
  }
  HWY_INLINE V combine(V a, V b) const {
    return this->each([&](auto x, auto y) VR_INLINE_LAMBDA { return sums.combine(x, y); }, a, b);
  }
  HWY_INLINE V fused(const T* from, V other) const {
    return this->each([&](auto x, auto y) VR_INLINE_LAMBDA { return sums.fused(x, y); },
                      FloatLanes<T>::load(from), other);
  }
  // Fused by the element's position from its origin.
  HWY_INLINE V fused_at(const T* from, V other, std::int64_t position) const {
    const auto& table = FuseTable<C>::instance();
    const auto* masks = table.masks.data() + position % FuseTable<C>::period;
    const auto mask = hn::MaskFromVec(hn::BitCast(d, hn::LoadU(sums.d_bits, masks)));
    return hn::IfThenElse(mask, fused(from, other), combine(other, load(from)));
  }
  bool can_lower() const { return sums.can_divide(); }
  HWY_INLINE auto lower(V v) const {
    return this->narrow(this->each([&](auto x) VR_INLINE_LAMBDA { return sums.divided(x); }, v));
  }
};

#if HWY_TARGET != HWY_SCALAR
// Sums of bf16 that are rounded at every step: most values need no rounding at the ends.
template <>
struct HopLanes<ar::FloatHop<BFloat16, BFloat16, false>> : FloatLanes<BFloat16> {
  static constexpr bool fuses = has_fma;

  const SumVectors<BFloat16, BFloat16> sums;
  explicit HopLanes(const ar::FloatHop<BFloat16, BFloat16, false>& hop) : sums(hop) {}

  HWY_INLINE V load(const BFloat16* from) const {
    const V x = FloatLanes::load(from);
    if (!sums.op.premultiply) return x;
    const V scaled{hn::Mul(x.even, sums.scale), hn::Mul(x.odd, sums.scale)};
    // An exact product needs rounding among the subnormals only.
    if (sums.exact_scale) {
      const auto bits = hn::Or(hn::BitCast(d_bits, scaled.even), hn::BitCast(d_bits, scaled.odd));
      const auto rest = hn::And(bits, hn::Set(d_bits, 0xffffu));
      if (HWY_LIKELY(hn::AllTrue(d_bits, hn::Eq(rest, hn::Zero(d_bits))))) return scaled;
    }
    return {sums.rounded(scaled.even), sums.rounded(scaled.odd)};
  }
  HWY_INLINE V combine(V a, V b) const {
    return {sums.combine(a.even, b.even), sums.combine(a.odd, b.odd)};
  }
  HWY_INLINE V fused(const BFloat16* from, V other) const {
    const V x = FloatLanes::load(from);
    return {sums.fused(x.even, other.even), sums.fused(x.odd, other.odd)};
  }
  bool can_lower() const { return sums.can_divide(); }
  HWY_INLINE auto lower(V v) const {
    if (sums.op.divide) v = {sums.rounded(sums.divided(v.even)), sums.rounded(sums.divided(v.odd))};
    return pack(v);
  }
};
#endif

}  // namespace vranks::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
