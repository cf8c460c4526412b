// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// min_loc and max_loc: the smallest or largest element, and the lowest rank that holds it. Value
// and rank are one number, so that the order of combines means nothing.
#pragma once

#include <type_traits>

#include "kernels/arithmetic.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks::arithmetic {

// Elements of the width of Word, an unsigned integer; of which type they are is known at run time.
template <class Word>
struct RankHop {
  using Element = Word;
  using Key = std::make_signed_t<Word>;
  // The key that orders as elements do, flipped for max, and the row below it.
  using Carried = std::conditional_t<sizeof(Word) == 8, Int128, std::int64_t>;
  using Stored = Carried;
  static constexpr bool finds_rank = true;
  static constexpr Key lowest = static_cast<Key>(Word{1} << (sizeof(Word) * 8 - 1));
  static constexpr Key highest = static_cast<Key>(~lowest);

  bool is_float = false, is_unsigned = false;
  bool is_bool = false;                        // whose bytes count as 0 or 1
  bool saturate = false;                       // an infinite 8-bit float
  Word infinity = static_cast<Word>(highest);  // larger patterns are NaNs
  Word nan = 0;                                // the one pattern
  Key flip = 0;                                // 0 for min_loc, -1 for max_loc
  Key nan_key = lowest;

  static RankHop of(const Arithmetic& rules) {
    RankHop op;
    op.flip = rules.op == ReduceOp::max_loc ? Key{-1} : Key{0};
    op.nan_key = rules.nan == NanPolicy::propagate ? lowest : highest;
    visit(rules.dtype, [&]<class T>() {
      op.is_bool = std::is_same_v<T, Bool>;
      op.is_unsigned = std::is_unsigned_v<T> || op.is_bool;
      op.saturate = std::is_same_v<T, Float8E5M2> && rules.fp8 == Fp8Mode::saturate;
      if constexpr (arithmetic::is_float<T> && sizeof(T) == sizeof(Word)) {
        op.is_float = true;
        op.infinity = static_cast<Word>(MinMax<T>::infinity());
        const T pattern = one_nan<T>();
        __builtin_memcpy(&op.nan, &pattern, sizeof(Word));
      }
    });
    return op;
  }

  // Its own inverse. Negative floats order against their bits: flip all but the sign.
  VR_HOST_DEVICE Key ordered(Key bits) const {
    if (is_float) return static_cast<Key>(bits ^ ((bits >> (sizeof(Word) * 8 - 1)) & highest));
    return is_unsigned ? static_cast<Key>(bits ^ lowest) : bits;
  }
  VR_HOST_DEVICE Carried lift(Word x, std::int32_t row) const {
    Key bits = static_cast<Key>(is_bool ? x != 0 : x);
    if (saturate && static_cast<Word>(bits & highest) == infinity) --bits;
    const bool is_nan = is_float && static_cast<Word>(bits & highest) > infinity;
    const Key key = is_nan ? nan_key : static_cast<Key>(ordered(bits) ^ flip);
    return static_cast<Carried>(key) * (Carried{1} << 32) + row;
  }
  VR_HOST_DEVICE Carried load(Stored s) const { return s; }
  VR_HOST_DEVICE Stored store(Carried c) const { return c; }
  VR_HOST_DEVICE Carried combine(Carried a, Carried b) const { return b < a ? b : a; }
  VR_HOST_DEVICE Carried combine_own(Word x, std::int32_t row, Carried other, bool, bool) const {
    return combine(lift(x, row), other);
  }
  VR_HOST_DEVICE Word lower(Carried c) const {
    const Key key = static_cast<Key>(c >> 32);
    // No number has this key: it would be a NaN's bits.
    if (is_float && key == nan_key) return nan;
    return static_cast<Word>(ordered(static_cast<Key>(key ^ flip)));
  }
  // The rank that holds the result, where row first_row is rank 0.
  VR_HOST_DEVICE std::int32_t lower_rank(Carried c, std::int32_t first_row) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(c)) - first_row;
  }
};

}  // namespace vranks::arithmetic
